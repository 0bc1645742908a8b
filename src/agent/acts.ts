/** @file The acts of an agent that is not a language model, and the type of a programmed agent (an expert). */
import type { Domain } from '../environments/types.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { NearMissKind } from '../records/scenario.ts';
import { type Habit, HABITS, type HabitShares, type Style } from '../records/dataset.ts';
import { hash32 } from '../base/random.ts';
import type { Task, ToolCall } from '../records/task.ts';

/** `note` is text that the agent writes next to the call. The customer does not hear it. */
export type Act = { say: string } | { call: ToolCall; note?: string };

export interface Expert {
  /** @param messages the conversation so far, without the system message. Tool results have role `tool`. */
  act(messages: readonly ChatMessage[]): Act;
}

export interface ExpertOptions {
  /** Default: `careful`. */
  style?: Style;
  /** Default: all. */
  habits?: ReadonlySet<Habit>;
  /** The task that is played. A demonstrator of scenario files needs it, because it follows the gold actions. */
  task?: Task;
}

export const ALL_HABITS: ReadonlySet<Habit> = new Set(HABITS);

/** Draws the habits that a demonstrator has in the conversation with this seed. */
export const drawHabits = (seed: number, style: Style, shares?: HabitShares): ReadonlySet<Habit> =>
  // Key 1 of these draws chooses the demonstrator.
  new Set(HABITS.filter((habit, i) => hash32(seed, i + 2) < (shares?.[style][habit] ?? 1) * 2 ** 32));

/** Makes an expert that serves the customers of a domain. The same options, seed and conversation give the same act. */
export type CreateExpert = (domain: Domain, seed: number, options?: ExpertOptions) => Expert;

/** An expert that makes one decision wrong on purpose. It plays one conversation. */
export interface SpoiltExpert extends Expert {
  /** The index of the wrong message among the messages that the expert gets. Null: the expert had no occasion. */
  readonly firstWrong: number | null;
}

/** Makes near-misses: conversations of the domain's demonstrator with one wrong decision. */
export interface NearMisses {
  /** The kinds that a task allows. */
  kinds(task: Task, style: Style): NearMissKind[];
  spoil(domain: Domain, seed: number, kind: NearMissKind, options: ExpertOptions): SpoiltExpert;
}

/** The first call of an agent's message, with its arguments as values. Undefined if the message has no call. */
export function callOf({ tool_calls }: ChatMessage): ToolCall | undefined {
  const made = tool_calls?.[0]?.function;
  if (!made) return undefined;
  const args: unknown = typeof made.arguments === 'string' ? JSON.parse(made.arguments) : made.arguments;
  return { name: made.name, arguments: args as ToolCall['arguments'] };
}
