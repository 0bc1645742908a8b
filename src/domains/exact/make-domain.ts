/** @file The parts that all exact domains share: running calls, loading and dumping tables, and tau2's initial states. */
import { type Arguments, checkArguments } from './arguments.ts';
import type { InitialState, Requestor } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { ToolSchema, ToolCall } from '../../records/task.ts';
import type { ExactDomain } from './types.ts';
import { replayHistory } from '../../environments/history.ts';
import { cloneJson } from '../../base/json.ts';
import { orderedEntries } from './ordered-json.ts';
import type { Rows } from '../../environments/overlay.ts';
import { pythonJson, type Printable } from './python.ts';

export interface ExactTool {
  parameters: readonly string[];
  optional?: readonly string[];
  /** Whether the tool can change rows. Only such tools are run again when a message history is replayed. */
  mutates?: boolean;
  /** Runs the tool. Returns the observation as a text, or as a value to print as JSON. */
  run(rows: Rows, args: Arguments): Printable;
}

export type ToolSet = ReadonlyMap<string, ExactTool>;

export interface Table {
  name: string;
  /** Converts a record of the database file to a row. @throws {Refusal} that names the path and the reason */
  read(record: Json, path: string): Json;
  /** Converts a row to a record of the database file. */
  dump?(row: Json): Json;
}

/** The observation of a call of a tool that the caller does not have. `hasTools`: whether the caller has other tools. */
export type UnknownTool = (tool: string, hasTools: boolean) => string;

/** tau-bench's observation for an unknown tool. */
export const unknownAction: UnknownTool = (tool) => `Unknown action ${tool}`;
/** tau2-bench's observation for an unknown tool. Only a user can have no tools at all. */
export const toolNotFound: UnknownTool = (tool, hasTools) =>
  hasTools ? `Error: Tool '${tool}' not found.` : 'Error: User tools not available';

export interface DomainParts {
  name: ExactDomain['name'];
  unknownTool: UnknownTool;
  tables: readonly Table[];
  userTables?: readonly Table[];
  tools: ToolSet;
  schemas: readonly ToolSchema[];
  userTools?: ToolSet;
  userSchemas?: readonly ToolSchema[];
  /** Functions that are not tools. Initial states use some of them. Others are assertions, which return a boolean. */
  functions?: Record<Requestor, ToolSet>;
}

const NONE: ToolSet = new Map();
/**
 * The key of a row that exists if both sides share one database. It names the side that owns this database. It is in the table
 * `''`, which contains no records.
 */
const SHARED = ['', 'shared'] as const;

/** The side whose tables `requestor` uses: the side that the row `SHARED` names, or its own side if this row does not exist. */
export function databaseOf(rows: Rows, requestor: Requestor): Requestor {
  return (rows.get(...SHARED) as Requestor | undefined) ?? requestor;
}

