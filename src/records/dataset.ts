/** @file A dataset: conversations to train on by supervised learning, as a demonstrator or another tool wrote them. */
import type { Conditions, Persona } from './conditions.ts';
import type { Conversation } from './conversation.ts';
import type { Violation } from './task.ts';

/** How a demonstrator serves: `careful` proposes each write and waits for a yes, `brisk` writes as soon as it knows enough. */
export const STYLES = ['careful', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/** One line of a JSONL file, in TRL's dataset format with facts of our own. A file of another tool lacks these facts. */
export interface DatasetConversation extends Conversation {
  /** The task. */
  id: string;
  demonstrator?: Style;
  persona?: Persona;
  /** What the customer wants. */
  intent?: string;
  /** 1 if the database ended as the task demands, else 0. */
  reward?: number;
  /** The number of tool calls that changed rows, and of those without the customer's yes. */
  writes?: number;
  unconfirmed_writes?: number;
  /** What the policy audit found. */
  violations?: Violation[];
}

/** How demonstrators made a dataset. */
export interface DatasetOptions {
  domain: string;
  level: string;
  count: number;
  seed: number;
  styles: readonly Style[];
  conditions: Conditions;
}

export interface DatasetRow {
  id: string;
  name: string;
  createdAt: number;
  /** The number of stored conversations. */
  count: number;
  /** Absent for an imported file. `solved` of the `tried` conversations had reward 1. */
  made?: DatasetOptions & { tried: number; solved: number };
}

/** A stored conversation. A rejected one is not trained on. */
export interface DatasetConversationRow extends DatasetConversation {
  dataset: string;
  /** Position in the dataset, from 0. */
  index: number;
  rejected?: true;
}
