/** @file A training run: its configuration (verl's names), its metrics and its stored rows. */
import type { ConditionSettings, ValidationConditionSettings } from './conditions.ts';
import type { ConversationRules, EpisodeLimits, Sampling } from './episode.ts';
import type { Precision } from './model.ts';
import type { RewardSettings } from './rewards.ts';
import type { BrowserUser, UserConfig } from './user.ts';

/** The optimizer (AdamW) and its learning-rate schedule. */
export interface OptimiserConfig {
  lr: number;
  lr_scheduler_type: 'constant' | 'linear' | 'cosine';
  lr_warmup_steps: number;
  weight_decay: number;
  /** Decay norms and biases too, as PyTorch's AdamW does without parameter groups. */
  decay_all_parameters: boolean;
  beta1: number;
  beta2: number;
  adam_eps: number;
  grad_clip: number;
  total_training_steps: number;
  seed: number;
}

/** Which weights are trained (verl's names), and how the others are held. */
export interface LoraSettings {
  /** Rank of the adapters that are trained. 0: all weights are trained, or the adapter that the model came with. */
  lora_rank: number;
  /** The adapters add lora_alpha / lora_rank · B·A to a linear map. */
  lora_alpha: number;
  /** `all-linear`, or names of linear maps with commas between them. */
  target_modules: string;
  /** Of the matrices that adapters are trained on. Weights that are all trained are f32. */
  precision: Precision;
}

/** The KV cache of the sampler. */
export interface KvCacheSettings {
  /** How keys and values are stored (vLLM's name). auto: f16, or f32 if `precision` is f32. Training rounds its own in the same way. */
  kv_cache_dtype: 'auto' | 'f32' | 'f16';
  /** Tokens in the cache. With too few, conversations wait and compute tokens again. 0: all conversations at once can be full. */
  kv_cache_tokens: number;
}

/**
 * How a step trains. `grpo`: on its rollouts, weighted by their group advantages. `rft` (rejection-sampling fine-tuning): by
 * supervised learning on its successful rollouts. `sft`: by supervised learning on demonstrators' conversations or a dataset.
 */
export type Algorithm = 'grpo' | 'rft' | 'sft';

export interface GrpoConfig
  extends
    EpisodeLimits,
    Sampling,
    OptimiserConfig,
    ConditionSettings,
    ValidationConditionSettings,
    RewardSettings,
    LoraSettings,
    KvCacheSettings {
  algorithm: Algorithm;
  /** With `rft`: passes over the successful rollouts of a step. */
  rft_epochs: number;
  /** With `rft` and `sft`: conversations in one optimizer update. */
  sft_mini_batch_size: number;
  /** With `sft` and no dataset: the customers and tools of the demonstrations are the cold start's, or this run's own. */
  sft_conditions: 'cold_start' | 'run';
  domain: string;
  level: string;
  /** Tasks in one step. */
  train_batch_size: number;
  /** Rollouts of one task: the group size, at least 2. */
  n: number;
  /** Tasks in one optimizer update; a divisor of train_batch_size. */
  ppo_mini_batch_size: number;
  /** The loss is averaged over this many sequences, then over these micro-batches. 0: over the mini-batch at once. */
  ppo_micro_batch_size_per_gpu: number;
  ppo_epochs: number;
  /** How rewards become advantages, see `src/training/advantages.ts`. */
  adv_estimator: 'grpo' | 'rloo' | 'reinforce_plus_plus' | 'reinforce_plus_plus_baseline' | 'opo' | 'grpo_passk';
  /** Divide the advantages of `grpo` and `grpo_passk` by the standard deviation of the group's rewards. */
  norm_adv_by_std_in_grpo: boolean;
  /** Discount for each sampled token, of `reinforce_plus_plus` only. */
  gamma: number;
  /** verl's `policy_loss.loss_mode`, see `src/training/policy-loss.ts`. `gspo` needs `loss_agg_mode` seq-mean-token-mean. */
  loss_mode: 'vanilla' | 'gspo' | 'cispo';
  clip_ratio_low: number;
  clip_ratio_high: number;
  clip_ratio_c: number;
  use_kl_loss: boolean;
  kl_loss_coef: number;
  kl_loss_type: 'k1' | 'abs' | 'k2' | 'low_var_kl';
  entropy_coeff: number;
  loss_agg_mode: 'token-mean' | 'seq-mean-token-sum' | 'seq-mean-token-mean' | 'seq-mean-token-sum-norm';
  /** What `seq-mean-token-sum-norm` divides the sum over tokens by. 0: max_model_len. */
  loss_scale_factor: number;
  /** The split to train on. `heldout` trains on the `val_tasks` tasks that evaluation plays. */
  train_split: 'train' | 'heldout';
  /** Do not train on tasks that an agent solves by doing nothing. Other tasks take their place. */
  filter_noop_tasks: boolean;
  /** Whether the reward in training needs the facts that a benchmark's task wants said. In evaluation it always does. */
  check_outputs: boolean;
  conversation_rules: ConversationRules;
  /** Leave out of the update the episodes that a token limit cut: `turn_length` and `context_full`. */
  mask_truncated: boolean;
  /** `drop`: leave out of the update the episodes in which the audit finds a fault of the customer, as if the customer had failed. */
  user_faults: 'keep' | 'drop';
  /** verl's `filter_groups.enable`: leave out of the update the groups whose rewards are all equal. They have no policy gradient. */
  filter_groups: boolean;
  /** With `filter_groups`: play at most this many batches of tasks until train_batch_size groups are mixed. 1: one batch. 0: no limit. */
  'filter_groups.max_num_gen_batches': number;
  /** Take a penalty off the reward of a conversation whose last `overlong_buffer.len` tokens before max_model_len are in use. */
  'overlong_buffer.enable': boolean;
  /** Tokens before max_model_len in which the penalty grows, from 0 to `overlong_buffer.penalty_factor`. */
  'overlong_buffer.len': number;
  'overlong_buffer.penalty_factor': number;
  /** Evaluate on held-out tasks every this many steps. 0: only before and after training. */
  test_freq: number;
  /** Number of held-out tasks of an evaluation. 0: no evaluation. */
  val_tasks: number;
  /** Whether evaluation samples, with the run's temperature, top_p and top_k. false: greedy, as verl does by default. */
  'val_kwargs.do_sample': boolean;
  /** Save a checkpoint every this many steps. 0: only when the run is paused or ends. */
  save_freq: number;
  /** End the run after the step at which an alarm begins (`training/alarms.ts`). */
  stop_on_alarm: boolean;
  /** Score one group per step before and after the update, for its transcripts. Does not change the training. */
  inspect: boolean;
  /** `random`, `copying`: the run starts from fresh weights of the model's shape (`freshWeights`), without any cold start. */
  init_weights: 'model' | 'random' | 'copying';
  enable_thinking: boolean;
}

