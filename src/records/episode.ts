/** @file Settings of an episode, as runs and evaluations store them. */

/**
 * What happens after a malformed tool call. `end`: the episode ends (MUA-RL). `feedback`: the agent gets the error as a tool result
 * (default). `as_text`: the user gets the text as a message.
 */
export type MalformedPolicy = 'end' | 'feedback' | 'as_text';

export interface EpisodeLimits {
  /** Maximum number of tool results and user replies together, as MUA-RL counts turns. */
  max_turns: number;
  /** Maximum number of sampled tokens in one turn. */
  response_length_one_turn: number;
  /** Maximum number of tokens in the whole sequence. */
  max_model_len: number;
  malformed_policy: MalformedPolicy;
  /** If true, the reward is 0 unless the user, the agent or a terminal tool ended the conversation. MUA-RL has false. */
  require_done: boolean;
  /** Qwen3's `enable_thinking`. If true, a turn begins with thoughts, which the customer does not see. Absent: false, as in MUA-RL. */
  enable_thinking?: boolean;
}

export interface Sampling {
  temperature: number;
  top_p: number;
  top_k: number;
}

/** Which rules a conversation follows. `domain`: the rules of the domain's benchmark. `mua_rl`: MUA-RL's rules. */
export type ConversationRules = 'domain' | 'mua_rl';
