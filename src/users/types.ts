/** @file Simulated users. They see the agent's messages only: no tool calls, tool results or text before a tool call. */
import type { ToolCall, ToolSchema, UserScenario } from '../records/task.ts';
import type { UserRequest } from '../records/user.ts';

export const STOP = '###STOP###';
/** Further stop words: the agent has handed over; the scenario does not say how to go on. */
export const TRANSFER = '###TRANSFER###';
export const OUT_OF_SCOPE = '###OUT-OF-SCOPE###';
/** All words with which a customer ends a conversation. The rules of a conversation say which of them count. */
export const STOP_WORDS = [STOP, TRANSFER, OUT_OF_SCOPE] as const;

/** The customer's own tools (tau2-bench's dual control). */
export interface UserTools {
  schemas: readonly ToolSchema[];
  /** Makes the calls of one message in order. @throws if the conversation has reached a limit; the session must rethrow this error */
  call(calls: ToolCall[]): Promise<{ text: string; error: boolean }[]>;
}

/** A scenario as a session gets it. */
export interface ToldScenario extends UserScenario {
  /** The system prompt of a language model that plays the customer. Default: `customerPrompt`. Customers by rules ignore it. */
  prompt?: string;
}

export interface UserSession {
  /** The customer's first message, which answers "Hi! How can I help you today?" as in tau-bench. */
  open(signal?: AbortSignal): Promise<string>;
  /** The customer's answer to the agent's message. It contains `###STOP###` if the conversation is over. */
  reply(agentText: string, signal?: AbortSignal): Promise<string>;
  /** Ends the session. A session that holds no resources lacks this method. */
  close?(): void;
  /** The requests to a language model so far. Absent for other customers. */
  readonly requests?: readonly UserRequest[];
}

/** A message of a conversation, for a judge; `instruction` is the customer's. */
export interface Utterance {
  role: 'user' | 'assistant' | 'tool' | 'instruction';
  text: string;
}

export interface UserSimulator {
  /** Makes ready what every conversation needs. @throws UserError if the customers cannot play at all */
  ready?(): Promise<void>;
  /** `seed` makes a scripted user and a model in the tab reproducible. An endpoint sends it as the request's `seed`. */
  session(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession;
  /**
   * Whether the conversation shows that each statement about it is true, such as tau2-bench's NL_ASSERTION. Resolves to
   * null if there is no model to ask. Requests to an endpoint are added to `requests`. @throws UserError
   */
  judge?(
    statements: readonly string[],
    conversation: readonly Utterance[],
    signal?: AbortSignal,
    requests?: UserRequest[],
  ): Promise<boolean[] | null>;
  /** The model that also judges the customers, if that is wanted. */
  readonly customerJudge?: string | undefined;
}

/** A failure of the simulator, not of the agent: the episode is retried, then dropped. It is never scored 0. */
export class UserError extends Error {
  override name = 'UserError';
  constructor(
    message: string,
    readonly kind: 'network' | 'timeout' | 'rate_limit' | 'server' | 'bad_response' | 'auth' | 'aborted',
  ) {
    super(message);
  }
}
