/**
 * @file A benchmark's domain as its original runs it: tau-bench v1 (`tau1`) or tau2-bench (`tau2`). A domain is one set of
 * tool bodies; what the two benchmarks do differently is read from a `Rules` value beside them, in one place.
 */
import type { Rows, WorldTables } from '../overlay.ts';
import type { Json, ToolCall, ToolSchema } from '../types.ts';

export type Benchmark = 'tau1' | 'tau2';
export type Requestor = 'assistant' | 'user';

export interface ExactCall extends ToolCall {
  /** Who calls; the assistant when absent. */
  requestor?: Requestor;
}

/** tau2's `initial_state` of a task, and of a case of `mua replay`. */
export interface InitialState {
  initialization_data?: { agent_data?: Json; user_data?: Json } | null;
  initialization_actions?: { env_type: Requestor; func_name: string; arguments: Record<string, Json> }[] | null;
  message_history?: Json[] | null;
}

export interface ExactResult {
  text: string;
  error: boolean;
  /** The tool ran, and only tau2's synchronisation after it failed: upstream keeps what the tool wrote, beside the error. */
  kept?: true;
}

export interface ExecuteOptions {
  /** False for the gold actions of a task: tau2 replays them without the synchronisation that follows every live call. */
  sync?: boolean;
}

export interface ExactDomain {
  name: 'retail' | 'airline' | 'telecom' | 'mock';
  benchmark: Benchmark;
  /** In upstream's order, as its own JSON schemas. */
  tools: readonly ToolSchema[];
  /** Tools of the simulated user; empty but in tau2's telecom and mock. */
  userTools: readonly ToolSchema[];
  /** Rows of a whole database file. What is no table of records is one row of the table `''`, under its key. @throws naming path and reason */
  load(database: Json, userDatabase?: Json): WorldTables;
  /** The whole database again, as `sha256_js` sees it. */
  dump(rows: Rows): Json;
  /** The user's database (tau2's telecom and mock); null elsewhere. */
  dumpUser(rows: Rows): Json;
  /** Brings a fresh world into a task's initial state. @throws naming the action that failed */
  initialize(rows: Rows, state: InitialState): void;
  /** Runs one call. Callers write into a draft overlay and drop it on an error that is not `kept`: see `runExact`. */
  execute(rows: Rows, call: ExactCall, options?: ExecuteOptions): ExactResult;
  /** An assertion function of tau2's `env_assertions`. @throws when there is none of that name */
  assertion(rows: Rows, requestor: Requestor, name: string, args: Record<string, Json>): boolean;
}
