/**
 * @file Messages between the trainer worker and its callers: requests, results, progress and events. The structured clone
 * algorithm can copy every value.
 */
import type { CustomerQuality } from '../evaluation/customer-quality.ts';
import type { PairedDifference } from '../evaluation/paired.ts';
import type { Act } from '../agent/acts.ts';
import type { Measured } from '../bench/report.ts';
import type { LiveAct } from '../agent/live.ts';
import type { Prefix } from '../agent/prefix.ts';
import type { TopTokens } from '../engine/types.ts';
import type { TaskQuery } from '../environments/types.ts';
import type { ConversationRules, EpisodeLimits, Sampling } from '../records/episode.ts';
import type { DatasetOptions } from '../records/dataset.ts';
import type { EvaluationReport, TrialResult } from '../records/evaluation.ts';
import type { ModelFiles, ModelRef, Precision } from '../records/model.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { GrpoConfig, RunStatus, StepMetrics } from '../records/run.ts';
import type { SftConfig } from '../training/settings/index.ts';
import type { Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { BrowserUser, UserConfig } from '../records/user.ts';

export type RunEvent =
  | { type: 'status'; status: RunStatus; message?: string }
  | {
      type: 'progress';
      step: number;
      totalSteps: number;
      phase: 'rollout' | 'score' | 'update' | 'evaluate' | 'compile';
      done: number;
      total: number;
    }
  | { type: 'rollout'; rollout: RolloutSummary }
  /** `heldOut`: the trials of the evaluation after the step, not the rollouts of the step. */
  | { type: 'live'; step: number; heldOut: boolean; rollouts: LiveRollout[] }
  | { type: 'metrics'; metrics: StepMetrics }
  | { type: 'checkpoint'; step: number };

/** A rollout of the step's first group, or one of the first held-out trials, while it is played. */
export interface LiveRollout {
  /** In the group, or among the trials. */
  index: number;
  /** The last acts. */
  acts: LiveAct[];
  /** The outcome; absent while the rollout is played. */
  reward?: number | null;
  /** What the number of violations is read from; absent while the rollout is played. */
  audit?: Pick<RolloutSummary, 'task' | 'domain' | 'violations'>;
}

/** Gets the acts of a played conversation since its prefix, each time that they changed. */
export type Viewer = (acts: LiveAct[]) => void;

export interface EngineInfo {
  state: 'ready' | 'unavailable' | 'lost';
  message?: string;
  vendor: string;
  architecture: string;
  description: string;
  software: boolean;
  subgroupSize: number;
  selfTest: 'passed' | 'failed' | 'not run';
}

/** Progress of a one-off command. `metrics` holds the metrics of the last step. */
export type Progress = (done: number, total: number, label: string, metrics?: Record<string, number>) => void;

/** Settings of `sft`. */
export interface SftOptions {
  overrides: Partial<Record<keyof SftConfig, string>>;
  /** Name or path of the model, for the adapter that the training makes. */
  base?: string;
  interrupted?: Interrupted;
}

/** Settings of `train`. */
export interface TrainOptions extends Pick<SftOptions, 'base' | 'interrupted'> {
  preset: string;
  /** A name of `src/training/algorithms`, whose settings apply before `overrides`. Default: the preset's. */
  algorithm?: string;
  overrides: Record<string, string>;
  user: UserConfig;
  val_user?: BrowserUser;
}

/** A training that was stopped, up to its last checkpoint. */
export interface Interrupted {
  /** The file that the sink got. */
  checkpoint: Uint8Array;
  /** The metrics of all steps up to the checkpoint; step 0 is the evaluation before training. */
  metrics: StepMetrics[];
  evaluations: SinkEvaluation[];
}

/** A held-out evaluation after `step` (0: before training). */
export interface SinkEvaluation {
  step: number;
  report: EvaluateReport;
  results: TrialResult[];
}

/** Receives what a training of the command line makes. The next step waits for each answer, except for that of `progress`. */
export interface TrainingSink {
  progress(...progress: Parameters<Progress>): void | Promise<void>;
  /** Gets a sentence for the visitor. */
  note(text: string): void | Promise<void>;
  evaluation(evaluation: SinkEvaluation): void | Promise<void>;
  /** After the evaluation of the same step. */
  step(metrics: StepMetrics, trajectories: Trajectory[]): void | Promise<void>;
  /** All that the next step needs, as safetensors. After `step`, but not after every step. */
  checkpoint(step: number, safetensors: Uint8Array<ArrayBuffer>): void | Promise<void>;
}

export interface TrainResult {
  /** The files of the adapter, with LoRA. */
  model: ModelFiles;
  /** Null if the run did not evaluate (`val_tasks` is 0) or could not evaluate. */
  before: EvaluateReport | null;
  after: EvaluateReport | null;
  steps: number;
  seconds: number;
  dropped: number;
  retried: number;
  /** The alarms of the run, in words. */
  alarms: string[];
}

export interface SftResult {
  /** The files of the adapter, with LoRA. */
  model: ModelFiles;
  /** By step, in nats. */
  losses: number[];
  tokens: number;
  seconds: number;
}

export type AgentMove = Act | 'model';

export type UserMove = { say: string } | 'simulated';

export interface PlayRequest {
  task: Task;
  /** The messages so far; null starts a new conversation. */
  prefix: Prefix | null;
  /** The agent's next turn. If null, the conversation waits at the agent's turn. If absent, the model plays all turns of the agent. */
  agent?: AgentMove | null;
  /** The customer's next turn, as for `agent`. If absent, the simulator plays all turns of the customer. */
  user?: UserMove | null;
  /** The model that plays the agent. Its tokenizer encodes the visitor's text. */
  model: ModelRef;
  simulator: UserConfig;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** The rules of conversation (default: the domain's rules). */
  rules?: ConversationRules;
  seed: number;
  userSeed: number;
  /** Random stream of the sampler. Another stream gives another sample. */
  stream: number;
  /** How many rollouts to play from the prefix (default 1). */
  n?: number;
}

export interface DatasetRequest {
  name: string;
  options: Omit<DatasetOptions, 'conditions'>;
  /** `customers.*` and `tools.*` that differ from the cold start's. */
  settings: Record<string, string>;
}

export interface RescoreRequest {
  /** The model that scores. Its tokenizer must be the tokenizer that made `tokens`. */
  model: ModelRef;
  tokens: number[];
  /** 1 for tokens to score. The first token cannot be scored. */
  lossMask: number[];
  temperature: number;
  max_model_len: number;
}

/** Scores of one sequence. Entry t belongs to token t, as in `Scores`. */
export interface Rescored {
  logprobs: Float32Array;
  entropies: Float32Array;
  top: TopTokens;
}

export interface EvaluateOptions {
  domain: string;
  level: string;
  split: 'train' | 'heldout';
  /** Selects tasks of an imported benchmark. Replaces `split`. */
  select?: TaskQuery['select'];
  /** The maximum number of tasks. */
  tasks: number;
  trials: number;
  temperature: number;
  seed: number;
  /** The preset that gives the settings of the episodes (default: the settings for the domain and level). */
  preset?: string;
  /** Settings that replace the preset's values, by name. */
  settings?: Record<string, string>;
  /** Skips no-op tasks: an agent that does nothing solves them. */
  skip_noop?: boolean;
  /** The format of matrices. Default f32. */
  precision?: Precision;
  /** Adds the episodes in the format of a benchmark's results. `model`: the name of the model there. */
  results?: { benchmark: string; model: string };
}

/** A customer to evaluate with, and its scored trials from before an interruption. */
export interface EvaluatedCustomer {
  user: UserConfig;
  done?: Trajectory[];
}

/** Receives what an evaluation of the command line makes. */
export interface EvaluationSink {
  progress(...progress: Parameters<Progress>): void | Promise<void>;
  /** A trial of the customer of this index. A failure ends the evaluation. */
  trial(customer: number, trajectory: Trajectory): void | Promise<void>;
}

export interface EvaluateResult {
  /** In the order of the customers. */
  reports: EvaluateReport[];
  /** Each further customer minus the first, paired by trial. */
  differences: (PairedDifference | null)[];
}

export interface EvaluateReport extends EvaluationReport {
  /** How often the simulated customer did something wrong. Only `mua evaluate` tells it. */
  customer?: CustomerQuality;
  results?: object;
  /** The number of skipped no-op tasks. */
  noop_skipped?: number;
}

/** What a memory plan is made for. */
export interface PlanRequest {
  precision: Precision;
  /** Rank of adapters on all linear maps. 0: all weights are trained, if they are f32. */
  lora_rank: number;
  max_model_len: number;
  /** Conversations that are played at once. */
  slots: number;
  /** Tokens at their start that all conversations share: the cache holds them once. */
  shared_tokens: number;
  kv_cache_dtype: GrpoConfig['kv_cache_dtype'];
}

/** Loss inputs of `mua grad`. docs/cli.md describes the file format. */
export interface GradRequest {
  loss: 'sft' | 'grpo';
  config?: Partial<GrpoConfig>;
  sequences: { tokens: number[]; loss_mask: number[]; advantage?: number; old_logprobs?: number[]; ref_logprobs?: number[] }[];
}

export interface GenerateRequest {
  prompts: number[][];
  max_new_tokens: number;
  temperature: number;
  seed: number;
  top_p?: number;
  top_k?: number;
  stop_token_ids?: number[];
}

export interface BenchReport extends Measured {
  adapter: EngineInfo;
}
