/** @file The configuration of the simulated user, and the faults that an audit can find in its messages. */

export interface EndpointConfig {
  /** For example `http://localhost:11434/v1`. */
  baseUrl: string;
  model: string;
  /** The model that judges statements about a conversation. Default: `model`. */
  judgeModel?: string;
  /** The judge also looks for faults of the customer that rules cannot find: one more request for each conversation of an imported task. */
  judgeCustomer?: boolean;
  /** Kept in memory only. Never stored, logged or exported. */
  apiKey?: string;
  /** Default 0. */
  temperature?: number;
  /** Maximum number of tokens in one message, including thoughts. Default 4096. */
  maxTokens?: number;
  /** More fields of each request. They replace the client's own; null removes a field. Stored with the run. */
  extraBody?: Record<string, unknown>;
  timeoutMs?: number;
  maxRetries?: number;
  concurrency?: number;
  /** Prices per million tokens. Both must be in the same unit of money. */
  promptPrice?: number;
  completionPrice?: number;
  /** When the customer has cost this much, the run pauses before the next step. In the unit of the prices. */
  budget?: number;
}

/** The header with which the local server of `mua` says that the endpoint behind it cannot be reached. Its value is the address. */
export const UNREACHABLE = 'x-mua-unreachable';

/** The precisions of an ONNX file, with the names of transformers.js (`dtype`). */
export const ONNX_DTYPES = ['q4f16', 'q4', 'q8', 'fp16', 'fp32'] as const;
export type OnnxDtype = (typeof ONNX_DTYPES)[number];

/** The text-generation model that plays a customer in the browser tab. */
export interface LocalModel {
  /** The source of the model's files: the Hugging Face Hub, a folder that the visitor chose, or the page itself. */
  source: 'hub' | 'folder' | 'bundled';
  /** For example `onnx-community/Qwen3-0.6B-ONNX`. For a model that is not from the Hub, the name of its folder. */
  model: string;
  precision: OnnxDtype;
  /** The address of the Hub. Default: `https://huggingface.co`. */
  hub?: string;
}

/** A customer that a language model plays in the browser tab. */
export interface LocalConfig extends LocalModel {
  /** `wasm` runs on the CPU. */
  device: 'webgpu' | 'wasm';
  /** 0 always takes the most likely token. Default: the value in the model's generation_config.json. */
  temperature?: number;
  /** Maximum number of tokens in one message. Default 512. */
  maxTokens?: number;
  /** Time limit for one message. It does not count the time to load the model or to wait for other conversations. Default 120,000. */
  timeoutMs?: number;
}

/** One request to a language model. */
export interface UserRequest {
  /** Seconds until the answer came. Null if no answer came. */
  seconds: number | null;
  /** Numbers of prompt and completion tokens, as the server or the model reports them. Null if it does not report them. */
  prompt: number | null;
  completion: number | null;
  /** True if the request repeats one that failed. */
  retry: boolean;
  /** What the answer cost, in the unit of the prices. Only of an agent's model that has prices. */
  cost?: number;
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
/** The faults that a simulated customer can make. `src/users/audit.ts` says how each fault is found. */
export type CustomerFaultKind = (typeof CUSTOMER_FAULTS)[number];

export interface CustomerFault {
  kind: CustomerFaultKind;
  /** Id of the message. */
  message: number;
  /** A sentence with the evidence. */
  detail: string;
  /** The name of the language model that found the fault. Absent if a rule found it. */
  judge?: string;
}

/** A language model's judgement of the customer in one conversation (`src/users/audit-judge.ts`). */
export interface CustomerJudgement {
  model: string;
  checked: CustomerFaultKind[];
  found: CustomerFaultKind[];
  /** The reason why the model could not check the conversation. */
  error?: string;
}
