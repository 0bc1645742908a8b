/**
 * The interface of the tool environment. Every value can be copied by the structured clone algorithm, because the environment
 * may run in another worker.
 */
import type { Benchmark } from '../records/benchmark-task.ts';
import type { Conditions } from '../records/conditions.ts';
import type { RowChange, Split, Task, ToolCall, ToolSchema, Verdict } from '../records/task.ts';

/** What changes in the world before a turn of the agent. */
export interface TurnChange {
  /** The tools that the agent gets now, in addition to its earlier tools. */
  tools?: ToolSchema[];
}

/** What is guaranteed about the calls in a world. Worlds of tables keep all these promises. */
export interface WorldPromises {
  /**
   * Whether the same calls in a new episode of the same task give the same results. Only in such a world can a stored
   * conversation be continued.
   */
  replays: boolean;
}

export interface Domain {
  name: string;
  level: string;
  /** The id of the import from which the domain comes. It contains a digest of the data. Absent if the domain is generated. */
  data?: string;
  policy: string;
  tools: ToolSchema[];
  /** A successful call of one of these tools ends the episode. */
  terminalTools: string[];
  /** The benchmark whose rules of conversation and scoring are used. Absent if MUA-RL's rules are used. */
  benchmark?: Benchmark;
  /** Present if the tasks are a fixed set. Absent if there is no end to the generated tasks. */
  finite?: true;
  /** The tools of the simulated user, if it has any. The agent never sees them. */
  userTools?: ToolSchema[];
  /** Absent if the world keeps all promises. */
  promises?: WorldPromises;
}

/** The result of a tool call before the store has logged the call. */
export interface ExactResult {
  text: string;
  error: boolean;
  /**
   * Present if the tool itself succeeded and only tau2's synchronisation after it failed. In this case the tool's writes are
   * kept, although the result is an error.
   */
  kept?: true;
}

export interface ToolResult {
  /** The index of the call in the episode's log. */
  index: number;
  /** The text of the observation for the model. */
  text: string;
  error: boolean;
  /** The rows that this call changed. */
  changes: RowChange[];
  terminal: boolean;
}

/** Selects tasks. The result is deterministic: the same query gives the same tasks and worlds everywhere. */
export interface TaskQuery {
  domain: string;
  level: string;
  split: Split;
  seed: number;
  count: number;
  /** The index of the first task. There is no end to the generated tasks. */
  from?: number;
  /** Only for domains with `conditions`. Default: the conditions of the level. */
  conditions?: Conditions;
  /** For an imported benchmark, instead of `split`: the name of one of its splits, or the ids of tasks in the wanted order. */
  select?: { split: string } | { ids: readonly string[] };
}

export interface Environments {
  domain(name: string, level: string): Promise<Domain>;
  tasks(query: TaskQuery): Promise<Task[]>;
  /** Begins an isolated episode and returns its id. */
  start(task: Task): Promise<string>;
  /**
   * Runs one tool call in one transaction. An unknown tool or wrong arguments give an error result; the method never throws
   * because of them.
   */
  call(episode: string, call: ToolCall): Promise<ToolResult>;
  /**
   * Called once after each message of the user, before the agent's turn. If the result is null or the method is absent, nothing
   * changes.
   * @param n the number of the user's message, from 0
   */
  turn?(episode: string, n: number): Promise<TurnChange | null>;
  /**
   * @param said what the agent said to the user, in order; some tasks require information
   * @param met for each entry of an earlier verdict's `unjudged_nl_assertions`, whether a judge found it met
   */
  verify(episode: string, said?: readonly string[], met?: readonly boolean[]): Promise<Verdict>;
  /** Deletes the episode's overlay and log. */
  close(episode: string): Promise<void>;
}
