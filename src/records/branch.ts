/** @file A branch: a conversation that a visitor continued or played. */
import type { Conversation } from './conversation.ts';
import type { Trajectory } from './trajectory.ts';

/** A conversation that a visitor played, or one of several conversations that the model continued from the same message. */
export interface BranchRow {
  id: string;
  createdAt: number;
  /** The conversation that this branch continues, as `origin.ts` writes it. `task:<id>` if the branch started with the task. */
  origin: string;
  /** Number of messages that the branch shares with `origin`. */
  shared: number;
  /** Equal for branches that were continued together. Empty for a branch that a visitor played. */
  batch: string;
  /** The weights that played the agent's turns, except turns of a visitor. */
  model: string;
  /** `termination` is `aborted` if the conversation is not finished. */
  trajectory: Trajectory;
  /** Set if the branch is in the training set: its chat-JSONL line. */
  conversation?: Conversation;
}
