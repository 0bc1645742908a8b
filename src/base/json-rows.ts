/** @file Reads the rows of JSON Lines or of one JSON list. A row that cannot be read does not end the file. */
import { parserReason } from './input-error.ts';
import { endOfJson, parseTolerant } from './tolerant-json.ts';

export interface JsonRow {
  /** The place in the file, such as `line 3` or `entry 3`. */
  where: string;
  /** The text of the row, or undefined if the row is an entry of a list. */
  text?: string;
  value?: unknown;
  /** Why the row is not JSON. Its `value` is undefined. */
  problem?: string;
}

export interface JsonFile {
  rows: JsonRow[];
  /** The value of the file if it is one JSON document, and not several lines. */
  whole?: unknown;
}

/** The first of the reasons why rows cannot be read. */
export const firstReasons = (reasons: readonly string[]): string => `${reasons.slice(0, 3).join('; ')}${reasons.length > 3 ? '; …' : ''}`;

/** Collects notes about rows. Rows with the same note share a line. */
export class RowNotes {
  /** Line → the number of its rows, and the place of the first. */
  readonly lines = new Map<string, { count: number; first: string }>();

  add(line: string, where: string): void {
    const { count, first } = this.lines.get(line) ?? { count: 0, first: where };
    this.lines.set(line, { count: count + 1, first });
  }
}

/**
 * Reads a file: one JSON document in a row or in many, or one in each line. Lines may end like those of Windows, and an interrupted file may
 * end within a character. Integers that a number cannot hold become bigints.
 */
export function readJsonFile(data: Uint8Array | string): JsonFile {
  const lines = linesOf(data);
  const [only] = lines;
  if (only && lines.length === 1) {
    const row = readLine(only);
    return row.problem === undefined ? { rows: rowsOf(row.value), whole: row.value } : { rows: interrupted(only.text ?? '') ?? [row] };
  }
  // The first line of JSON Lines is complete. The first line of an indented document is not.
  if (only && readLine(only).problem !== undefined) {
    const text = lines.map((line) => line.text ?? '').join('\n');
    const whole = readLine({ where: 'line 1', text });
    if (whole.problem === undefined) return { rows: rowsOf(whole.value), whole: whole.value };
    const entries = interrupted(text);
    if (entries) return { rows: entries };
  }
  return { rows: lines.map(readLine) };
}

const rowsOf = (whole: unknown): JsonRow[] =>
  Array.isArray(whole) ? whole.map((value: unknown, i) => ({ where: `entry ${i + 1}`, value })) : [{ where: 'line 1', value: whole }];

/** The lines that are not empty. A line without a text is not UTF-8. */
function linesOf(data: Uint8Array | string): JsonRow[] {
  const text = typeof data === 'string' ? data : decoded(data);
  if (text !== undefined)
    return text
      .replace(/^\uFEFF/, '')
      .split(/\r\n|\n|\r/)
      .map((line, i) => ({ where: `line ${i + 1}`, text: line }))
      .filter((line) => line.text.trim() !== '');
  const bytes = data as Uint8Array;
  const lines: JsonRow[] = [];
  for (let at = 0, number = 1; at < bytes.length; number++) {
    const end = bytes.indexOf(0x0a, at);
    const line = decoded(bytes.subarray(at, end < 0 ? bytes.length : end));
    const where = `line ${number}`;
    if (line === undefined) lines.push({ where, problem: 'it is not UTF-8' });
    else if (line.trim() !== '') lines.push({ where, text: line });
    at = end < 0 ? bytes.length : end + 1;
  }
  return lines;
}

/** PowerShell writes UTF-16 with a mark at its start. */
function decoded(bytes: Uint8Array): string | undefined {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function readLine(line: JsonRow): JsonRow {
  if (line.text === undefined) return line;
  try {
    return { ...line, value: parseTolerant(line.text) };
  } catch (error) {
    return { ...line, problem: `it is not JSON: ${parserReason(error)}` };
  }
}

/** The entries of a list with a damaged entry or without an end. Undefined if the text is no such list. */
function interrupted(text: string): JsonRow[] | undefined {
  const start = text.indexOf('[') + 1;
  if (start === 0 || text.slice(0, start).trim() !== '[') return undefined;
  const rows: JsonRow[] = [];
  for (let at = start; ;) {
    while (/[\s,]/.test(text[at] ?? '')) at++;
    if (text[at] !== '{') return rows.length > 0 ? rows : undefined;
    const end = endOfJson(text, at);
    rows.push(readLine({ where: `entry ${rows.length + 1}`, text: text.slice(at, end) }));
    if (end === undefined) return rows;
    at = end;
  }
}
