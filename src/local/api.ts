/** @file The worker that runs a text-generation model: its interface, and the requests to it. */
import type { LocalConfig } from '../records/user.ts';
import type { LocalErrorKind } from './local-error.ts';

export interface ChatCall {
  type: 'function';
  function: { name: string; arguments: unknown };
}

/** A message as chat templates read it. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: ChatCall[] }
  | { role: 'tool'; content: string };

export interface Generation {
  /** Its next request goes on from the keys and values of this one. */
  conversation: string;
  messages: ChatMessage[];
  /** Schemas of functions, as OpenAI's. Empty: no tools. */
  tools: readonly object[];
  maxTokens: number;
  /** 0: the most likely token; null: as the model's generation_config.json says. */
  temperature: number | null;
  /** The same seed gives the same words. */
  seed: number;
}

export interface Generated {
  /** The text has the marks of tool calls, and no tokens that end a message. */
  text: string;
  /** It reached `maxTokens`. */
  isCut: boolean;
  promptTokens: number;
  tokens: number;
}

/** Errors lose their fields between workers, so a failure is sent as a value. `isFatal`: the worker cannot be used further. */
export type Outcome<T> = { value: T } | { failure: { kind: LocalErrorKind; message: string; isFatal: boolean } };

/** A request begins only after the answer to the request before it. */
export interface LocalModelWorker {
  /** Loads a model in place of the one before. A model of the Hub that this browser lacks is downloaded. */
  load(config: LocalConfig): Promise<Outcome<null>>;
  generate(request: Generation): Promise<Outcome<Generated>>;
  /** Ends the generation under way after its next token, with the failure `cancelled`. */
  stop(): Promise<void>;
}
