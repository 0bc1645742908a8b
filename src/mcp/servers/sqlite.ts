/**
 * @file An MCP server whose state is a database of SQLite, in the package sql.js. It has the tools of the MCP project's former server for
 * SQLite, and the errors are SQLite's own. The folder holds the database as texts: `schema.sql`, and for each table its rows as
 * `TABLE.jsonl`. The server begins with these files and writes them after each change, so a copy of the folder is a copy of the database.
 */
import { Server, type Tool, type Transport } from '@modelcontextprotocol/server';
import initSqlJs, { type Database, type Value } from 'sql.js';
import { isObject } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import { inBrowser } from '../errors.ts';
import type { MemoryFiles } from './memory-files.ts';
import { checkStatement, READS, type Row, rowsOf, WRITES } from './sqlite-guard.ts';

const VERSION = '1.0.0';
const SCHEMA = 'schema.sql';
const CLOCK = { current_timestamp: '2026-01-01 00:00:00', current_date: '2026-01-01', current_time: '00:00:00' };
const MOST_ROWS = 1000;
/** What a schema may contain. Rows come from the other files. */
const DEFINITION = /^(?:--[^\n]*\n|\s)*create\s+(?:unique\s+)?(table|index|trigger)\b/i;

const QUERY = {
  type: 'object' as const,
  properties: {
    query: { type: 'string' },
    parameters: { type: 'object', description: 'Values by name: {"day": "Monday"} stands for :day in the query.' },
  },
  required: ['query'],
};
const TOOLS: Tool[] = [
  { name: 'read_query', description: 'Runs a SELECT and returns its rows.', inputSchema: QUERY, annotations: { readOnlyHint: true } },
  { name: 'write_query', description: 'Runs an INSERT, UPDATE or DELETE.', inputSchema: QUERY },
  {
    name: 'list_tables',
    description: 'Lists the tables.',
    inputSchema: { type: 'object' as const, properties: {} },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'describe_table',
    description: 'Shows the columns of a table.',
    inputSchema: { type: 'object' as const, properties: { table_name: { type: 'string' } }, required: ['table_name'] },
    annotations: { readOnlyHint: true },
  },
];

/** Starts a new server at the end of a transport. @param folder the path of its folder in `files` @throws Error of SQLite about the files */
export async function startSqlite(transport: Transport, files: MemoryFiles, folder: string): Promise<void> {
  const { Database } = await loadSqlite();
  const database = new Database();
  // A clock that stands still: two episodes answer alike.
  for (const [name, time] of Object.entries(CLOCK)) database.create_function(name, () => time);
  try {
    open(database, files.texts(folder));
  } catch (error) {
    database.close();
    throw error;
  }
  const server = new Server({ name: 'sqlite', version: VERSION }, { capabilities: { tools: {} } });
  server.onclose = () => database.close();
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }) => {
    try {
      const value = call(database, name, args as Readonly<Record<string, Json>>);
      if (name === 'write_query')
        for (const [path, text] of Object.entries(textsOf(database))) await files.writeFile(`${folder}/${path}`, text);
      const content = 'rows' in value ? value.rows : value;
      return { content: [{ type: 'text' as const, text: JSON.stringify(content) }], structuredContent: value };
    } catch (error) {
      return { content: [{ type: 'text' as const, text: (error as Error).message }], isError: true };
    }
  });
  await server.connect(transport);
}

let loading: ReturnType<typeof initSqlJs> | undefined;

/** One copy of the engine serves all databases. */
function loadSqlite() {
  loading ??= start();
  loading.catch(() => (loading = undefined));
  return loading;
}

async function start() {
  if (!inBrowser()) return initSqlJs();
  const { default: wasm } = await import('sql.js/dist/sql-wasm-browser.wasm?url');
  return initSqlJs({ locateFile: () => wasm });
}

function call(database: Database, name: string, args: Readonly<Record<string, Json>>): { rows: Row[] } | { affected_rows: number } {
  const text = (field: string) => {
    const value = args[field];
    if (typeof value !== 'string') throw new Error(`${field}: expected a text`);
    return value;
  };
  switch (name) {
    case 'read_query': {
      const query = text('query');
      checkStatement(database, query, READS);
      const values = parametersOf(query, args.parameters);
      // A SELECT writes nothing, but WITH may begin a write.
      database.run('PRAGMA query_only = 1');
      try {
        return { rows: rowsOf(database, query, values, MOST_ROWS) };
      } finally {
        database.run('PRAGMA query_only = 0');
      }
    }
    case 'write_query': {
      const query = text('query');
      checkStatement(database, query, WRITES);
      database.run(query, parametersOf(query, args.parameters));
      return { affected_rows: database.getRowsModified() };
    }
    case 'list_tables':
      return { rows: tablesOf(database).map((table) => ({ name: table })) };
    case 'describe_table': {
      const table = text('table_name');
      if (!tablesOf(database).includes(table)) throw new Error(`no such table: ${table}`);
      return { rows: rowsOf(database, `SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(:table)`, { ':table': table }) };
    }
    default:
      throw new Error(`Unknown tool: ${name}`);
  }
}

