/** @file A dataset: conversations for supervised fine-tuning. A demonstrator or another tool wrote them. */
import type { Conditions, Persona } from './conditions.ts';
import type { Conversation } from './conversation.ts';
import type { Grades } from './grades.ts';
import type { NearMiss } from './scenario.ts';
import type { ToolSchema, Violation } from './task.ts';

/** How a demonstrator works: `careful` proposes each write and waits for a yes, `brisk` writes as soon as it knows enough. */
export const STYLES = ['careful', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/**
 * What a demonstrator does in some of its conversations or in all. `calls_again`: after the timeout of a write it calls the tool again, else it
 * claims success. It always repeats a read. `offers_more`: after a request it asks whether there is anything else.
 */
export const HABITS = ['calls_again', 'offers_more'] as const;
export type Habit = (typeof HABITS)[number];
/** For each style: the share of conversations with the habit, 0 to 1. */
export type HabitShares = Record<Style, Record<Habit, number>>;

/** One line of a JSONL file in TRL's dataset format, with additional fields. Files of other tools lack the additional fields. */
export interface DatasetConversation extends Conversation {
  /** The id of the task. */
  id: string;
  demonstrator?: Style;
  persona?: Persona;
  /** What the customer wants. */
  intent?: string;
  /** 1 if the database ended as the task demands, else 0. */
  reward?: number;
  /** `writes` is the number of tool calls that changed rows. For `unconfirmed_writes` of them the customer had not said yes. */
  writes?: number;
  unconfirmed_writes?: number;
  /** The violations that the policy audit found. */
  violations?: Violation[];
  /** What `mua grade` found. */
  grades?: Grades;
  /** Present if the conversation was spoilt on purpose. Training skips it. */
  near_miss?: NearMiss;
}

/** One line of the JSONL file of a demonstrator, with all its fields. */
export interface SynthesizedConversation
  extends Required<Omit<DatasetConversation, 'grades' | 'near_miss'>>, Pick<DatasetConversation, 'near_miss'> {
  tools: ToolSchema[];
}

/** How demonstrators made a dataset. */
export interface DatasetOptions {
  domain: string;
  level: string;
  count: number;
  seed: number;
  styles: readonly Style[];
  conditions: Conditions;
  /** Absent: all habits in all conversations. */
  habits?: HabitShares;
}

export interface DatasetRow {
  id: string;
  name: string;
  createdAt: number;
  /** The number of stored conversations. */
  count: number;
  /** How the dataset was made; absent for an imported file. Of `tried` conversations, `solved` had reward 1. */
  made?: DatasetOptions & { tried: number; solved: number };
  /** What an imported file has that was left out or read differently. Absent: nothing. */
  notes?: string[];
}

/** A stored conversation of a dataset. Training skips rejected conversations. */
export interface DatasetConversationRow extends DatasetConversation {
  dataset: string;
  /** Position in the dataset, from 0. */
  index: number;
  rejected?: true;
}
