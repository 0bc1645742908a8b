/** @file A task, its tools and the verdict on an episode. */
import type { Benchmark, BenchmarkTask, Requestor, RewardInfo } from './benchmark-task.ts';
import type { Persona, ToolFaults } from './conditions.ts';
import type { Json } from './json.ts';

/** OpenAI function schema, as in tau-bench's `tools_info`. */
export interface ToolSchema {
  type: 'function';
  function: { name: string; description: string; parameters: { type: 'object'; properties: Record<string, Json>; required: string[] } };
}

export interface ToolCall {
  name: string;
  arguments: Record<string, Json>;
  /** The caller. Default: the agent. */
  requestor?: Requestor;
}

/**
 * What the simulated customer wants. `slots` has every fact of the wish under the gold call's argument names, such as
 * `order_id` or `reason`.
 */
export interface Wish {
  /** What kind of act is wanted, in the domain's own words, for example `cancel`. */
  intent: string;
  slots: Record<string, string | string[]>;
  /** The customer's words for the facts, such as `payment` (`['gift card']`). */
  words: Record<string, string[]>;
  /** The policy or the world's state forbids the wish. The agent must refuse or transfer. */
  impossible: boolean;
  /**
   * What the customer says first, before they change their mind (`changes_mind`) or correct a wrong detail (`confused`). The gold
   * follows the wish itself.
   */
  insteadOf?: { intent: string; slots: Record<string, string | string[]>; words: Record<string, string[]> };
}

/** What the user simulator knows. It never sees the agent's tools, tool results or gold actions. */
export interface UserScenario {
  persona: Persona;
  /** Facts the customer can state when asked: `email`, or `first_name`, `last_name`, `zip`; … */
  identity: Record<string, string>;
  wishes: Wish[];
  /** The customer tells the facts of a wish before the agent asks. Absent: the persona and chance decide. */
  tellsAll?: boolean;
  /** The same as a text for a language model (tau-bench's `instruction`, tau2-bench's persona and scenario). */
  instruction: string;
  /** The benchmark whose rules a language model follows as the user. Absent: the rules of the playground's own domains. */
  benchmark?: Benchmark;
  /** Messages before the episode, in tau2-bench's format. The user first answers the last message. */
  history?: Json[];
  /** What only the scripted customers of this domain know. */
  facts?: Record<string, Json>;
  /** The same of telecom's customers, under the name that stored tasks have. */
  phone?: Record<string, Json>;
}

/** The domain and level of a task that another tool recorded. Its tools, tables and customer are not known. */
export const FOREIGN_PLACE = { domain: 'imported', level: 'other' } as const;

export const isForeign = ({ domain }: Pick<Task, 'domain'>): boolean => domain === FOREIGN_PLACE.domain;

export interface Task {
  /** Unique and stable: `<domain>/<level>/<split>/<seed>/<index>`. */
  id: string;
  domain: string;
  level: string;
  split: string;
  /** Id of the world that the task starts from. */
  world: string;
  scenario: UserScenario;
  /** Gold actions. Replaying them gives the goal state. */
  actions: ToolCall[];
  /** The gold leaves the database unchanged. */
  noop: boolean;
  /** How often tools fail in this task. Absent: never. */
  faults?: ToolFaults;
  /** The task as in the file of tau-bench or tau2-bench. */
  benchmark?: BenchmarkTask;
}

/** One changed row of an episode's overlay. `before` is null if the row did not exist, `after` if the row was deleted. */
export interface RowChange {
  table: string;
  key: string;
  before: Json;
  after: Json;
  /** Index of the last tool call that changed the row. */
  call: number;
}

export interface Violation {
  rule: 'not_authenticated' | 'other_customer' | 'unconfirmed_write';
  /** Index of the tool call. */
  call: number;
  detail: string;
}

export interface Verdict {
  /** 1 if the final overlay equals the gold overlay, else 0. A benchmark's task has its own criteria. */
  reward: 0 | 1;
  changes: RowChange[];
  goal: RowChange[];
  /**
   * 0…1, for display only. The share of right rows among the rows that the goal or the episode changes; of a benchmark's
   * task, the share of its criteria that are met.
   */
  progress: number;
  /** The terms of the reward of a benchmark's task. An improper ending does not change them. */
  reward_info?: RewardInfo;
}
