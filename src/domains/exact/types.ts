/**
 * @file A benchmark's domain with the behaviour of the original code, tau-bench v1 or tau2-bench. A domain has one set of
 * tools; a `Rules` value has the differences between the two benchmarks.
 */
import type { InitialState, Requestor } from '../../records/benchmark-task.ts';
import type { Rows, WorldTables } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { ToolCall, ToolSchema } from '../../records/task.ts';
import type { ExactResult } from '../../environments/types.ts';

export interface ExecuteOptions {
  /** Whether both sides are synchronised after the call. tau2 does not do this when it replays gold actions, only after live calls. */
  sync?: boolean;
}

export interface ExactDomain {
  name: string;
  /** Upstream's JSON schemas of the tools, in upstream's order. */
  tools: readonly ToolSchema[];
  /** The tools of the simulated user. Only tau2's telecom and mock domains have them. */
  userTools: readonly ToolSchema[];
  /**
   * Converts database files to rows. A value that is not a table becomes a row of the table `''`.
   * @throws error that names the path and the reason
   */
  load(database: Json, userDatabase?: Json): WorldTables;
  /** The whole database, in the form whose SHA-256 is `sha256_js`. */
  dump(rows: Rows): Json;
  /** The user's database. Null if the domain has none. */
  dumpUser(rows: Rows): Json;
  /** Applies a task's initial state to a world. @throws error that names the action that failed */
  initialize(rows: Rows, state: InitialState): void;
  /** Runs one call. The caller passes a draft overlay, and drops it after an error that is not `kept`; see `runExact`. */
  execute(rows: Rows, call: ToolCall, options?: ExecuteOptions): ExactResult;
  /** Evaluates an assertion function of tau2's `env_assertions`. @throws if no function has that name */
  assertion(rows: Rows, requestor: Requestor, name: string, args: Record<string, Json>): boolean;
}
