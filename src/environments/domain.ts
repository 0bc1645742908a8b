/** @file The interface of a domain. The store, the log and the verifier use nothing else from a domain. */
import type { InitialState } from '../records/benchmark-task.ts';
import type { RowChange, Task, ToolCall, Verdict } from '../records/task.ts';
import type { ExactResult } from './types.ts';
import { Overlay, type Rows, type World, type WorldTables } from './overlay.ts';
import type { Domain, TaskQuery, TurnChange, WorldPromises } from './types.ts';

/** An episode at its end, as criteria see it. */
export interface Played {
  task: Task;
  rows: Overlay;
  /** The world the episode began in, before the task's initial state. */
  world: World;
  /** All calls in order, the user's too. */
  calls: readonly { call: ToolCall; text: string; error: boolean }[];
  said: readonly string[];
  /** A judge's findings on the assertions in natural language; absent if there was no judge. */
  met?: readonly boolean[];
}

export type Judgement = Pick<Verdict, 'reward' | 'progress' | 'reward_info'>;

/** What every domain has, whatever its world is. */
interface DomainBase {
  name: string;
  levels: readonly string[];
  /** Whether its tasks can be asked for by `TaskQuery.conditions`. */
  conditions?: true;
  /** Whether its tasks can be asked for by `TaskQuery.select`. */
  selects?: true;
  domain(level: string): Domain | Promise<Domain>;
  tasks(query: TaskQuery): Task[] | Promise<Task[]>;
}

/** A domain whose world is tables: the environment keeps rows, changes and the log of calls. */
export interface TableDomain extends DomainBase {
  /** Increased when the generator makes different worlds for the same ids. Stored worlds of other versions are generated again. */
  version: number;
  /** True if the worlds are stored as imports: the store keeps no copy. */
  imported?: true;
  /** How many generated tasks share a world, and the id of a world. */
  worlds?: { tasks: number; id(level: string, world: { split: 'train' | 'heldout'; seed: number; number: number }): string };
  /** Makes a base world from its id, deterministically. @throws on an id that is not its own. */
  world(id: string): WorldTables | Promise<WorldTables>;
  /** Brings a fresh world into the task's initial state. @throws naming the action that failed */
  initialize?(rows: Rows, task: Task): void;
  /** Runs one call. Synchronous, so that it fits in a transaction. On `error` whatever it wrote is dropped, unless `kept`. */
  execute(rows: Rows, call: ToolCall, level: string): ExactResult;
  /** Scores by other criteria than the gold overlay. */
  judge?(played: Played): Judgement | Promise<Judgement>;
}

/** What a tool of a session answers. */
export interface SessionResult {
  text: string;
  error: boolean;
  /** Default: nothing changed. The environment sets the number of the call. */
  changes?: RowChange[];
}

/** One episode in a world that is not tables of ours, such as tools in another process. No two calls run at the same time. */
export interface WorldSession {
  /** Runs one call. A session that throws gives an error result. */
  call(call: ToolCall): Promise<SessionResult>;
  /** Asked once after each message of the user, before the agent's turn. @param n number of the user's message, from 0 */
  turn?(n: number): Promise<TurnChange | null>;
  /** Parameters as in `Environments.verify`. */
  verify(said: readonly string[], met?: readonly boolean[]): Promise<Verdict>;
  close(): Promise<void>;
}

/** A domain whose world is a session: it keeps its own state. */
export interface SessionDomain extends DomainBase {
  promises: WorldPromises;
  /** Begins an episode. Sessions do not see each other. */
  start(task: Task): Promise<WorldSession>;
}

export type DomainDefinition = TableDomain | SessionDomain;

export const hasSessions = (definition: DomainDefinition): definition is SessionDomain => 'start' in definition;

/** @throws if the domain has no such level */
export function checkLevel({ levels }: DomainDefinition, { level }: Task): void {
  if (!levels.includes(level)) throw new Error(`task.level: '${level}' is unknown; expected one of ${levels.join(', ')}`);
}

/** The text of the error result that a call has whose tool throws. */
export const thrownText = (cause: unknown): string => `Error: ${cause instanceof Error ? cause.message : String(cause)}`;

/** A domain that is loaded when the first task asks for it. */
export interface DomainSource {
  name: string;
  load(): Promise<DomainDefinition>;
}

/** The result of a call on a draft. The caller applies `written` to keep the changes. */
export interface DraftedCall {
  text: string;
  error: boolean;
  /** What the call wrote; nothing where an error drops it. */
  written: RowChange[];
  /** The written rows whose value differs from the value before. */
  changes: RowChange[];
}

/** A tool that throws gives an error result, as in tau-bench. The writes of a failed call are dropped with the draft. */
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

/** The initial state of a benchmark's task, in tau2-bench's format; null if the task has none. */
export function initialStateOf({ benchmark }: Task): InitialState | null {
  return ((benchmark ?? {}) as { initial_state?: InitialState | null }).initial_state ?? null;
}