export interface SftConfig extends OptimiserConfig, LoraSettings {
  train_batch_size: number;
  max_model_len: number;
  /** Keep the thoughts of the conversations, and train on them. */
  enable_thinking: boolean;
}

/** Values by metric name (verl, MUA-RL; see docs). There is one record for each step. Steps count from 1. */
export interface StepMetrics {
  step: number;
  [name: string]: number;
}

export type RunStatus = 'starting' | 'running' | 'paused' | 'done' | 'stopped' | 'failed' | 'interrupted';

export interface RunRequest {
  /** Name of a bundled model, or id of an imported model. */
  model: string;
  preset: string;
  /** Only values that differ from the preset. */
  overrides: Partial<GrpoConfig>;
  user: UserConfig;
  /** The customer of the held-out evaluations. Absent: `user`. */
  val_user?: BrowserUser;
  /** With `algorithm: 'sft'`: id of the stored dataset to train on. Absent: each step gets new conversations of the demonstrators. */
  dataset?: string;
}

/** What the visitor can write about a run. */
export interface RunWords {
  /** At first a memorable name, e.g. `brisk-otter`. */
  name: string;
  note?: string;
  /** Without commas: an address lists tags with commas between them. */
  tags?: string[];
}

/** The most characters of a name, a note and a tag, and the most tags of a run. */
export const MOST_WORDS = { name: 200, note: 10_000, tag: 40, tags: 20 } as const;

export interface RunRow extends RunWords {
  id: string;
  createdAt: number;
  status: RunStatus;
  message?: string;
  /** Number of finished steps. */
  step: number;
  request: RunRequest;
  /** The whole configuration of the run. */
  config: GrpoConfig;
  /** The run comes with the page and was not made in this browser. */
  recorded?: boolean;
  /** Time of the import from a file. An imported run cannot be continued. */
  imported?: number;
  /** Steps of another run that were played again after a resume: the id of the run, and the first of the steps. */
  superseded?: { run: string; from: number };
  /** The experiment of this browser that the run belongs to, and its variant. */
  experiment?: string;
  variant?: string;
}

/** The weights after a step. The row is written in one transaction, so a stored checkpoint is complete. */
export interface CheckpointRow {
  run: string;
  step: number;
  savedAt: number;
  /** safetensors of the policy, the reference, and AdamW's moments. */
  weights: Blob;
  reference: Blob | null;
  optimizer: Blob;
  /** All other state that the next step depends on. */
  state: { optimizerStep: number };
  /** SHA-256 in hex of the three files. Rows of earlier versions have no hashes and no origin. */
  sha256?: { weights: string; reference: string | null; optimizer: string };
  origin?: CheckpointOrigin;
}

/** What a step's bits depend on beside its checkpoint. */
export interface CheckpointOrigin {
  /** The version of the playground. */
  app: string;
  /** The GPU. */
  adapter: string;
  /** SHA-256 of the files of the model that the run started from, its tokenizer included. */
  model: string;
  /** SHA-256 of the run's configuration. */
  config: string;
  /** The import that the tasks come from, with the digest of its data. Absent for a generated domain. */
  import?: string;
}
