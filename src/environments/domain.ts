/** @file The interface of a domain. The store, the log and the verifier use a domain only through it. */
import { didYouMean } from '../base/did-you-mean.ts';
import type { InitialState } from '../records/benchmark-task.ts';
import type { RowChange, Split, Task, ToolCall, Verdict } from '../records/task.ts';
import type { ExactResult } from './types.ts';
import { Overlay, type Rows, type World, type WorldTables } from './overlay.ts';
import type { Domain, TaskQuery, TurnChange, WorldPromises } from './types.ts';

/** An episode at its end, with what criteria need to judge it. */
export interface Played {
  task: Task;
  rows: Overlay;
  /** The world in which the episode began, before the task's initial state was applied. */
  world: World;
  /** All calls in order, including those of the user. */
  calls: readonly { call: ToolCall; text: string; error: boolean }[];
  said: readonly string[];
  /** A judge's decisions about the assertions in natural language. Absent if there was no judge. */
  met?: readonly boolean[];
}

export type Judgement = Pick<Verdict, 'reward' | 'progress' | 'reward_info'>;

/** The fields that every domain has, for both kinds of worlds. */
interface DomainBase {
  name: string;
  levels: readonly string[];
  /** Whether `TaskQuery.conditions` can select its tasks. */
  conditions?: true;
  /** Whether it has tasks of the split `unseen`. */
  unseen?: true;
  /** Whether it has tasks of the split `attacks`. */
  attacks?: true;
  /** Whether `TaskQuery.select` can select its tasks. */
  selects?: true;
  domain(level: string): Domain | Promise<Domain>;
  tasks(query: TaskQuery): Task[] | Promise<Task[]>;
}

/** A domain whose world consists of tables. The environment stores its rows, their changes and the log of calls. */
export interface TableDomain extends DomainBase {
  /** Must be increased when the generator makes different worlds for the same ids. Stored worlds of other versions are generated again. */
  version: number;
  /** Present if the worlds are stored as imports, so that the store keeps no copy. */
  imported?: true;
  /** The number of generated tasks that share a world, and a function that makes the id of a world. */
  worlds?: { tasks: number; id(level: string, world: { split: Split; seed: number; number: number }): string };
  /** Makes a base world from its id, deterministically. @throws if the id does not belong to this domain */
  world(id: string): WorldTables | Promise<WorldTables>;
  /** Changes a fresh world to the task's initial state. @throws error that names the action that failed */
  initialize?(rows: Rows, task: Task): void;
  /**
   * Runs one call. It is synchronous, so that it can run in a transaction. If `error` is true, everything that it wrote is
   * dropped, except if `kept` is true.
   */
  execute(rows: Rows, call: ToolCall, level: string): ExactResult;
  /** Scores the episode by other criteria than a comparison with the gold overlay. Null: the comparison decides. */
  judge?(played: Played): Judgement | null | Promise<Judgement | null>;
}

/** The result of a tool call in a session. */
export interface SessionResult {
  text: string;
  error: boolean;
  /** The rows that the call changed. Default: none. The environment sets the number of the call. */
  changes?: RowChange[];
}

/** One episode in a world that does not consist of our tables, for example of tools in another process. Only one call runs at a time. */
export interface WorldSession {
  /** Runs one call. If it throws, the call gets an error result. A SimulatorFault ends the episode without a score. */
  call(call: ToolCall): Promise<SessionResult>;
  /** Called once after each message of the user, before the agent's turn. @param n the number of the user's message, from 0 */
  turn?(n: number): Promise<TurnChange | null>;
  /** The parameters are those of `Environments.verify`. */
  verify(said: readonly string[], met?: readonly boolean[]): Promise<Verdict>;
  close(): Promise<void>;
}

/** A domain whose world is a session, which keeps its state itself. */
export interface SessionDomain extends DomainBase {
  promises: WorldPromises;
  /** Begins an episode. Different sessions cannot see each other. */
  start(task: Task): Promise<WorldSession>;
}

export type DomainDefinition = TableDomain | SessionDomain;

export const hasSessions = (definition: DomainDefinition): definition is SessionDomain => 'start' in definition;

/** @throws if the domain has no such level */
export function checkLevel({ levels }: DomainDefinition, { level }: Task): void {
  if (!levels.includes(level))
    throw new Error(`task.level: '${level}' is unknown${didYouMean(level, levels)}; expected one of ${levels.join(', ')}`);
}

/** The text of the error result if a tool throws. */
export const thrownText = (cause: unknown): string => `Error: ${cause instanceof Error ? cause.message : String(cause)}`;

/** A domain whose code is loaded when a task needs it for the first time. */
export interface DomainSource {
  name: string;
  load(): Promise<DomainDefinition>;
}

/** The result of a call on a draft. To keep the changes, the caller applies `written`. */
export interface DraftedCall {
  text: string;
  error: boolean;
  /** The rows that the call wrote. Empty if an error dropped them. */
  written: RowChange[];
  /** Those written rows whose value differs from the value before. */
  changes: RowChange[];
}

/**
 * Runs a call on a draft. If the tool throws, the call gets an error result, as in tau-bench. The writes of a failed call are
 * dropped together with the draft.
 */
export function runDrafted(definition: TableDomain, rows: World | Overlay, call: ToolCall, level: string, index: number): DraftedCall {
  const draft = new Overlay(rows);
  let result: ExactResult;
  try {
    result = definition.execute(draft, call, level);
  } catch (cause) {
    result = { text: thrownText(cause), error: true };
  }
  const { text, error, kept = !error } = result;
  const numbered = (changes: RowChange[]) => (kept ? changes.map((change) => ({ ...change, call: index })) : []);
  return { text, error, written: numbered(draft.written()), changes: numbered(draft.changes()) };
}

/** The initial state of a benchmark's task, in tau2-bench's format. Null if the task has none. */
export function initialStateOf({ benchmark }: Task): InitialState | null {
  return ((benchmark ?? {}) as { initial_state?: InitialState | null }).initial_state ?? null;
}
