/** A tokenizer from a model folder. */
export interface Tokenizer {
  encode(text: string): number[];
  decode(tokens: ArrayLike<number>): string;
  /** The id of a token such as `<|im_end|>`. @throws if the vocabulary has no such token */
  id(token: string): number;
  readonly vocabSize: number;
}
