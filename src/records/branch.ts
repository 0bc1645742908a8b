/** @file A branch: a conversation that a visitor continued or played. */
import type { Conversation } from './conversation.ts';
import type { Trajectory } from './trajectory.ts';

/** What the rollouts of one estimate of success have in common, and the random stream of each. */
export interface EstimateKey {
  /** The weights, as an address names them: a model, or `run@step`. */
  weights: string;
  /** `scripted`, or the language model that played the customer. */
  customer: string;
  stream: number;
}

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
  /** Set if the branch counts for an estimate: it begins with the first `shared` messages of `origin`, and the model sampled the rest. */
  estimate?: EstimateKey;
  /** Set if the branch is in the training set: its chat-JSONL line. */
  conversation?: Conversation;
}
