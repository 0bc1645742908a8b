/** @file A task, its tools and the verdict on an episode. */
import type { Benchmark, BenchmarkTask, Requestor, RewardInfo } from './benchmark-task.ts';
import type { Persona, ToolFaults } from './conditions.ts';
import type { Json } from './json.ts';

/** An OpenAI function schema, as in tau-bench's `tools_info`. */
export interface ToolSchema {
  type: 'function';
  function: { name: string; description: string; parameters: { type: 'object'; properties: Record<string, Json>; required: string[] } };
}

export interface ToolCall {
  name: string;
  arguments: Record<string, Json>;
  /** The caller. Default: the agent. */
  requestor?: Requestor;
  /** The arguments as JSON text, if `arguments` would change them: JavaScript does not tell 5 from 5.0, and rounds large integers. */
  exact?: string;
  /**
   * The whole message of the agent, where the world runs messages instead of calls. Empty for a call after the first one of its message.
   */
  message?: string;
}

/**
 * What the simulated customer wants. `slots` has every fact of the wish, under the argument names of the gold call, such as `order_id`
 * or `reason`.
 */
export interface Wish {
  /** The kind of action that the customer wants, in the domain's words, for example `cancel`. */
  intent: string;
  slots: Record<string, string | string[]>;
  /** The customer's words for the facts, such as `payment` (`['gift card']`). */
  words: Record<string, string[]>;
  /** True if the policy or the world's state forbids the wish. The agent must refuse or transfer. */
  impossible: boolean;
  /**
   * The wish that the customer states first, before they change their mind (`changes_mind`) or correct a wrong detail (`confused`). The
   * gold actions follow the final wish, not this one.
   */
  insteadOf?: { intent: string; slots: Record<string, string | string[]>; words: Record<string, string[]> };
}

/** All facts that the user simulator knows. It never sees the agent's tools, tool results or gold actions. */
export interface UserScenario {
  persona: Persona;
  /** Facts that identify the customer, who states them when asked: `email`, or `first_name`, `last_name` and `zip`, … */
  identity: Record<string, string>;
  wishes: Wish[];
  /** If true, the customer tells the facts of a wish before the agent asks. Absent: the persona and chance decide. */
  tellsAll?: boolean;
  /** If true, a script plays this customer, even if a language model plays the other customers. */
  scripted?: boolean;
  /** The scenario as a text for a language model (tau-bench's `instruction`, tau2-bench's persona and scenario). */
  instruction: string;
  /** The benchmark whose rules a language model follows when it plays the user. Absent: the rules of the generated domains. */
  benchmark?: Benchmark;
  /** Messages before the episode, in tau2-bench's format. The user first answers the last message. */
  history?: Json[];
  /** What the agent says to a language model that plays the user, before its first message. The agent does not see it. */
  greeting?: string;
  /** Facts that only the scripted customers of this domain use. */
  facts?: Record<string, Json>;
  /** Facts for telecom's customers. They are not in `facts`, because stored tasks have them in the field `phone`. */
  phone?: Record<string, Json>;
}

/**
 * The splits of generated tasks. `heldout` has worlds of its own. `attacks` has customers who want what the agent must refuse. `unseen` also has customers, products and wordings of customers that no
 * other split has.
 */
export const SPLITS = ['train', 'heldout', 'unseen', 'attacks'] as const;
export type Split = (typeof SPLITS)[number];

export const isSplit = (name: string | undefined): name is Split => (SPLITS as readonly (string | undefined)[]).includes(name);

/** The domain and level of a task that another tool recorded. The tools, tables and customer of such a task are not known. */
export const FOREIGN_PLACE = { domain: 'imported', level: 'other' } as const;

export const isForeign = ({ domain }: Pick<Task, 'domain'>): boolean => domain === FOREIGN_PLACE.domain;

/** The task of a conversation of which only the messages are known. */
export const foreignTask = (id: string, actions: readonly ToolCall[] = []): Task => ({
  id,
  ...FOREIGN_PLACE,
  split: 'unknown',
  world: 'unknown',
  scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: '' },
  actions: [...actions],
  noop: false,
});

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
  /** True if the gold actions leave the database unchanged. */
  noop: boolean;
  /** How often tools fail in this task. Absent: never. */
  faults?: ToolFaults;
  /** The task as in the benchmark's file. */
  benchmark?: BenchmarkTask;
  /** The agent's tools, if each task has its own. Absent: those of the domain. */
  tools?: ToolSchema[];
  /** The agent's policy, if each task has its own. Absent: that of the domain. */
  policy?: string;
}

/** The agent's tools in a task of the domain. */
export const toolsOf = (task: Pick<Task, 'tools'>, domain: { tools: ToolSchema[] }): ToolSchema[] => task.tools ?? domain.tools;

/** One changed row of an episode's overlay. `before` is null if the row did not exist, and `after` is null if the row was deleted. */
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
   * A number from 0 to 1, for display only: the share of right rows among the rows that the gold or the episode changes. For a
   * benchmark's task, it is the share of its criteria that are met.
   */
  progress: number;
  /** The reward's terms, for a benchmark's task. They stay the same if the episode ended improperly. */
  reward_info?: RewardInfo;
}
