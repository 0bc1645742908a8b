/** The agent's conversation: messages with the exact tokens the model saw and sampled. */
import type { RowChange, Task, ToolCall, Verdict, Violation } from '../environments/types.ts';
import type { Tau2Ending } from './rules.ts';

export type TerminationReason =
  | 'user_stop' // ###STOP### in the user's reply
  | 'terminal_tool' // e.g. transfer_to_human_agents
  | 'max_turns' // or another limit of the benchmark's rules
  | 'turn_length' // one assistant turn reached response_length_one_turn
  | 'malformed_call' // malformed_policy 'end'
  | 'context_full' // max_model_len reached
  | 'user_error' // the simulator failed: not scored
  | 'aborted';

/**
 * `end`: a malformed tool call ends the episode (MUA-RL). `feedback`: the error is fed back as a tool result (default).
 * `as_text`: the text is spoken to the user.
 */
export type MalformedPolicy = 'end' | 'feedback' | 'as_text';

export interface EpisodeLimits {
  /** Tool executions + user replies (MUA-RL's counter). */
  max_turns: number;
  /** New tokens in one assistant turn. */
  response_length_one_turn: number;
  /** Tokens of the whole sequence. */
  max_model_len: number;
  malformed_policy: MalformedPolicy;
  /** Reward needs `user_stop` or `terminal_tool`. MUA-RL: false. */
  require_done: boolean;
}

export interface Sampling {
  temperature: number;
  top_p: number;
  top_k: number;
}

/**
 * One message of the graph. A root-to-leaf path, its `tokens` concatenated, is exactly what the model saw.
 * An assistant node's tokens are the sampled ids, verbatim; the template's scaffold around them belongs to other nodes.
 */
export interface MessageNode {
  id: number;
  parent: number | null;
  role: 'system' | 'user' | 'assistant' | 'tool' | 'template';
  /** Text without scaffold; for an assistant node the decoded tokens, control tokens included. */
  text: string;
  /** Spoken part of an assistant message, and its parsed call. */
  content?: string;
  toolCall?: ToolCall;
  /** Why a tool call could not be parsed. */
  parseError?: string;
  /** For role `tool`: what the environment answered. */
  toolResult?: { name: string; error: boolean; index: number; changes: RowChange[]; ms: number };
  /** A visitor wrote it, neither the model nor a simulated user. */
  by?: 'person';
  tokens: number[];
  /** 1 exactly on sampled tokens. */
  mask: number[];
  /** Sampler's log-probability of each token; null where not sampled. */
  logprobs: (number | null)[];
  /**
   * What the trainer learnt later, aligned to tokens; null where unknown. Names: advantage, ref_logprobs, entropy, ratio; for
   * one group a step also delta_p (probability after the update minus before) and top_1_id, top_1_logprob, … top_5_logprob.
   */
  annotations?: Record<string, (number | null)[]>;
}

export interface UserCall {
  /** The last node of the agent's conversation at that time. */
  after: number;
  call: ToolCall;
  text: string;
  error: boolean;
  /** Place in the episode's log. */
  index: number;
  changes: RowChange[];
  /** Made in one message with the call before. */
  sameMessage?: true;
}

export interface Trajectory {
  id: string;
  task: Task;
  /** Group of rollouts of one task at one step, and the place in it. */
  group: string;
  index: number;
  seed: number;
  /** Seed of the simulated user's phrasing. */
  userSeed?: number;
  nodes: MessageNode[];
  /** The leaf this trajectory ends in. */
  leaf: number;
  termination: TerminationReason;
  /** The same in tau2-bench's words, under its rules. */
  ending?: Tau2Ending;
  /** Calls that the simulated user made by itself: the agent saw none of them. */
  userCalls?: UserCall[];
  /** Tool executions + user replies. */
  turns: number;
  /** null: not scored (user_error, aborted). */
  reward: number | null;
  verdict: Verdict | null;
  violations: Violation[];
  toolCalls: Record<string, number>;
  parseErrors: number;
  /** Seconds spent generating, in tools, waiting for the user. */
  seconds: { generate: number; tool: number; user: number };
  error?: string;
}

/** A tokenizer with its chat template, loaded from a model folder. */
export interface Tokenizer {
  encode(text: string): number[];
  decode(tokens: ArrayLike<number>): string;
  /** Id of a token text such as `<|im_end|>`. @throws if it is not one token. */
  id(token: string): number;
  readonly vocabSize: number;
}
