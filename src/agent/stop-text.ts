/**
 * @file Stops sampling at a text that is no token of the vocabulary. The token that completes the text is the last one that is sampled
 * and trained on. It may hold more text, for example `></`: the token stays whole, so that sampler and trainer see the same
 * tokens, and the text after the end tag is ignored when the turn is parsed.
 */
import type { Tokenizer } from './types.ts';

/** Says whether `text` ends in the last of the tokens, if it is in no tokens before. A token has at least one byte. */
export function endsWithText(tokenizer: Pick<Tokenizer, 'decode'>, text: string): (tokens: readonly number[]) => boolean {
  const most = new TextEncoder().encode(text).length;
  return (tokens) => tokenizer.decode(tokens.slice(-most)).includes(text);
}
