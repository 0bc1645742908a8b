/** @file The choice of the simulated user, and the faults that an audit can find in its messages. */

export interface EndpointConfig {
  /** e.g. `http://localhost:11434/v1`. */
  baseUrl: string;
  model: string;
  /** The model that judges statements about a conversation. Default: `model`. */
  judgeModel?: string;
  /** The judge also looks for the customer's faults that rules cannot find: one more request for a conversation of an imported task. */
  judgeCustomer?: boolean;
  /** Kept in memory only. Never stored, logged or exported. */
  apiKey?: string;
  temperature?: number;
  /** The most tokens of one message, thoughts included; default 4096. */
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

/** The precisions of an ONNX file, with the names of transformers.js (`dtype`). */
export const ONNX_DTYPES = ['q4f16', 'q4', 'q8', 'fp16', 'fp32'] as const;
export type OnnxDtype = (typeof ONNX_DTYPES)[number];

/** The text-generation model that runs in the tab. */
export interface LocalModel {
  /** The place that its files come from: the Hugging Face Hub, a folder that the visitor chose, or the page. */
  source: 'hub' | 'folder' | 'bundled';
  /** e.g. `onnx-community/Qwen3-0.6B-ONNX`; of other sources the name of the folder. */
  model: string;
  precision: OnnxDtype;
  /** The address of the Hub. Default: `https://huggingface.co`. */
  hub?: string;
}

/** A customer played by a language model in the tab. */
export interface LocalConfig extends LocalModel {
  /** The processor runs `wasm`. */
  device: 'webgpu' | 'wasm';
  /** 0: the most likely token. Default: as the model's generation_config.json says. */
  temperature?: number;
  /** The most tokens of one message; default 512. */
  maxTokens?: number;
  /** The most time for one message, without the wait for other conversations and without the loading of the model; default 120,000. */
  timeoutMs?: number;
}

/** One request to a language model. */
export interface UserRequest {
  /** Until the answer; null if none came. */
  seconds: number | null;
  /** Tokens as the server or the model in the tab reports them; null if it does not. */
  prompt: number | null;
  completion: number | null;
  /** It repeats a request that failed. */
  retry: boolean;
}

export type UserConfig = { mode: 'scripted' } | ({ mode: 'endpoint' } & EndpointConfig) | ({ mode: 'local' } & LocalConfig);

/** A customer that needs no server and no key. */
export type BrowserUser = Exclude<UserConfig, { mode: 'endpoint' }>;

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
  /** The model that found the fault. Absent: a rule found it. */
  judge?: string;
}

/** What a model says about the customer of a conversation (`src/users/audit-judge.ts`). */
export interface CustomerJudgement {
  model: string;
  checked: CustomerFaultKind[];
  found: CustomerFaultKind[];
  /** Why the model checked nothing. */
  error?: string;
}
