import type { ChatFormat } from './chat-template.ts';

/** A tokenizer from a model folder. */
export interface Tokenizer {
  encode(text: string): number[];
  decode(tokens: ArrayLike<number>): string;
  /** The id of a token such as `<|im_end|>`. @throws if the vocabulary has no such token */
  id(token: string): number;
  /** Whether the vocabulary has the token. */
  has(token: string): boolean;
  readonly vocabSize: number;
  /** How the conversations of the model are written. */
  readonly format: ChatFormat;
}
