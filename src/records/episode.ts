/** @file Settings of an episode, as runs and evaluations store them. */

/**
 * What a malformed tool call does. `end`: the episode ends (MUA-RL). `feedback`: the error is sent back as a tool result
 * (default). `as_text`: the text is said to the user.
 */
export type MalformedPolicy = 'end' | 'feedback' | 'as_text';

export interface EpisodeLimits {
  /** Tool results and user replies (MUA-RL's counter). */
  max_turns: number;
  /** Sampled tokens of one turn. */
  response_length_one_turn: number;
  /** Tokens of the whole sequence. */
  max_model_len: number;
  malformed_policy: MalformedPolicy;
  /** The reward is 0 unless the termination is `user_stop` or `terminal_tool`. MUA-RL: false. */
  require_done: boolean;
  /** Qwen3's `enable_thinking`: a turn begins with thoughts, which the customer does not hear. Absent: false, as in MUA-RL. */
  enable_thinking?: boolean;
}

export interface Sampling {
  temperature: number;
  top_p: number;
  top_k: number;
}

/** The rules of a conversation. `domain`: the rules of the domain's benchmark. `mua_rl`: MUA-RL's rules. */
export type ConversationRules = 'domain' | 'mua_rl';
