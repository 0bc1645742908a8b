/** Run configuration (verl's names), metrics and the events of a run. Everything here is structured-cloneable. */
import type { ConversationRules } from '../agent/rules.ts';
import type { EpisodeLimits, Sampling, Trajectory } from '../agent/types.ts';
import type { Violation } from '../environments/types.ts';
import type { UserConfig } from '../users/types.ts';

/** The optimiser (AdamW) and its schedule. */
export interface OptimiserConfig {
  lr: number;
  lr_scheduler_type: 'constant' | 'linear' | 'cosine';
  lr_warmup_steps: number;
  weight_decay: number;
  beta1: number;
  beta2: number;
  adam_eps: number;
  grad_clip: number;
  total_training_steps: number;
  seed: number;
}

export interface GrpoConfig extends EpisodeLimits, Sampling, OptimiserConfig {
  domain: string;
  level: string;
  /** Tasks a step. */
  train_batch_size: number;
  /** Rollouts a task. */
  n: number;
  /** Tasks an update; a multiple of it makes train_batch_size. */
  ppo_mini_batch_size: number;
  ppo_epochs: number;
  norm_adv_by_std_in_grpo: boolean;
  clip_ratio_low: number;
  clip_ratio_high: number;
  clip_ratio_c: number;
  use_kl_loss: boolean;
  kl_loss_coef: number;
  kl_loss_type: 'k1' | 'abs' | 'k2' | 'low_var_kl';
  entropy_coeff: number;
  loss_agg_mode: 'token-mean' | 'seq-mean-token-sum' | 'seq-mean-token-mean';
  /** The tasks that are trained on; those of `heldout` are the first `val_tasks`, which evaluation plays too. */
  train_split: 'train' | 'heldout';
  /** Leave out of training the tasks that doing nothing solves. */
  filter_noop_tasks: boolean;
  /** Whether training asks for what a benchmark's task wants said; evaluation always does. */
  check_outputs: boolean;
  conversation_rules: ConversationRules;
  /** Leave out of the update the episodes that were cut amid a turn, or by the context's end. */
  mask_truncated: boolean;
  /** Leave out groups whose rewards are all equal: they carry no policy gradient. */
  filter_groups: boolean;
  /** Held-out evaluation every this many steps (0: only before and after), on this many tasks. */
  test_freq: number;
  val_tasks: number;
  /** Checkpoint every this many steps; 0: only when the run is paused, and where it ends. */
  save_freq: number;
  /** Score one group a step before and after the update, for its transcripts (top alternatives, change of probability). Learns nothing from it. */
  inspect: boolean;
}

export interface SftConfig extends OptimiserConfig {
  train_batch_size: number;
  max_model_len: number;
}

/** Metric name (verl / MUA-RL, see docs) → value. One record a step; `step` counts optimiser batches from 1. */
export interface StepMetrics {
  step: number;
  [name: string]: number;
}

/** One rollout as lists show it; the whole trajectory is fetched by id. */
export interface RolloutSummary {
  id: string;
  group: string;
  index: number;
  step: number;
  task: string;
  intent: string;
  reward: number | null;
  advantage: number | null;
  termination: Trajectory['termination'];
  turns: number;
  tokens: number;
  violations: number;
  /** Not in rows of earlier versions: the domain, the rules violated and the tools called, each once. */
  domain?: string;
  rules?: Violation['rule'][];
  tools?: string[];
}

export type RunStatus = 'starting' | 'running' | 'paused' | 'done' | 'stopped' | 'failed' | 'interrupted';

export type RunEvent =
  | { type: 'status'; status: RunStatus; message?: string }
  | { type: 'progress'; step: number; totalSteps: number; phase: 'rollout' | 'score' | 'update' | 'evaluate' | 'compile'; done: number; total: number }
  | { type: 'rollout'; rollout: RolloutSummary }
  | { type: 'metrics'; metrics: StepMetrics }
  | { type: 'checkpoint'; step: number };

export interface RunRequest {
  /** Bundled model name, or a model id in storage. */
  model: string;
  preset: string;
  /** Only what differs from the preset. */
  overrides: Partial<GrpoConfig>;
  user: UserConfig;
}

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
