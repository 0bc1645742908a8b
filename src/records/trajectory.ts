/** @file A trajectory: one episode as messages, with the exact tokens that the model saw and sampled. */
import type { ForeignFacts } from './foreign.ts';
import type { Judged, RewardTerms } from './rewards.ts';
import type { CustomerJudgement, UserRequest } from './user.ts';
import type { RowChange, Task, ToolCall, ToolSchema, Verdict, Violation } from './task.ts';

export type TerminationReason =
  | 'user_stop' // ###STOP### in the user's reply
  | 'terminal_tool' // e.g. transfer_to_human_agents
  | 'agent_stop' // the agent wrote a stop word of the benchmark
  | 'max_turns' // max_turns, or another limit of the benchmark's rules, was reached
  | 'turn_length' // one assistant turn reached response_length_one_turn
  | 'malformed_call' // malformed_policy is 'end'
  | 'context_full' // max_model_len reached
  | 'user_error' // the user simulator failed, so the episode is not scored
  | 'agent_error' // the server of the agent failed, so the episode is not scored
  | 'tool_error' // the simulator of a tool failed, so the episode is not scored
  | 'aborted'
  | 'unknown'; // another tool recorded the conversation

/**
 * One message of the tree. The `tokens` of the nodes on the path from root to leaf are exactly the sequence that the model saw. An
 * assistant node has only the sampled token ids. The chat template's tokens around them belong to `template` nodes.
 */
export interface MessageNode {
  id: number;
  parent: number | null;
  role: 'system' | 'user' | 'assistant' | 'tool' | 'template';
  /** The text without the template's tokens. For an assistant node, the decoded sampled tokens, including control tokens. */
  text: string;
  /** The part of an assistant message that the user can see. */
  content?: string;
  /** The tool call of an assistant message, or the first of several. */
  toolCall?: ToolCall;
  /** All tool calls of an assistant message, if it has more than one. */
  toolCalls?: ToolCall[];
  /** In a later message of role `system`: tools that the agent gets at this point. */
  tools?: ToolSchema[];
  /** The ids of the tool calls, if the agent's server gave them ids. */
  callIds?: string[];
  /** The thoughts of an agent behind a server. The thoughts of our own models are in `text`. */
  thoughts?: string;
  /** The reason why a tool call could not be parsed. */
  parseError?: string;
  /** Facts about the tool's result, for role `tool`. `ms` is the duration of the call. */
  toolResult?: { name: string; error: boolean; index: number; changes: RowChange[]; ms: number };
  /** Set if a visitor wrote the message. */
  by?: 'person' | 'guard';
  tokens: number[];
  /** 1 for sampled tokens, else 0. */
  mask: number[];
  /** The sampler's log-probability of each token. Null for tokens that were not sampled. */
  logprobs: (number | null)[];
  /**
   * Numbers that the trainer added: name → one number for each token, null if it is not known. The names are advantage, ref_logprobs,
   * entropy and ratio. One group in each step also has top_1_id, top_1_logprob, … top_5_logprob (before the update), after_top_1_id and
   * after_top_1_logprob (after the update), and delta_p (the probability after the update minus the one before).
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
  /** Index of this call in the environment's log of calls. */
  index: number;
  changes: RowChange[];
  /** True if the call was in the same message as the call before it. */
  sameMessage?: true;
}

/** Of `of` values in the arguments of the agent's calls, `found` stand in the conversation before the call. */
export interface CopiedArguments {
  found: number;
  of: number;
}

export interface Trajectory {
  id: string;
  task: Task;
  /** Id of the group. A group is the rollouts of one task in one step. */
  group: string;
  /** Index in the group. */
  index: number;
  seed: number;
  /** Random seed for the simulated user's words. Default: `seed`. */
  userSeed?: number;
  nodes: MessageNode[];
  /** Id of the last node. */
  leaf: number;
  termination: TerminationReason;
  /** The name of the benchmark or of another tool for the ending, such as tau2-bench's `termination_reason`. Absent if it has none. */
  ending?: string;
  userCalls?: UserCall[];
  /** The requests to a customer behind an endpoint, in order. */
  userRequests?: UserRequest[];
  /** The requests to the model of an agent behind a server, in order. */
  agentRequests?: UserRequest[];
  customerJudgement?: CustomerJudgement;
  /** Number of tool results and user replies. */
  turns: number;
  /** The outcome: 1 or 0. Null if not scored (user_error, agent_error, tool_error, aborted, a judge that failed, another tool that does not say it). */
  reward: number | null;
  /** The terms of the training reward, which is their sum. Absent: the training reward is the outcome, or `foreign.reward`. */
  rewards?: RewardTerms;
  /** Set if another tool recorded the conversation. */
  foreign?: ForeignFacts;
  /** Present if a judge compared the answers of the group. */
  judged?: Judged;
  verdict: Verdict | null;
  /** Violations that the audit found. The list is also empty if the domain is not audited: see `isAudited`. */
  violations: Violation[];
  toolCalls: Record<string, number>;
  parseErrors: number;
  /** Absent in conversations of earlier versions and of other tools. */
  copied?: CopiedArguments;
  /** Seconds of sampling, of tool calls, and of waiting for the user. */
  seconds: { generate: number; tool: number; user: number };
  /** The hash chain of the tool calls, see `src/agent/audit-log.ts`. Conversations of other tools lack it. */
  audit?: {
    /** The weights that played the agent, such as `step 12`. Empty if the weights are not known. */
    policy: string;
    /** SHA-256 hashes in hex, one for each call, in the order of the calls. */
    hashes: string[];
  };
  error?: string;
}
