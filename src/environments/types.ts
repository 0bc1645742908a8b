/** The interface of the tool environment. Every value is structured-cloneable, because the environment may run in another worker. */
import type { Benchmark } from '../records/benchmark-task.ts';
import type { Conditions } from '../records/conditions.ts';
import type { RowChange, Task, ToolCall, ToolSchema, Verdict } from '../records/task.ts';

/** What the audit of the agent knows of a domain: the names of tools and fields. A write is a call that changed rows. */
export interface AuditRules {
  /** Tools whose successful result is the id of the customer. If there is no such tool, only writes without a yes are violations. */
  authenticate: readonly string[];
  /** Tools that show a customer's data. */
  details: readonly string[];
  /** Field of arguments, results and rows that holds the customer's id. */
  owner: string;
  /** Argument that holds the id of a customer's thing. The audit learns from results which customer a thing belongs to. */
  thing: string;
}

/** What changes before a turn of the agent. */
export interface TurnChange {
  /** Tools that the agent has from now on, beside the tools that it has already. */
  tools?: ToolSchema[];
}

/** What holds of a world's calls. Tables keep all promises. */
export interface WorldPromises {
  /** The same calls in a new episode of the same task give the same answers. A stored conversation goes on only in such a world. */
  replays: boolean;
}

export interface Domain {
  name: string;
  level: string;
  /** The id of the import that the domain comes from. It holds a digest of the data. Absent: the domain is generated. */
  data?: string;
  policy: string;
  tools: ToolSchema[];
  /** Executing one of these ends the episode. */
  terminalTools: string[];
  /** The benchmark whose rules of conversation and scoring apply; absent: MUA-RL's. */
  benchmark?: Benchmark;
  /** True if the tasks are a fixed set; absent: tasks are generated without end. */
  finite?: true;
  /** Tools of the simulated user, where it has any. The agent never sees them. */
  userTools?: ToolSchema[];
  /** Absent: the world keeps all promises. */
  promises?: WorldPromises;
  /** The rules of the agent's audit. Absent: conversations are not audited, which is not the same as following the rules. */
  audit?: AuditRules;
}

/** What a tool answers before the store has logged the call. */
export interface ExactResult {
  text: string;
  error: boolean;
  /** The tool succeeded, and only tau2's synchronisation after it failed: the tool's writes stay, although the answer is an error. */
  kept?: true;
}

export interface ToolResult {
  /** Index of the call in the episode's log. */
  index: number;
  /** Observation text shown to the model. */
  text: string;
  error: boolean;
  /** Rows this call changed. */
  changes: RowChange[];
  terminal: boolean;
}

/** Task sets are seeded: the same arguments give the same tasks and worlds everywhere. */
export interface TaskQuery {
  domain: string;
  level: string;
  split: 'train' | 'heldout';
  seed: number;
  count: number;
  /** Index of the first task; tasks are numbered without end. */
  from?: number;
  /** Only for domains with `conditions`. Default: the conditions of the level. */
  conditions?: Conditions;
  /** An imported benchmark takes it instead of `split`: a split of its own by its name, or tasks by its ids, in this order. */
  select?: { split: string } | { ids: readonly string[] };
}

export interface Environments {
  domain(name: string, level: string): Promise<Domain>;
  tasks(query: TaskQuery): Promise<Task[]>;
  /** Begins an isolated episode and returns its id. */
  start(task: Task): Promise<string>;
  /** Runs one tool call as one transaction. An unknown tool or bad arguments give an error result, never a throw. */
  call(episode: string, call: ToolCall): Promise<ToolResult>;
  /**
   * Asked once after each message of the user, before the agent's turn. Null, or no such method: nothing changes.
   * @param n number of the user's message, from 0
   */
  turn?(episode: string, n: number): Promise<TurnChange | null>;
  /**
   * @param said what the agent said aloud, in order: some tasks ask for information.
   * @param met of an earlier verdict's `unjudged_nl_assertions`, in order, whether a judge found them met
   */
  verify(episode: string, said?: readonly string[], met?: readonly boolean[]): Promise<Verdict>;
  /** Discards the episode's overlay and log. */
  close(episode: string): Promise<void>;
}
