/** @file The state of a server as rows: the files from which it starts, and the rows that are read from it. */
import { InputError, shown } from '../../base/input-error.ts';
import { equalJson, isObject } from '../../base/json.ts';
import { World, type WorldTables } from '../../environments/overlay.ts';
import type { McpConnection, McpFiles } from '../../mcp/types.ts';
import type { Json } from '../../records/json.ts';
import type { HostState, ScenarioHost, ScenarioTable } from '../../records/scenario.ts';
import type { RowChange } from '../../records/task.ts';
import type { Scope } from '../cel.ts';
import { type Native, toNative } from '../native.ts';
import type { ReadScenario } from '../read.ts';
import { type Row, tablesOf } from '../state.ts';

/** A state may be larger than other values, because the agent adds to it. */
const STATE_SCALE = 50;

/** A scenario that has a host. */
export type Hosted = ReadScenario & { scenario: { host: ScenarioHost } };

export const isHosted = (own: ReadScenario): own is Hosted => own.scenario.host !== undefined;

/** The files of the start that has the rows of the world. @throws InputError that names the file and the field */
export function seedOf({ scenario, cel, file: name }: Hosted, world: World): McpFiles {
  const tables = tablesOf(scenario, world);
  const written: Record<string, string> = {};
  for (const [i, file] of (scenario.host.files ?? []).entries()) {
    const at = `host.files[${i}]`;
    const fail = (field: string, value: Json, expected: string): never => {
      throw new InputError(`${name}: ${at}.${field}: is ${shown(value)}: expected ${expected}`);
    };
    const list = file.each === undefined ? [null] : cel.native(file.each, { tables }, `${at}.each`, STATE_SCALE);
    if (!Array.isArray(list)) return fail('each', file.each!, 'a list');
    for (const it of list as readonly Native[]) {
      const scope: Scope = file.each === undefined ? { tables } : { tables, it };
      const path = cel.json(file.path, scope, `${at}.path`);
      if (typeof path !== 'string' || Object.hasOwn(written, path)) return fail('path', path, 'a path that no other file has');
      const content = 'text' in file ? cel.json(file.text, scope, `${at}.text`) : cel.json(file.lines, scope, `${at}.lines`, STATE_SCALE);
      if ('text' in file && typeof content !== 'string') return fail('text', content, 'a text');
      if ('lines' in file && !Array.isArray(content)) return fail('lines', content, 'a list');
      written[path] = Array.isArray(content) ? content.map((line) => JSON.stringify(line)).join('\n') : (content as string);
    }
  }
  return written;
}

/** Reads the rows of a server. While its files stay the same, the rows do too. */
export class RowReader {
  #files: McpFiles | null = null;
  #rows: World | null = null;

  constructor(
    private readonly own: Hosted,
    private readonly connection: McpConnection,
  ) {}

  /** @throws McpError if the server fails @throws InputError if its state does not have the form that the scenario describes */
  async read(): Promise<World> {
    const { state, rows } = this.own.scenario.host;
    const states = Object.entries(state);
    const hasFiles = states.some(([, one]) => !('call' in one));
    const files = hasFiles ? await this.connection.files() : {};
    const onlyFiles = states.every(([, one]) => !('call' in one));
    if (this.#rows && onlyFiles && equalJson(files, this.#files)) return this.#rows;
    const scope: Record<string, Native> = {};
    for (const [name, one] of states) scope[name] = toNative(await this.#value(name, one, files));
    const tables: WorldTables = new Map();
    for (const [table, cel] of Object.entries(rows))
      tables.set(table, this.#table(table, this.own.cel.json(cel, scope, `host.rows.${table}`, STATE_SCALE)));
    this.#files = files;
    return (this.#rows = new World('', tables));
  }

  async #value(name: string, state: HostState, files: McpFiles): Promise<Json> {
    if ('files' in state) return Object.entries(files).map(([path, text]) => ({ path, text }));
    if ('json' in state) return this.#parsed(name, files[state.json] ?? 'null');
    if ('jsonl' in state)
      return (files[state.jsonl] ?? '')
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => this.#parsed(name, line));
    const { text, structured, error } = await this.connection.call(state.call, state.arguments);
    if (error)
      throw new InputError(`${this.own.file}: host.state.${name}: ${state.call} answers “${text.slice(0, 200)}”: expected success`);
    if (structured !== undefined) return structured;
    return /^\s*[[{]/.test(text) ? this.#parsed(name, text) : text;
  }

  #parsed(name: string, text: string): Json {
    try {
      return JSON.parse(text) as Json;
    } catch {
      throw new InputError(`${this.own.file}: host.state.${name}: is ${shown(text.slice(0, 200))}: expected JSON`);
    }
  }

  /** The rows by their keys. A second row with a key gets a number, so that no row is lost. */
  #table(table: string, list: Json): Map<string, Json> {
    const { key, fields } = this.own.scenario.tables[table]!;
    const fail = (value: Json, expected: string): never => {
      throw new InputError(`${this.own.file}: host.rows.${table}: has ${shown(value)}: expected ${expected}`);
    };
    if (!Array.isArray(list)) return fail(list, 'a list of maps');
    const rows = new Map<string, Json>();
    for (const row of list) {
      const own = isObject(row) ? row[key] : undefined;
      if (!isObject(row) || typeof own !== 'string') return fail(row, `maps with a text ${key}`);
      let id = own;
      for (let number = 2; rows.has(id); number++) id = `${own} (${number})`;
      rows.set(id, sortedRow(fields, row as Row));
    }
    return rows;
  }
}

/** The row with its fields only, and with its unordered lists sorted. */
const sortedRow = (fields: ScenarioTable['fields'], row: Row): Json =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([field, { unordered, unread }]) => {
      const value = row[field] ?? null;
      return unread ? [] : [[field, unordered && Array.isArray(value) ? [...value].sort() : value]];
    }),
  );

/** The rows as a reader gives them. */
export function asRead({ scenario }: Hosted, { tables }: World): World {
  const sorted = [...tables].map(
    ([table, rows]) =>
      [table, new Map([...rows].map(([key, row]) => [key, sortedRow(scenario.tables[table]!.fields, row as Row)]))] as const,
  );
  return new World('', new Map(sorted));
}

/** The rows of `after` that differ from those of `before`, sorted by table and key. */
export function changesBetween(before: World, after: World): RowChange[] {
  const changes: RowChange[] = [];
  for (const table of [...after.tables.keys()].sort())
    for (const key of [...new Set([...before.keys(table), ...after.keys(table)])].sort()) {
      const [old, now] = [before.get(table, key) ?? null, after.get(table, key) ?? null];
      if (!equalJson(old, now)) changes.push({ table, key, before: old, after: now, call: 0 });
    }
  return changes;
}
