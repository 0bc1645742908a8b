/**
 * @file Stores imported benchmarks in the browser. An import is written in one transaction, so either all of it is stored or
 * nothing. A second import of the same data stores nothing new.
 */
import type { EntityTable, Table } from 'dexie';
import type { Benchmark, BenchmarkTask } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { ImportedBenchmark } from '../imported-benchmark.ts';
import { benchmarkDomain } from '../named.ts';
import { sha256 } from '../../base/sha256.ts';
import { storageError } from '../../base/storage-error.ts';
import { beginningWith } from '../../base/key-range.ts';
import { VersionedDatabase } from '../../base/versioned-database.ts';

export interface StoredBenchmark {
  /** `tau2/retail/<digest>`. The same data always has the same id. */
  id: string;
  benchmark: Benchmark;
  domain: string;
  importedAt: number;
  tasks: number;
  /** The number of records in each table. */
  rows: Record<string, number>;
}

interface BenchmarkRow extends StoredBenchmark {
  version: number;
  content: { tasks: BenchmarkTask[]; splits: Record<string, string[]>; absent: Record<string, number>; policy: string };
  layout: Record<Side, Shape[] | null>;
}

type Side = 'database' | 'userDatabase';
/** Describes a top-level field of a database. It is a table as an object, a table as a list (of rows or of pairs), or any other value. */
interface Shape {
  name: string;
  kind: 'object' | 'list' | 'value';
}
interface ChunkRow {
  benchmark: string;
  side: Side;
  table: number;
  chunk: number;
  rows: Json[];
}

/** The version of the stored format. Imports of another version are ignored. */
const VERSION = 1;
/** The number of records in one stored object. Storing a million rows one by one would take minutes. */
const CHUNK = 2000;

export class BenchmarkDatabase extends VersionedDatabase {
  declare benchmarks: EntityTable<BenchmarkRow, 'id'>;
  declare chunks: Table<ChunkRow, [string, Side, number, number]>;

  constructor(name = 'mua-benchmarks') {
    super(name, 1, { benchmarks: 'id, [benchmark+domain]', chunks: '[benchmark+side+table+chunk]' });
  }

  /**
   * Stores an import, if the same data is not stored yet.
   * @param onProgress called with the number of records written so far
   * @throws error that says what to do if the browser's storage is full; in this case nothing is stored
   */
  async store(imported: ImportedBenchmark, onProgress?: (done: number, total: number, label: string) => void): Promise<StoredBenchmark> {
    const { benchmark, domain, tasks, splits, absent, policy } = imported;
    const sides = (['database', 'userDatabase'] as const).map(
      (side) => [side, imported[side] === undefined ? null : takeApart(imported[side])] as const,
    );
    const id = `${benchmark}/${domain}/${digest(imported)}`;
    const rows = Object.fromEntries(
      (sides[0]![1] ?? []).filter(({ kind }) => kind !== 'value').map(({ name, records }) => [name, records.length]),
    );
    const summary: StoredBenchmark = { id, benchmark, domain, importedAt: Date.now(), tasks: tasks.length, rows };
    const total = sides.reduce((sum, [, tables]) => sum + (tables ?? []).reduce((records, table) => records + table.records.length, 0), 0);
    try {
      return await this.transaction('rw', this.benchmarks, this.chunks, async () => {
        const known = await this.benchmarks.get(id);
        if (known?.version === VERSION) return summaryOf(known);
        await this.chunksOf(id).delete();
        let done = 0;
        for (const [side, tables] of sides) {
          for (const [table, { records }] of (tables ?? []).entries()) {
            for (let at = 0; at < records.length; at += CHUNK) {
              await this.chunks.add({ benchmark: id, side, table, chunk: at / CHUNK, rows: records.slice(at, at + CHUNK) });
              done = Math.min(total, done + CHUNK);
              onProgress?.(done, total, 'storing');
            }
          }
        }
        const layout = Object.fromEntries(
          sides.map(([side, tables]) => [side, tables?.map(({ name, kind }) => ({ name, kind })) ?? null]),
        ) as BenchmarkRow['layout'];
        await this.benchmarks.put({ ...summary, version: VERSION, content: { tasks, splits, absent, policy }, layout });
        return summary;
      });
    } catch (cause) {
      throw storageError(cause, 'this import', 'imports and runs');
    }
  }

  /** All stored imports. The newest comes first. */
  async list(): Promise<StoredBenchmark[]> {
    const rows = await this.benchmarks.filter(({ version }) => version === VERSION).toArray();
    return rows.sort((a, b) => b.importedAt - a.importedAt).map(summaryOf);
  }

  /** A stored import. @throws if no import has this id */
  async read(id: string): Promise<ImportedBenchmark> {
    const [row, chunks] = await this.transaction(
      'r',
      this.benchmarks,
      this.chunks,
      async () => [await this.benchmarks.get(id), await this.chunksOf(id).toArray()] as const,
    );
    if (row?.version !== VERSION) throw new Error(`import: '${id}' is not in this browser's storage; import it again`);
    const { benchmark, domain, content, layout } = row;
    const sides = Object.fromEntries(
      (['database', 'userDatabase'] as const).flatMap((side) =>
        layout[side]
          ? [
              [
                side,
                putTogether(
                  layout[side],
                  chunks.filter((chunk) => chunk.side === side),
                ),
              ],
            ]
          : [],
      ),
    );
    const { database, userDatabase } = sides as { database: Json; userDatabase?: Json };
    return {
      benchmark,
      domain,
      database,
      ...(userDatabase !== undefined && { userDatabase }),
      tables: benchmarkDomain(benchmark, domain).load(database, userDatabase),
      ...content,
    };
  }

  async remove(id: string): Promise<void> {
    await this.transaction('rw', this.benchmarks, this.chunks, async () => {
      await this.benchmarks.delete(id);
      await this.chunksOf(id).delete();
    });
  }

  private chunksOf(id: string) {
    return beginningWith(this.chunks, id);
  }
}

const summaryOf = ({ id, benchmark, domain, importedAt, tasks, rows }: BenchmarkRow): StoredBenchmark => ({
  id,
  benchmark,
  domain,
  importedAt,
  tasks,
  rows,
});

/** A digest of the content. Each part is hashed separately, because a single text of all parts could be too long for JavaScript. */
function digest({ database, userDatabase, tasks, splits, policy }: ImportedBenchmark): string {
  const texts = [
    ...Object.entries(database as Record<string, Json>).map(([name, table]) => sha256(name + JSON.stringify(table))),
    ...[userDatabase ?? null, tasks, splits, policy].map((part) => sha256(JSON.stringify(part))),
  ];
  return sha256(texts.join('\n')).slice(0, 16);
}

function takeApart(database: Json): (Shape & { records: Json[] })[] {
  return Object.entries(database as Record<string, Json>).map(([name, value]) => {
    if (Array.isArray(value)) return { name, kind: 'list', records: value };
    if (value !== null && typeof value === 'object') return { name, kind: 'object', records: Object.entries(value) };
    return { name, kind: 'value', records: [value] };
  });
}

function putTogether(shapes: readonly Shape[], chunks: readonly ChunkRow[]): Json {
  return Object.fromEntries(
    shapes.map(({ name, kind }, table) => {
      const records = chunks
        .filter((chunk) => chunk.table === table)
        .sort((a, b) => a.chunk - b.chunk)
        .flatMap(({ rows }) => rows);
      return [name, kind === 'object' ? Object.fromEntries(records as [string, Json][]) : kind === 'list' ? records : records[0]!];
    }),
  );
}
