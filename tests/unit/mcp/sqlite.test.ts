/** The server over SQLite: it answers as Python's sqlite3, its folder is a copy of the database, and no statement blocks or differs. */
import { expect, test } from 'vitest';
import { connect } from '../../../src/mcp/index.ts';
import type { McpConnection, McpFiles } from '../../../src/mcp/types.ts';
import type { Json } from '../../../src/records/json.ts';
import bookings from '../../../src/domains/bookings/scenario.json';
import recorded from '../../reference/fixtures/sqlite-calls.json';

interface Recorded {
  tool: string;
  parameters: Record<string, Json>;
  answer?: Json;
  error?: string;
}

const open = (files: McpFiles) => connect({ kind: 'here', server: 'sqlite', files });
const run = (connection: McpConnection, tool: string, query: string, parameters?: Json) =>
  connection.call(tool, { query, ...(parameters !== undefined && { parameters }) });
const rowsOf = (text: string): unknown[] => text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));

const FILES = {
  'schema.sql': `CREATE TABLE boat (name TEXT PRIMARY KEY, seats INTEGER); -- the boats
    CREATE TABLE trip (id INTEGER PRIMARY KEY AUTOINCREMENT, boat TEXT REFERENCES boat (name), made TEXT DEFAULT CURRENT_TIMESTAMP);
    CREATE TRIGGER few AFTER INSERT ON trip BEGIN UPDATE boat SET seats = seats - 1 WHERE name = NEW.boat; END;
    -- the end`,
  'boat.jsonl': '{"name":"Heron","seats":4}\n{"name":"Otter","seats":2}\n',
  'trip.jsonl': '{"id":7,"boat":"Heron","made":"2025-05-05 10:00:00"}',
};

test('200 calls of the tools of bookings give the rows and errors of sqlite3 in Python', async () => {
  const { files, end, calls } = recorded as unknown as { files: McpFiles; end: Record<string, unknown[]>; calls: Recorded[] };
  const connection = await open(files);
  for (const [i, { tool, parameters, answer, error }] of calls.entries()) {
    const { server } = bookings.tools.find(({ name }) => name === tool)!;
    const seen = await run(connection, server!.tool, JSON.parse((server!.arguments as { query: string }).query) as string, parameters);
    const expected = typeof answer === 'number' ? { affected_rows: answer } : { rows: answer };
    expect([i, seen.error, seen.error ? seen.text : seen.structured]).toEqual([i, error !== undefined, error ?? expected]);
  }
  const texts = await connection.files();
  expect(Object.fromEntries(Object.keys(end).map((table) => [table, rowsOf(texts[`${table}.jsonl`]!)]))).toEqual(end);
  await connection.close();
});

test('a copy of the folder goes on as the database does, with its counters and triggers', async () => {
  const first = await open(FILES);
  await run(first, 'write_query', "INSERT INTO trip (boat) VALUES ('Heron')");
  await run(first, 'write_query', 'DELETE FROM trip WHERE id = 8');
  const copy = await open(await first.files());
  expect(await copy.files()).toEqual(await first.files());
  for (const connection of [first, copy]) {
    expect((await run(connection, 'write_query', "INSERT INTO trip (boat) VALUES ('Heron')")).structured).toEqual({ affected_rows: 1 });
    // Number 8 is not used again, and each of the two trips took a seat.
    expect(
      (await run(connection, 'read_query', 'SELECT id, seats, made FROM trip JOIN boat ON name = boat ORDER BY id')).structured,
    ).toEqual({
      rows: [
        { id: 7, seats: 2, made: '2025-05-05 10:00:00' },
        { id: 9, seats: 2, made: '2026-01-01 00:00:00' },
      ],
    });
    await connection.close();
  }
});

