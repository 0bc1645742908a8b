/** @file The choice of the simulated user, and the faults that an audit can find in its messages. */

export interface EndpointConfig {
  /** e.g. `http://localhost:11434/v1`. */
  baseUrl: string;
  model: string;
  /** The model that judges statements about a conversation. Default: `model`. */
  judgeModel?: string;
  /** Kept in memory only. Never stored, logged or exported. */
  apiKey?: string;
  temperature?: number;
  /** Of one message, thoughts included; default 4096. */
  maxTokens?: number;
  timeoutMs?: number;
  maxRetries?: number;
  concurrency?: number;
  /** Per million tokens, in any one unit of money. */
  promptPrice?: number;
  completionPrice?: number;
  /** A run pauses before the next step when the customer has cost this much, in the unit of the prices. */
  budget?: number;
}

/** One request to an endpoint. */
export interface UserRequest {
  /** Until the answer; null if none came. */
  seconds: number | null;
  /** Tokens as the server reports them; null if it does not. */
  prompt: number | null;
  completion: number | null;
  /** It repeats a request that failed. */
  retry: boolean;
}

export type UserConfig = { mode: 'scripted' } | ({ mode: 'endpoint' } & EndpointConfig);

export const CUSTOMER_FAULTS = [
  'ended_too_early',
  'never_ended',
  'invented_fact',
  'contradicted',
  'told_everything',
  'spoke_as_agent',
  'leaked_instruction',
  'empty_answer',
  'cut_answer',
] as const;
/** What a simulated customer can do wrong. `src/users/audit.ts` says how each fault is found. */
export type CustomerFaultKind = (typeof CUSTOMER_FAULTS)[number];

export interface CustomerFault {
  kind: CustomerFaultKind;
  /** Id of the message. */
  message: number;
  /** The evidence, as a sentence. */
  detail: string;
}
