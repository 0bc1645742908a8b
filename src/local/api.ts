/** @file The interface of the worker that runs a text-generation model, and the requests to this worker. */
import type { LocalConfig } from '../records/user.ts';
import type { LocalErrorKind } from './local-error.ts';

export interface ChatCall {
  /** The templates of some models, such as Mistral's, need it. */
  id: string;
  type: 'function';
  function: { name: string; arguments: unknown };
}

/** A message in the form that chat templates read. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: ChatCall[] }
  | { role: 'tool'; content: string; tool_call_id: string };

export interface Generation {
  /** The id of the conversation. A later request with the same id reuses the KV cache of this one. */
  conversation: string;
  messages: ChatMessage[];
  /** Function schemas, as in OpenAI's API. Empty means no tools. */
  tools: readonly object[];
  /** Whether the chat template asks the model to think first. Default: false. */
  thinks?: boolean;
  maxTokens: number;
  /** 0 always takes the most likely token. Null takes the value in the model's generation_config.json. */
  temperature: number | null;
  /** The same seed gives the same words. */
  seed: number;
}

export interface Generated {
  /** The generated text, with the markup of tool calls, but without the token that ends the message. */
  text: string;
  /** True if the text ends because it reached `maxTokens`. */
  isCut: boolean;
  promptTokens: number;
  tokens: number;
}

/**
 * The result of a call. A failure is sent as a value, because errors lose their fields between workers. If `isFatal` is true, the worker
 * cannot be used any more.
 */
export type Outcome<T> = { value: T } | { failure: { kind: LocalErrorKind; message: string; isFatal: boolean } };

/** The worker's methods. Start a request only after the previous one was answered. */
export interface LocalModelWorker {
  /**
   * Loads a model, which replaces the one before. If a model from the Hub is not stored in this browser, it is downloaded.
   * @param onDownload gets the bytes of a download that have arrived so far, and the bytes of all files
   */
  load(config: LocalConfig, onDownload?: (loaded: number, total: number) => void): Promise<Outcome<null>>;
  generate(request: Generation): Promise<Outcome<Generated>>;
  /** Ends the current generation after its next token. Its result is the failure `cancelled`. */
  stop(): Promise<void>;
}
