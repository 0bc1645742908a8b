/**
 * @file The interfaces of simulated users. These see only the agent's messages: no tool calls, no tool results and no text
 * before a tool call.
 */
import type { Task, ToolCall, ToolSchema, UserScenario, Wish } from '../records/task.ts';
import type { UserRequest } from '../records/user.ts';

export const STOP = '###STOP###';
/**
 * Other stop words. TRANSFER: the agent has transferred the customer to a human. OUT_OF_SCOPE: the scenario does not say how
 * to continue.
 */
export const TRANSFER = '###TRANSFER###';
export const OUT_OF_SCOPE = '###OUT-OF-SCOPE###';
/** All words with which a customer can end a conversation. The rules of a conversation say which of them count. */
export const STOP_WORDS = [STOP, TRANSFER, OUT_OF_SCOPE] as const;

/** The tools of the customer (tau2-bench's dual control). */
export interface UserTools {
  schemas: readonly ToolSchema[];
  /** Makes the calls of one message, in order. @throws if the conversation has reached a limit; the session must rethrow this error */
  call(calls: ToolCall[]): Promise<{ text: string; error: boolean }[]>;
}

/** A scenario with what a session needs in addition. */
export interface ToldScenario extends UserScenario {
  /** The system prompt for a language model that plays the customer. Default: `customerPrompt`. Scripted customers ignore it. */
  prompt?: string;
  /** The domain of the task. Its scripts play the customer. Language models ignore it. */
  domain?: string;
}

/** The next act of a scripted customer: it says something, or it calls one of its tools. */
export type Move = { say: string } | { call: ToolCall };

/** One scripted customer. Its moves depend only on the scenario, the seed, the agent's messages and the results of its calls. */
export interface PlayedCustomer {
  open(): string;
  /** Returns the customer's move after a message of the agent. */
  hear(message: string): Move;
  /** Returns the next move after the result of the customer's call. Only for customers with tools. */
  result?(text: string): Move;
}

/** The scripted customers of a domain. */
export interface CustomerScripts {
  /**
   * @param options.tools the tools of the customer
   * @param options.varied whether the customer uses many wordings instead of a few, for the same facts
   */
  customer(scenario: UserScenario, seed: number, options?: { tools?: readonly ToolSchema[]; varied?: boolean }): PlayedCustomer;
  /** Reads the scenario from the system prompt of a language model. */
  read(prompt: string): UserScenario;
  /** Sentences for a visitor who plays the customer of a task. */
  suggestions?(task: Pick<Task, 'level' | 'scenario'>): string[];
}

/** Understands the messages of a domain. All searches take linear time, because messages are not trusted. */
export interface CustomerLanguage {
  /**
   * What a message of the agent says about the outcome. `claims` are the sentences in which the agent claims to have done something.
   * `open`: the agent asks if the customer wants anything else, or how to help.
   */
  listen(message: string): { claims: string; done: boolean; refused: boolean; transferred: boolean; open: boolean };
  /** Whether a text of the customer asks for an act of the kind `intent`. If `intent` is absent: for any act. */
  requests(text: string, intent?: string): boolean;
  /** Whether a text names the object of a wish. */
  names(text: string, wish: Wish): boolean;
  /** The facts that a customer's message states differently from the scenario. */
  contradictions(text: string, scenario: UserScenario): { field: string; said: string; own: readonly string[] }[];
  /** Whether a first message says who the customer is and states every fact of the first wish. */
  tellsEverything(text: string, scenario: UserScenario): boolean;
}

export interface UserSession {
  /** The customer's first message. As in tau-bench, it answers "Hi! How can I help you today?". */
  open(signal?: AbortSignal): Promise<string>;
  /** The customer's answer to the agent's message. It contains `###STOP###` if the customer ends the conversation. */
  reply(agentText: string, signal?: AbortSignal): Promise<string>;
  /** Ends the session. Absent if a session holds no resources. */
  close?(): void;
  /** The requests to a language model so far. Absent if no language model plays the customer. */
  readonly requests?: readonly UserRequest[];
}

/** A message of a conversation, for a judge. The role `instruction` is for the customer's instruction. */
export interface Utterance {
  role: 'user' | 'assistant' | 'tool' | 'instruction';
  text: string;
}

export interface UserSimulator {
  /** Prepares what every conversation needs. @throws UserError if the customers cannot play at all */
  ready?(): Promise<void>;
  /**
   * Starts a session. `seed` makes a scripted user or a model in the tab reproducible. An endpoint gets it as the `seed` of the
   * requests.
   */
  session(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession;
  /**
   * Judges for each statement whether the conversation shows that it is true. An example is tau2-bench's NL_ASSERTION. Resolves
   * to null if there is no model to ask. Requests to an endpoint are added to `requests`.
   * @throws UserError
   */
  judge?(
    statements: readonly string[],
    conversation: readonly Utterance[],
    signal?: AbortSignal,
    requests?: UserRequest[],
  ): Promise<boolean[] | null>;
  /** The name of the model that also judges the customers. Absent if they are not judged. */
  readonly customerJudge?: string | undefined;
}

/** A failure of the simulator, not of the agent. The episode is retried, and dropped after too many failures. It is never scored 0. */
export class UserError extends Error {
  override name = 'UserError';
  constructor(
    message: string,
    readonly kind: 'network' | 'timeout' | 'rate_limit' | 'server' | 'bad_response' | 'auth' | 'budget' | 'aborted',
  ) {
    super(message);
  }
}