export function makeExactDomain(parts: DomainParts): ExactDomain {
  const { name, unknownTool, tables, userTables = [], tools, userTools = NONE, schemas, userSchemas = [] } = parts;
  const toolsOf = (requestor: Requestor) => (requestor === 'user' ? userTools : tools);
  const tablesOf = (requestor: Requestor) => (requestor === 'user' ? userTables : tables);
  const dumpTables = (rows: Rows, list: readonly Table[]): Json =>
    Object.fromEntries(
      list.map(({ name: table, dump = (row: Json) => row }) => [
        table,
        Object.fromEntries(rows.keys(table).map((key) => [key, dump(rows.get(table, key)!)])),
      ]),
    );
  const readTables = (database: Json, list: readonly Table[]) =>
    list.map(({ name: table, read }): [string, Map<string, Json>] => {
      const records = orderedEntries((database as Record<string, Json> | null)?.[table], `${name}: ${table}`);
      return [table, new Map(records.map(([key, record]) => [key, read(record, `${name}: ${table}.${key}`)]))];
    });

  /** Runs a tool or a function. The caller must handle its errors. */
  function invoke(rows: Rows, set: ToolSet, tool: string, args: Arguments): Printable {
    const { parameters, optional, run } = set.get(tool)!;
    checkArguments(tool, args, parameters, optional);
    return run(rows, args);
  }

  function execute(rows: Rows, { name: tool, arguments: args, requestor = 'assistant' }: ToolCall) {
    const set = toolsOf(requestor);
    if (!set.has(tool)) return { text: unknownTool(tool, set.size > 0), error: true };
    try {
      const answer = invoke(rows, set, tool, args ?? {});
      return { text: typeof answer === 'string' ? answer : pythonJson(answer), error: false };
    } catch (cause) {
      return { text: `Error: ${(cause as Error).message}`, error: true };
    }
  }

  /** Merges objects into the rows, in the way in which tau2 applies a task's data to a database. */
  function update(rows: Rows, data: Json, requestor: Requestor): void {
    for (const { name: table, read, dump = (row: Json) => row } of tablesOf(requestor)) {
      const records = (data as Record<string, Json>)[table];
      if (records === undefined) continue;
      for (const [key, record] of orderedEntries(records, `initialization_data: ${table}`)) {
        const row = rows.get(table, key);
        rows.put(table, key, read(row === undefined ? record : merged(dump(row), record), `initialization_data: ${table}.${key}`));
      }
    }
    // Quirk: upstream makes the other side use the updated database too. So a user gets the assistant's tables, or the assistant
    // gets the user's.
    if (userTables.length) rows.put(...SHARED, requestor);
  }

  return {
    name,
    tools: schemas,
    userTools: userSchemas,
    load: (database, userDatabase) =>
      new Map([...readTables(database, tables), ...(userDatabase === undefined ? [] : readTables(userDatabase, userTables))]),
    dump: (rows) => dumpTables(rows, tablesOf(databaseOf(rows, 'assistant'))),
    dumpUser: (rows) => (userTables.length ? dumpTables(rows, tablesOf(databaseOf(rows, 'user'))) : null),
    execute,
    initialize(rows, { initialization_data: data, initialization_actions: actions, message_history: messages }: InitialState) {
      if (data?.agent_data != null) update(rows, data.agent_data, 'assistant');
      if (data?.user_data != null) {
        if (!userTables.length) throw new Error(`initialization_data: ${name} has no user database`);
        update(rows, data.user_data, databaseOf(rows, 'user'));
      }
      for (const { env_type, func_name, arguments: args } of actions ?? []) {
        const set = [toolsOf(env_type), parts.functions?.[env_type] ?? NONE].find((entry) => entry.has(func_name));
        if (!set) throw new Error(`initialization_actions: ${name} has no '${func_name}' for the ${env_type}`);
        try {
          invoke(rows, set, func_name, args);
        } catch (cause) {
          throw new Error(`initialization_actions: ${func_name}: ${(cause as Error).message}`, { cause });
        }
      }
      // No draft overlay is needed here, because the tools of these domains write only after their last check.
      replayHistory(messages ?? [], {
        mutates: (tool, requestor) => toolsOf(requestor).get(tool)?.mutates === true,
        run: (call) => execute(rows, call),
      });
    },
    assertion(rows, requestor, assertion, args) {
      const set = parts.functions?.[requestor] ?? NONE;
      if (!set.has(assertion)) throw new Error(`${name} has no assertion '${assertion}' of the ${requestor}`);
      return invoke(rows, set, assertion, args) as boolean;
    },
  };
}

function merged(old: Json, change: Json): Json {
  const plain = (value: Json): value is Record<string, Json> => value !== null && typeof value === 'object' && !Array.isArray(value);
  if (!plain(old) || !plain(change)) return cloneJson(change);
  return {
    ...old,
    ...Object.fromEntries(
      Object.entries(change).map(([name, value]) => [name, Object.hasOwn(old, name) ? merged(old[name]!, value) : cloneJson(value)]),
    ),
  };
}
