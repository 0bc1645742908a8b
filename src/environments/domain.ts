/** @file What a domain folder gives to the store. The store, the log and the verifier know nothing else of it. */
import type { ExactResult, InitialState } from './exact.ts';
import type { Overlay, Rows, World, WorldTables } from './overlay.ts';
import type { Domain, Task, TaskQuery, ToolCall, Verdict } from './types.ts';

/** An episode at its end, as criteria see it. */
export interface Played {
  task: Task;
  rows: Overlay;
  /** The world the episode began in, before the task's initial state. */
  world: World;
  /** All calls in order, the user's too. */
  calls: readonly { call: ToolCall; text: string; error: boolean }[];
  said: readonly string[];
}

export type Judgement = Pick<Verdict, 'reward' | 'progress' | 'reward_info'>;

export interface DomainDefinition {
  name: string;
  levels: readonly string[];
  /** Raised whenever the generator makes other worlds of the same ids: stored worlds of other versions are made anew. */
  version: number;
  /** Whether its tasks can be asked for by `TaskQuery.select`. */
  selects?: true;
  domain(level: string): Domain | Promise<Domain>;
  tasks(query: TaskQuery): Task[] | Promise<Task[]>;
  /** Makes a base world from its id, deterministically. @throws on an id that is not its own. */
  world(id: string): WorldTables | Promise<WorldTables>;
  /** Brings a fresh world into the task's initial state. @throws naming the action that failed */
  initialize?(rows: Rows, task: Task): void;
  /** Runs one call. Synchronous, so that it fits in a transaction. On `error` whatever it wrote is dropped, unless `kept`. */
  execute(rows: Rows, call: ToolCall, level: string): ExactResult;
  /** Scores by other criteria than the gold overlay. */
  judge?(played: Played): Judgement | Promise<Judgement>;
}

/** tau2's initial state of a task, where it has one. */
export function initialStateOf({ benchmark }: Task): InitialState | null {
  return (benchmark && 'initial_state' in benchmark && benchmark.initial_state) || null;
}
