/** @file How many tokens a conversation has, before a model has played one. */
import { knowsEnglish } from '../training/pretrained.ts';

export interface ConversationTokens {
  /** The policy and the tools. */
  prompt: number;
  /** All tokens after the prompt. */
  after: number;
  /** Those of `after` that the model samples. */
  sampled: number;
}

type Family = 'own' | 'smollm2' | 'qwen';

/**
 * The means of 128 demonstrated conversations at the levels of retail (`scripts/conversation-lengths.mts`): with the tokenizers of the
 * bundled model of the level (at `full`, of nano-retail), of SmolLM2 and of Qwen2.5.
 */
const MEASURED: Readonly<Record<string, Record<Family, ConversationTokens>>> = {
  glimpse: {
    own: { prompt: 124, after: 157, sampled: 49 },
    smollm2: { prompt: 116, after: 213, sampled: 90 },
    qwen: { prompt: 258, after: 189, sampled: 75 },
  },
  nano: {
    own: { prompt: 215, after: 403, sampled: 106 },
    smollm2: { prompt: 260, after: 711, sampled: 256 },
    qwen: { prompt: 623, after: 602, sampled: 199 },
  },
  small: {
    own: { prompt: 409, after: 608, sampled: 180 },
    smollm2: { prompt: 617, after: 1062, sampled: 400 },
    qwen: { prompt: 1292, after: 924, sampled: 326 },
  },
  full: {
    own: { prompt: 3399, after: 1937, sampled: 230 },
    smollm2: { prompt: 1523, after: 2328, sampled: 407 },
    qwen: { prompt: 2975, after: 2130, sampled: 331 },
  },
};

/** Shares of the longest conversation that a run allows, for tasks that were not measured. */
const SHARES: ConversationTokens = { prompt: 0.25, after: 0.35, sampled: 0.1 };

/** Only the size of its vocabulary tells a tokenizer before it is here. */
const familyOf = (vocab_size: number): Family => (!knowsEnglish({ vocab_size }) ? 'own' : vocab_size < 100_000 ? 'smollm2' : 'qwen');

/** @param vocabulary the number of tokens that the model knows */
export function conversationTokens(
  { domain, level, max_model_len: most }: { domain: string; level: string; max_model_len: number },
  vocabulary: number,
): ConversationTokens {
  const measured = domain === 'retail' ? MEASURED[level]?.[familyOf(vocabulary)] : undefined;
  return measured ?? { prompt: SHARES.prompt * most, after: SHARES.after * most, sampled: SHARES.sampled * most };
}