/** The tables, that of SQLite's counters too. */
const tablesOf = (database: Database): string[] =>
  rowsOf(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid").map(({ name }) => String(name));

/** Makes the database of the files. Triggers come last, because the rows are already as triggers left them. */
function open(database: Database, files: Readonly<Record<string, string>>): void {
  const triggers: string[] = [];
  // A statement may need the tables of those before it.
  for (const statement of database.iterateStatements(files[SCHEMA] ?? '')) {
    const definition = statement.getSQL().trim();
    const kind = DEFINITION.exec(definition)?.[1]?.toLowerCase();
    if (kind === undefined || (kind === 'trigger' && /\bwith\b/i.test(definition)))
      throw new Error(
        `${SCHEMA}: has ${JSON.stringify(definition.slice(0, 80))}: expected only CREATE TABLE, INDEX and TRIGGER, without WITH`,
      );
    if (kind === 'trigger') triggers.push(definition);
    else statement.step();
  }
  for (const [path, text] of Object.entries(files)) {
    if (path === SCHEMA) continue;
    const table = path.replace(/\.jsonl$/, '');
    if (!path.endsWith('.jsonl') || !tablesOf(database).includes(table))
      throw new Error(`${path}: expected ${SCHEMA}, or TABLE.jsonl of one of the tables ${tablesOf(database).join(', ')}`);
    database.run(`DELETE FROM ${quoted(table)}`);
    for (const [i, line] of text.split('\n').entries()) if (line.trim() !== '') insert(database, table, line, `${path}, line ${i + 1}`);
  }
  for (const trigger of triggers) database.run(trigger);
  const [bad] = rowsOf(database, 'PRAGMA foreign_key_check');
  if (bad) throw new Error(`${bad.table}.jsonl: a row refers to no row of ${bad.parent}`);
  database.run('PRAGMA foreign_keys = 1');
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function insert(database: Database, table: string, line: string, place: string): void {
  const row = objectOf(line);
  if (!row) throw new Error(`${place}: expected an object of columns`);
  const names = Object.keys(row);
  const values = Object.fromEntries(names.map((name, i) => [`:v${i}`, bound(row[name]!, `${place}, ${name}`)]));
  try {
    database.run(`INSERT INTO ${quoted(table)} (${names.map(quoted).join(', ')}) VALUES (${Object.keys(values).join(', ')})`, values);
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`);
  }
}

function objectOf(line: string): Record<string, Json> | null {
  try {
    const value = JSON.parse(line) as Json;
    return isObject(value) ? (value as Record<string, Json>) : null;
  } catch {
    return null;
  }
}

/** The files of the database as it is. */
function textsOf(database: Database): Record<string, string> {
  const definitions = rowsOf(database, 'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid').map(({ sql }) => String(sql));
  const own = definitions.filter((sql) => !/^CREATE TABLE sqlite_/.test(sql));
  const tables = tablesOf(database).map((table): [string, string] => [
    `${table}.jsonl`,
    rowsOf(database, `SELECT * FROM ${quoted(table)}`)
      .map((row) => JSON.stringify(row))
      .join('\n'),
  ]);
  return { [SCHEMA]: own.map((sql) => `${sql};\n`).join(''), ...Object.fromEntries(tables) };
}

/** The values of a query's parameters, with SQLite's names. @throws Error if a parameter has no value, or a value no parameter */
function parametersOf(query: string, given: Json | undefined): Record<string, Value> {
  if (given !== undefined && !isObject(given)) throw new Error('parameters: expected an object of values by name');
  // Texts in quotes may have colons too.
  const names = new Set(query.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, '').match(/:[a-z_]\w*/gi));
  const values = Object.fromEntries(Object.entries(given ?? {}).map(([name, value]) => [`:${name}`, bound(value, `parameters.${name}`)]));
  const missing = [...names].find((name) => !Object.hasOwn(values, name));
  if (missing !== undefined) throw new Error(`parameters: has no ${missing.slice(1)}: expected a value for each name of the query`);
  const unknown = Object.keys(values).find((name) => !names.has(name));
  if (unknown !== undefined) throw new Error(`parameters: has ${unknown.slice(1)}: expected only names that the query has with a colon`);
  return values;
}

function bound(value: Json, place: string): Value {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'object' && value !== null) throw new Error(`${place}: expected a text, a number, a boolean or null`);
  return value;
}