const joined = (n: number) => Array.from({ length: n }, (_, i) => `boat b${i}`).join(', ');
test.each([
  ['read_query', 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t', /recursive/],
  ['read_query', 'WITH t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t', /recursive/],
  ['read_query', `SELECT count(*) FROM ${joined(8)}`, /8 loops over rows: expected at most 3/],
  ['write_query', `UPDATE boat SET seats = (SELECT count(*) FROM ${joined(8)})`, /loops/],
  ['read_query', 'SELECT zeroblob(900000000)', /function zeroblob/],
  ['read_query', "SELECT printf('%.*c', 900000000, 'x')", /function printf/],
  ['read_query', `SELECT ${Array.from({ length: 12 }, () => 'name').join(' || ')} FROM boat`, /joins more than 10 texts/],
  ['read_query', 'SELECT random()', /function random/],
  ['read_query', "SELECT datetime('now')", /function datetime/],
  ['read_query', 'SELECT name FROM boat; DELETE FROM boat', /2 statements/],
  ['read_query', '-- nothing', /0 statements/],
  ['read_query', 'WITH x AS (SELECT 1) DELETE FROM boat', /^attempt to write a readonly database$/],
  ['read_query', 'DELETE FROM boat', /begins with DELETE: expected SELECT/],
  ['write_query', 'DROP TABLE trip', /begins with DROP/],
  ['write_query', 'PRAGMA foreign_keys = 0', /begins with PRAGMA/],
  ['write_query', "ATTACH 'x' AS y", /begins with ATTACH/],
  ['read_query', 'SELEC 1', /^near "SELEC": syntax error$/],
  ['read_query', 'SELECT * FROM boats', /^no such table: boats$/],
  ['read_query', `SELECT '${'x'.repeat(3000)}'`, /characters: expected at most 2000/],
])('%s refuses %s, and changes nothing', async (tool, query, reason) => {
  const connection = await open(FILES);
  const start = performance.now();
  const { error, text } = await run(connection, tool, query);
  expect(performance.now() - start).toBeLessThan(2000);
  expect([error, text]).toEqual([true, expect.stringMatching(reason)]);
  expect(await connection.files()).toEqual(FILES);
  expect((await run(connection, 'read_query', 'SELECT count(*) AS n FROM boat, trip')).structured).toEqual({ rows: [{ n: 2 }] });
  await connection.close();
});

test('each name of a query needs a value, and each value a name', async () => {
  const connection = await open(FILES);
  const query = "SELECT seats, ':no' AS word FROM boat WHERE name = :name";
  const read = async (parameters?: Json) => (await run(connection, 'read_query', query, parameters)).text;
  expect(await read({ name: 'Otter' })).toBe('[{"seats":2,"word":":no"}]');
  expect(await read()).toBe('parameters: has no name: expected a value for each name of the query');
  expect(await read({ name: 'Otter', day: 1 })).toBe('parameters: has day: expected only names that the query has with a colon');
  expect(await read({ name: ['Otter'] })).toBe('parameters.name: expected a text, a number, a boolean or null');
  expect(await read(3)).toBe('parameters: expected an object of values by name');
  expect((await connection.call('describe_table', { table_name: 'trips' })).text).toBe('no such table: trips');
  expect((await connection.call('list_tables', {})).text).toBe('[{"name":"boat"},{"name":"trip"},{"name":"sqlite_sequence"}]');
  await connection.close();
});

test.each([
  [{ 'schema.sql': 'DROP TABLE boat;' }, 'no such table: boat'],
  [{ 'schema.sql': 'SELECT 1;' }, 'schema.sql: has "SELECT 1;": expected only CREATE TABLE, INDEX and TRIGGER'],
  [{ ...FILES, 'boats.jsonl': '{}' }, 'boats.jsonl: expected schema.sql, or TABLE.jsonl of one of the tables boat, trip'],
  [{ ...FILES, 'boat.jsonl': '{"name":"Heron"}\n{"name":[1]}' }, 'boat.jsonl, line 2, name: expected a text'],
  [{ ...FILES, 'boat.jsonl': '{"name":"Heron"' }, 'boat.jsonl, line 1: expected an object of columns'],
  [{ ...FILES, 'boat.jsonl': '{"name":"Heron","wings":2}' }, 'boat.jsonl, line 1: table boat has no column named wings'],
  [{ ...FILES, 'trip.jsonl': '{"id":1,"boat":"Swan"}' }, 'trip.jsonl: a row refers to no row of boat'],
])('%# a folder that is no database is refused', async (files, reason) => {
  await expect(open(files as McpFiles)).rejects.toThrow(reason);
});
