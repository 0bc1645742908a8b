/**
 * @file Keeps statements of agents small and repeatable. SQLite here has no limit of time, so a long statement would block the tab or the
 * process. The guard reads the program that SQLite makes of a statement, not the statement's text.
 */
import type { Database, Value } from 'sql.js';

export type Row = Record<string, Value>;

/** Loops over rows in one program. Tables have few rows, so a join of three takes at most seconds. */
const MOST_LOOPS = 3;
const MOST_TEXT = 2000;
const MOST_STEPS = 1000;
/** Joined texts double with each nested join. */
const MOST_JOINED = 10;
/** Functions with small results that are always the same. Other functions read a clock, are random, or can make long values. */
const FUNCTIONS = new Set(
  'abs avg coalesce count current_date current_time current_timestamp glob hex ifnull iif instr length like lower ltrim max min nullif round rtrim sign substr substring sum total trim typeof upper'.split(
    ' ',
  ),
);
const FIRST_WORD = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*([a-z]+)/i;

/** The kinds of statements, by their first words. */
export const READS = ['SELECT', 'WITH', 'VALUES'];
export const WRITES = ['INSERT', 'UPDATE', 'DELETE', 'REPLACE'];

/** @throws Error that says what the statement may not do, or SQLite's own error */
export function checkStatement(database: Database, query: string, kinds: readonly string[]): void {
  if (query.length > MOST_TEXT) throw new Error(`the statement has ${query.length} characters: expected at most ${MOST_TEXT}`);
  // They are prepared, but do not run.
  const { length } = Array.from(database.iterateStatements(query));
  if (length !== 1) throw new Error(`the text has ${length} statements: expected one`);
  const word = FIRST_WORD.exec(query)?.[1]?.toUpperCase() ?? '';
  if (!kinds.includes(word)) throw new Error(`the statement begins with ${word}: expected ${kinds.join(', ')}`);
  checkProgram(database, query);
}

/** @throws Error that says what the program may not do */
function checkProgram(database: Database, query: string): void {
  const program = rowsOf(database, `EXPLAIN ${query}`);
  const named = (pattern: RegExp) => program.filter(({ opcode }) => pattern.test(String(opcode)));
  const loops = named(/^(?:Next|Prev|SorterNext|VNext)$/).length;
  if (loops > MOST_LOOPS) throw new Error(`the statement has ${loops} loops over rows: expected at most ${MOST_LOOPS}`);
  if (program.length > MOST_STEPS) throw new Error(`the statement has ${program.length} steps: expected at most ${MOST_STEPS}`);
  if (rowsOf(database, `EXPLAIN QUERY PLAN ${query}`).some(({ detail }) => /RECURSIVE/.test(String(detail))))
    throw new Error('the statement is recursive: expected one that surely ends');
  if (named(/^Concat$/).length > MOST_JOINED) throw new Error(`the statement joins more than ${MOST_JOINED} texts`);
  for (const { p4 } of named(/^(?:Function|PureFunc|AggStep)$/)) {
    const name = String(p4).replace(/\(.*$/, '');
    if (!FUNCTIONS.has(name)) throw new Error(`the function ${name} is not available here: expected one of ${[...FUNCTIONS].join(', ')}`);
  }
}

/** The rows of the first statement of a text. */
export function rowsOf(database: Database, query: string, values: Readonly<Record<string, Value>> = {}, most = Infinity): Row[] {
  const statement = database.prepare(query);
  try {
    statement.bind(values);
    const rows: Row[] = [];
    while (statement.step()) {
      if (rows.length === most) throw new Error(`the result has more than ${most} rows: expected fewer`);
      rows.push(statement.getAsObject());
    }
    return rows;
  } finally {
    statement.free();
  }
}
