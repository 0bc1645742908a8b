/** @file A trajectory: one episode as messages, with the exact tokens that the model saw and sampled. */
import type { RewardTerms } from './rewards.ts';
import type { CustomerJudgement, UserRequest } from './user.ts';
import type { RowChange, Task, ToolCall, ToolSchema, Verdict, Violation } from './task.ts';

export type TerminationReason =
  | 'user_stop' // ###STOP### in the user's reply
  | 'terminal_tool' // e.g. transfer_to_human_agents
  | 'max_turns' // max_turns, or another limit of the benchmark's rules, was reached
  | 'turn_length' // one assistant turn reached response_length_one_turn
  | 'malformed_call' // malformed_policy is 'end'
  | 'context_full' // max_model_len reached
  | 'user_error' // the user simulator failed; not scored
  | 'aborted'
  | 'unknown'; // of a conversation that another tool recorded

/**
 * One message of the graph. The `tokens` on a path from root to leaf are exactly the sequence that the model saw. An assistant
 * node has the sampled ids unchanged. The template's tokens around them belong to `template` nodes.
 */
export interface MessageNode {
  id: number;
  parent: number | null;
  role: 'system' | 'user' | 'assistant' | 'tool' | 'template';
  /** Text without the template's tokens. For an assistant node: the decoded tokens, with control tokens. */
  text: string;
  /** The part of an assistant message that the user may hear. */
  content?: string;
  /** The call of an assistant message, or the first of several. */
  toolCall?: ToolCall;
  /** All calls of an assistant message that has several. */
  toolCalls?: ToolCall[];
  /** For role `system` after the first message: tools that the agent has from here on. */
  tools?: ToolSchema[];
  /** Why a tool call could not be parsed. */
  parseError?: string;
  /** Facts of the environment's result, for role `tool`. `ms` is the duration. */
  toolResult?: { name: string; error: boolean; index: number; changes: RowChange[]; ms: number };
  /** A visitor wrote the message. */
  by?: 'person';
  tokens: number[];
  /** 1 for sampled tokens, else 0. */
  mask: number[];
  /** The sampler's log-probability of each token. Null for tokens that were not sampled. */
  logprobs: (number | null)[];
  /**
   * Numbers that the trainer added, one for each token, null if unknown. Names: advantage, ref_logprobs, entropy, ratio. One
   * group a step also has top_1_id, top_1_logprob, … top_5_logprob (before the update), delta_p (probability after the update
   * minus before), after_top_1_id and after_top_1_logprob (after the update).
   */
  annotations?: Record<string, (number | null)[]>;
}

/** A tool call of the simulated user. The agent does not see it. */
export interface UserCall {
  /** Id of the last node before the call. */
  after: number;
  call: ToolCall;
  text: string;
  error: boolean;
  /** Index in the environment's log of calls. */
  index: number;
  changes: RowChange[];
  /** The call was in the same message as the call before. */
  sameMessage?: true;
}

export interface Trajectory {
  id: string;
  task: Task;
  /** Id of the group: the rollouts of one task in one step. */
  group: string;
  /** Index in the group. */
  index: number;
  seed: number;
  /** Seed of the simulated user's phrasing. Default: `seed`. */
  userSeed?: number;
  nodes: MessageNode[];
  /** Id of the last node. */
  leaf: number;
  termination: TerminationReason;
  /** The ending in the words of the benchmark, such as tau2-bench's `termination_reason`. Absent: the benchmark has no such words. */
  ending?: string;
  userCalls?: UserCall[];
  /** The requests to a customer behind an endpoint, in order. */
  userRequests?: UserRequest[];
  customerJudgement?: CustomerJudgement;
  /** Tool results and user replies. */
  turns: number;
  /** The outcome: 1 or 0. Null if not scored (user_error, aborted). */
  reward: number | null;
  /** The reward of training by term; it is their sum. Absent: the reward is the outcome alone. */
  rewards?: RewardTerms;
  verdict: Verdict | null;
  /** Empty also where the domain is not audited: see `isAudited`. */
  violations: Violation[];
  toolCalls: Record<string, number>;
  parseErrors: number;
  /** Seconds of sampling, in tools, and waiting for the user. */
  seconds: { generate: number; tool: number; user: number };
  /** The hash chain of the tool calls, see `src/agent/audit-log.ts`. Conversations of other tools lack it. */
  audit?: {
    /** The weights that played the agent, such as `step 12`; empty if they are not known. */
    policy: string;
    /** SHA-256 in hex, one a call, in the order of the calls. */
    hashes: string[];
  };
  error?: string;
}
