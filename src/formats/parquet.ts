/**
 * @file Writes and reads rows as Apache Parquet. Columns hold texts, numbers or lists of numbers. Objects and other lists are written as
 * JSON texts.
 */
import { parquetMetadataAsync, parquetReadObjects, parquetSchema, type SchemaElement } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { parserReason, shown } from '../base/input-error.ts';
import { mapJson } from '../base/json.ts';
import { ImportError } from '../exchange/import-error.ts';
import { LIMITS, megabytes } from '../exchange/file-source.ts';

type Row = Record<string, unknown>;

/** Maximum number of conversations in one file. */
export const MOST_ROWS = 200_000;

export function writeParquet(rows: readonly Row[]): ArrayBuffer {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const data = rows.map((row) => row[name] ?? null);
    return { name, data, elements: elementsOf(name, data) };
  });
  return parquetWriteBuffer({
    columnData: columns.map(({ name, data }) => ({ name, data })),
    schema: [{ name: 'root', num_children: names.length }, ...columns.flatMap(({ elements }) => elements)],
  });
}

/** The schema of a column, as parquet-format's `SchemaElement`s. It depends on the column's values. */
function elementsOf(name: string, data: readonly unknown[]): SchemaElement[] {
  const lists = data.every((value) => value === null || (Array.isArray(value) && value.every(isNumber)));
  const present = data.flatMap((value): unknown[] => (lists && Array.isArray(value) ? value : [value])).filter((value) => value !== null);
  const optional = { repetition_type: 'OPTIONAL' } as const;
  const text = { type: 'BYTE_ARRAY', converted_type: present.every((value) => typeof value === 'string') ? 'UTF8' : 'JSON' } as const;
  const numeric = present.length > 0 && present.every(isNumber);
  const whole = present.every((value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31);
  const value = numeric ? ({ type: whole && !REAL.has(name) ? 'INT32' : 'DOUBLE' } as const) : text;
  if (!lists || !numeric || !data.some(Array.isArray)) return [{ name, ...value, ...optional }];
  return [
    { name, ...optional, converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', ...value, ...optional },
  ];
}

const isNumber = (value: unknown) => value === null || typeof value === 'number';
/** Columns that are written as DOUBLE even if all their values in a file are whole numbers. */
const REAL = new Set(['reward', 'score', 'advantage', 'logprobs']);

/** Whether the bytes begin like a Parquet file. */
export const isParquet = (bytes: Uint8Array): boolean =>
  bytes.length > 4 && new TextDecoder('latin1').decode(bytes.subarray(0, 4)) === 'PAR1';

/** hyparquet has a decoder for Snappy. The one of hyparquet-compressors is WebAssembly, which some pages may not compile. */
const { SNAPPY: _, ...COMPRESSORS } = compressors;

/** Reads the rows. 64-bit integers become numbers if a number holds them exactly. @throws ImportError */
export async function readParquet(bytes: Uint8Array, file: string): Promise<Row[]> {
  const buffer = bytes.slice().buffer;
  try {
    const metadata = await parquetMetadataAsync(buffer);
    const rows = Number(metadata.num_rows);
    if (!(rows >= 0 && rows <= MOST_ROWS)) throw new ImportError(file, '', `it has ${shown(rows)} rows: expected at most ${MOST_ROWS}`);
    const unpacked = metadata.row_groups.reduce((sum, group) => sum + Number(group.total_byte_size), 0);
    if (!(unpacked >= 0 && unpacked <= LIMITS.totalBytes))
      throw new ImportError(file, '', `its columns are larger than ${megabytes(LIMITS.totalBytes)}`);
    const found: Row[] = Array.from({ length: rows }, () => ({}));
    // Reads one part at a time. If the library read several damaged parts at once, only the first error would be handled.
    for (const { element } of parquetSchema(metadata).children)
      for (let from = 0, group = 0; group < metadata.row_groups.length; group++) {
        const to = from + Number(metadata.row_groups[group]!.num_rows);
        const part = await parquetReadObjects({
          file: buffer,
          metadata,
          columns: [element.name],
          rowStart: from,
          rowEnd: to,
          compressors: COMPRESSORS,
        });
        for (const [i, row] of part.entries()) Object.assign(found[from + i]!, mapJson(row, plain));
        from = to;
      }
    return found;
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(file, '', `it is not a Parquet file that can be read: ${parserReason(error)}`);
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof Date) return value.toISOString();
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value;
}
