/** @file The choice of the simulated user. */

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
}

export type UserConfig = { mode: 'scripted' } | ({ mode: 'endpoint' } & EndpointConfig);
