/** @file A branch: a conversation that a visitor continued or played. */
import type { Conversation } from './conversation.ts';
import type { Trajectory } from './trajectory.ts';

/** Identifies the rollouts of one estimate of success: `weights` and `customer` are the same in all of them, `stream` differs. */
export interface EstimateKey {
  /** The weights, as a URL of the page names them: a model, or `run@step`. */
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
  /** An id that branches of one continuation share. Empty for a branch that a visitor played. */
  batch: string;
  /** The weights that played the agent's turns, except the turns that a visitor wrote. */
  model: string;
  /** `termination` is `aborted` if the conversation is not finished. */
  trajectory: Trajectory;
  /**
   * Set if the branch counts for an estimate of success. Such a branch begins with the first `shared` messages of `origin`, and the model
   * sampled the rest.
   */
  estimate?: EstimateKey;
  /** The branch's line of chat JSONL. Set if the branch is in the training set. */
  conversation?: Conversation;
}
