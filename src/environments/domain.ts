/** @file What a domain folder gives to the store. The store, the log and the verifier know nothing else of it. */
import type { ExactResult, InitialState } from './exact/types.ts';
import { Overlay, type Rows, type World, type WorldTables } from './overlay.ts';
import type { Domain, RowChange, Task, TaskQuery, ToolCall, Verdict } from './types.ts';

/** An episode at its end, as criteria see it. */
export interface Played {
  task: Task;
  rows: Overlay;
  /** The world the episode began in, before the task's initial state. */
  world: World;
  /** All calls in order, the user's too. */
  calls: readonly { call: ToolCall; text: string; error: boolean }[];
  said: readonly string[];
  /** What a judge found of the assertions in natural language; absent: nobody judged. */
  met?: readonly boolean[];
}

export type Judgement = Pick<Verdict, 'reward' | 'progress' | 'reward_info'>;

export interface DomainDefinition {
  name: string;
  levels: readonly string[];
  /** Raised whenever the generator makes other worlds of the same ids: stored worlds of other versions are made anew. */
  version: number;
  /** Whether its worlds are stored elsewhere, and go when that is deleted: no copy is kept. */
  imported?: true;
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

/** A call that was run on a draft: whoever keeps it applies what was written. */
export interface DraftedCall {
  text: string;
  error: boolean;
  /** What the call wrote; nothing where an error drops it. */
  written: RowChange[];
  /** Of that, the rows whose value is another one. */
  changes: RowChange[];
}

/** A tool that trips over strange arguments is an error result, as in tau-bench; its writes are dropped with the draft. */
export function runDrafted(definition: DomainDefinition, rows: World | Overlay, call: ToolCall, level: string, index: number): DraftedCall {
  const draft = new Overlay(rows);
  let result: ExactResult;
  try {
    result = definition.execute(draft, call, level);
  } catch (cause) {
    result = { text: `Error: ${(cause as Error).message}`, error: true };
  }
  const { text, error, kept = !error } = result;
  const numbered = (changes: RowChange[]) => (kept ? changes.map((change) => ({ ...change, call: index })) : []);
  return { text, error, written: numbered(draft.written()), changes: numbered(draft.changes()) };
}

/** tau2's initial state of a task, where it has one. */
export function initialStateOf({ benchmark }: Task): InitialState | null {
  return (benchmark && 'initial_state' in benchmark && benchmark.initial_state) || null;
}
