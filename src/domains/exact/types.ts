/**
 * @file A benchmark's domain with the behaviour of the original code: tau-bench v1 or tau2-bench. A domain has one set of
 * tools. A `Rules` value holds the differences between the two benchmarks.
 */
import type { InitialState, Requestor } from '../../records/benchmark-task.ts';
import type { Rows, WorldTables } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { ToolCall, ToolSchema } from '../../records/task.ts';
import type { ExactResult } from '../../environments/types.ts';

export interface ExecuteOptions {
  /** False for gold actions: tau2 replays them without the synchronisation after every live call. */
  sync?: boolean;
}

export interface ExactDomain {
  name: string;
  /** Upstream's JSON schemas in upstream's order. */
  tools: readonly ToolSchema[];
  /** Tools of the simulated user. Only tau2's telecom and mock have them. */
  userTools: readonly ToolSchema[];
  /** The rows of a database file. A value that is not a table becomes a row of the table `''`. @throws naming path and reason */
  load(database: Json, userDatabase?: Json): WorldTables;
  /** The whole database, in the form that `sha256_js` hashes. */
  dump(rows: Rows): Json;
  /** The user's database. Null if the domain has none. */
  dumpUser(rows: Rows): Json;
  /** Applies a task's initial state to a world. @throws naming the action that failed */
  initialize(rows: Rows, state: InitialState): void;
  /** Runs one call. The caller passes a draft overlay and drops it on an error that is not `kept`, see `runExact`. */
  execute(rows: Rows, call: ToolCall, options?: ExecuteOptions): ExactResult;
  /** An assertion function of tau2's `env_assertions`. @throws if no function has that name */
  assertion(rows: Rows, requestor: Requestor, name: string, args: Record<string, Json>): boolean;
}
