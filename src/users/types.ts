/** @file Simulated users. They see the agent's messages only: no tool calls, tool results or text before a tool call. */
import type { Task, ToolCall, ToolSchema, UserScenario, Wish } from '../records/task.ts';
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
  /** The domain of the task, whose scripts play the customer. Language models ignore it. */
  domain?: string;
}

/** What a scripted customer does next: it says something, or it uses a tool of its own. */
export type Move = { say: string } | { call: ToolCall };

/** One scripted customer. Its moves depend on the scenario, the seed, the agent's messages and the results of its own calls only. */
export interface PlayedCustomer {
  open(): string;
  /** The answer to a message of the agent. */
  hear(message: string): Move;
  /** The next move after the result of the customer's call. Only of customers with tools. */
  result?(text: string): Move;
}

/** The scripted customers of a domain. */
export interface CustomerScripts {
  /**
   * @param options.tools the customer's own tools
   * @param options.varied in many wordings instead of a few; the same facts
   */
  customer(scenario: UserScenario, seed: number, options?: { tools?: readonly ToolSchema[]; varied?: boolean }): PlayedCustomer;
  /** The scenario in the system prompt of a language model. */
  read(prompt: string): UserScenario;
  /** Sentences that a visitor who plays the customer of a task may say. */
  suggestions?(task: Pick<Task, 'level' | 'scenario'>): string[];
}

/** How messages of a domain are understood. All searches take linear time, because messages are not trusted. */
export interface CustomerLanguage {
  /** What a message of the agent says about the outcome. `claims`: the sentences that claim to have done something. */
  listen(message: string): { claims: string; done: boolean; refused: boolean; transferred: boolean };
  /** Whether a customer's text asks for an act of this kind; without a kind, for any act. */
  requests(text: string, intent?: string): boolean;
  /** Whether a text names the thing that a wish is about. */
  names(text: string, wish: Wish): boolean;
  /** What a customer's message says otherwise than the scenario. */
  contradictions(text: string, scenario: UserScenario): { field: string; said: string; own: readonly string[] }[];
  /** Whether a first message tells who the customer is and every fact of the first wish. */
  tellsEverything(text: string, scenario: UserScenario): boolean;
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
