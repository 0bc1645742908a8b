/** Simulated users. They see only what the agent says aloud: never tool calls, tool results or its private text. */
import type { ToolCall, ToolSchema, UserScenario } from '../environments/types.ts';

export const STOP = '###STOP###';
/** tau2-bench's other ways to end: the agent has handed over; the scenario does not say how to go on. */
export const TRANSFER = '###TRANSFER###';
export const OUT_OF_SCOPE = '###OUT-OF-SCOPE###';
/** All that ends a conversation under tau2-bench's rules; elsewhere STOP alone does. */
export const TAU2_STOPS = [STOP, TRANSFER, OUT_OF_SCOPE] as const;

/** What the customer can do without the agent (tau2-bench's dual control). */
export interface UserTools {
  schemas: readonly ToolSchema[];
  /** Runs the calls of one message in order. @throws when the conversation has reached a limit: the session is to pass it on */
  call(calls: ToolCall[]): Promise<{ text: string; error: boolean }[]>;
}

export interface UserSession {
  /** The customer's first message (tau-bench: the answer to "Hi! How can I help you today?"). */
  open(signal?: AbortSignal): Promise<string>;
  /** The customer's answer to what the agent said; contains `###STOP###` when the conversation is over. */
  reply(agentText: string, signal?: AbortSignal): Promise<string>;
  /** Nothing more will be said. Sessions that hold nothing outside of themselves have none. */
  close?(): void;
}

/** A message of a conversation as a judge reads it. */
export interface Utterance {
  role: 'user' | 'assistant' | 'tool';
  text: string;
}

export interface UserSimulator {
  /** `seed` makes a scripted user reproducible; an endpoint passes it on as the request's `seed`. */
  session(scenario: UserScenario, seed: number, tools?: UserTools): UserSession;
  /**
   * Says of each statement whether the conversation shows it to be true of the agent (tau2-bench's NL_ASSERTION); null
   * where there is no model to ask. @throws UserError
   */
  judge?(statements: readonly string[], conversation: readonly Utterance[], signal?: AbortSignal): Promise<boolean[] | null>;
}

/** A failure of the simulator, never of the agent: the episode is retried, then dropped, never scored 0. */
export class UserError extends Error {
  override name = 'UserError';
  constructor(message: string, readonly kind: 'network' | 'timeout' | 'rate_limit' | 'server' | 'bad_response' | 'auth' | 'aborted') {
    super(message);
  }
}

export interface EndpointConfig {
  /** e.g. `http://localhost:11434/v1`. */
  baseUrl: string;
  model: string;
  /** Judges statements about a conversation; default `model`. */
  judgeModel?: string;
  /** Kept in memory only; never stored, logged or exported. */
  apiKey?: string;
  temperature?: number;
  maxTokens?: number;
  timeoutMs?: number;
  maxRetries?: number;
  concurrency?: number;
}

export type UserConfig = { mode: 'scripted' } | ({ mode: 'endpoint' } & EndpointConfig);
