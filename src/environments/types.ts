/** The tool environment as everyone else sees it. Every value is structured-cloneable: it may live in another worker. */
import type { BenchmarkTask, RewardInfo } from './exact/benchmark-task.ts';
import type { Benchmark, Requestor } from './exact/types.ts';

export type { Benchmark, Requestor } from './exact/types.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** OpenAI function schema, as in tau-bench's `tools_info`. */
export interface ToolSchema {
  type: 'function';
  function: { name: string; description: string; parameters: { type: 'object'; properties: Record<string, Json>; required: string[] } };
}

export interface ToolCall {
  name: string;
  arguments: Record<string, Json>;
  /** Who calls; the agent when absent. */
  requestor?: Requestor;
}

/**
 * What the simulated customer wants. `slots` holds every fact of the wish under the gold call's argument names (order_id,
 * item_ids, reason, payment_method_id, …); a `modify_address` without order_id means the customer's default address.
 */
export interface Wish {
  intent: 'cancel' | 'return' | 'exchange' | 'modify_items' | 'modify_address' | 'modify_payment';
  slots: Record<string, string | string[]>;
  /**
   * Names the customer uses for things of the wish: `items` and `new_items` in the order of the ids (`['water bottle']`,
   * `['color red']`: all other options stay), `payment` (`['gift card']`, `['original payment method']`), `address`,
   * `order` where there is no order_id, `owner` (`["my friend's"]`) where the order is someone else's.
   */
  words: Record<string, string[]>;
  /** True when policy or state forbids it: the right act is to refuse or transfer. */
  impossible: boolean;
  /** A wish the customer switches to in mid-conversation (persona `changes_mind`); the gold follows the change. */
  insteadOf?: { intent: Wish['intent']; slots: Record<string, string | string[]>; words: Record<string, string[]> };
}

export type Persona = 'upfront' | 'on_request' | 'changes_mind' | 'pushy';

/** What the user simulator is told: never tools, results or gold actions. */
export interface UserScenario {
  persona: Persona;
  /** Facts the customer can state when asked: `email`, or `first_name`, `last_name`, `zip`; … */
  identity: Record<string, string>;
  wishes: Wish[];
  /** The same, as a text for an LLM user (tau-bench's `instruction`, tau2-bench's persona and scenario). */
  instruction: string;
  /** Whose rules an LLM user is told; absent: those of the playground's own domains. */
  benchmark?: Benchmark;
  /** Messages that came before, as tau2 has them: the first thing to do is to answer the last. */
  history?: Json[];
  /** What is wrong with the phone of a generated telecom task, for the scripted user. */
  phone?: PhoneTrouble;
}

export interface PhoneTrouble {
  problem: 'service' | 'data' | 'mms';
  /** A country; `home`; null where it does not matter. */
  place: string | null;
  /** Gigabytes the customer would buy; null for none. */
  refuel: number | null;
  /** Tells only what was asked for. */
  terse: boolean;
}

export interface Task {
  /** Unique and stable: `<domain>/<level>/<split>/<seed>/<index>`. */
  id: string;
  domain: string;
  level: string;
  split: string;
  /** Id of the base world the task plays in. */
  world: string;
  scenario: UserScenario;
  /** Gold actions: the target state is made by replaying them. */
  actions: ToolCall[];
  /** True when the gold leaves the database unchanged. */
  noop: boolean;
  /** A task of tau-bench or tau2-bench as its file has it. */
  benchmark?: BenchmarkTask;
}

export interface Domain {
  name: string;
  level: string;
  policy: string;
  tools: ToolSchema[];
  /** Executing one of these ends the episode. */
  terminalTools: string[];
  /** Whose rules of conversation and scoring hold; absent: MUA-RL's. */
  benchmark?: Benchmark;
  /** Its tasks are a fixed set; absent: they are generated without end. */
  finite?: true;
  /** Tools of the simulated user, where it has any. The agent never sees them. */
  userTools?: ToolSchema[];
}

/** One changed row of an episode's overlay. `before`/`after` null: the row did not exist / was deleted. */
export interface RowChange {
  table: string;
  key: string;
  before: Json;
  after: Json;
  /** Index of the tool call that changed it last. */
  call: number;
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

export interface Violation {
  rule: 'not_authenticated' | 'other_customer' | 'unconfirmed_write';
  /** Index of the tool call. */
  call: number;
  detail: string;
}

export interface Verdict {
  /** 1 if and only if the final overlay equals the gold overlay; of a benchmark's task, by its own criteria. */
  reward: 0 | 1;
  changes: RowChange[];
  goal: RowChange[];
  /** Share of the goal's rows, or of the criteria, that are right (0…1), for display only. */
  progress: number;
  /** Of a benchmark's task: what its reward is made of, whether or not the conversation ended properly. */
  reward_info?: RewardInfo;
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
  /** Of an imported benchmark, instead of `split`: a split of its own by its name, or tasks by its ids, in this order. */
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
   * @param said what the agent said aloud, in order: some tasks ask for information.
   * @param met of an earlier verdict's `unjudged_nl_assertions`, in order, whether a judge found them met
   */
  verify(episode: string, said?: readonly string[], met?: readonly boolean[]): Promise<Verdict>;
  /** A new episode with this one's state after its first `calls` tool calls. */
  fork(episode: string, calls: number): Promise<string>;
  /** Discards the episode's overlay and log. */
  close(episode: string): Promise<void>;
}
