/** The text before a message, and the text after it. */
export type Frame = readonly [before: string, after: string];

/** How the conversations of a model are written. */
export interface ChatFormat {
  /** Around a system message at the start of the conversation. */
  first: Frame;
  /** The text at the start of a conversation that has no system message. */
  bare: string;
  /** Around a later system message. Null if the template has none. */
  system: Frame | null;
  user: Frame;
  /** Around a turn of the agent. The text after it begins with `end`. */
  agent: Frame;
  /** The token that ends a turn of the agent. */
  end: string;
  /** Whether the model knows think blocks. */
  thinks: boolean;
  /** Whether the template removes white space around a message. */
  trims: boolean;
  /**
   * Whether tools, calls and results are written in few tokens, for a model that has no format of its own for them. Otherwise they are
   * written as in Qwen3's template.
   */
  compact: boolean;
  /** The control tokens. In a message, a policy or a tool they are only text. */
  control: readonly string[];
}

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
