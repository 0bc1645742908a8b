/**
 * @file The types of messages between the trainer worker and its callers: requests, results, progress and events. The
 * structured clone algorithm can copy all of these values.
 */
import type { FileBytes } from '../exchange/file-bytes.ts';
import type { CustomerQuality } from '../evaluation/customer-quality.ts';
import type { PairedDifference } from '../evaluation/paired.ts';
import type { Act } from '../agent/acts.ts';
import type { Measured } from '../bench/report.ts';
import type { LiveAct } from '../agent/live.ts';
import type { Prefix } from '../agent/prefix.ts';
export type { SelfTestReport } from '../engine/first-contact.ts';
import type { TopTokens } from '../engine/types.ts';
import type { TaskQuery } from '../environments/types.ts';
import type { AgentServer } from '../records/agent-server.ts';
import type { ConversationRules, EpisodeLimits, Sampling } from '../records/episode.ts';
import type { DatasetOptions } from '../records/dataset.ts';
import type { Overlap, EvaluationReport, TrialResult } from '../records/evaluation.ts';
import type { ModelFiles, ModelRef, Precision } from '../records/model.ts';
import type { Perturbation, ReliabilityCard } from '../records/reliability.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { GrpoConfig, RunStatus, StepMetrics } from '../records/run.ts';
import type { SftConfig } from '../training/settings/index.ts';
import type { Split, Task } from '../records/task.ts';
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
      /** The seconds that the run still takes; null if nothing is known yet. */
      left: number | null;
    }
  | { type: 'rollout'; rollout: RolloutSummary }
  /** If `heldOut` is true, these are trials of the evaluation after the step. If false, they are rollouts of the step. */
  | { type: 'live'; step: number; heldOut: boolean; rollouts: LiveRollout[] }
  | { type: 'metrics'; metrics: StepMetrics }
  | { type: 'checkpoint'; step: number };

/** A rollout of the step's first group, or one of the first held-out trials, while it is played. */
export interface LiveRollout {
  /** The index in the group, or among the trials. */
  index: number;
  /** The last acts of the conversation. */
  acts: LiveAct[];
  /** The outcome. Absent while the rollout is played. */
  reward?: number | null;
  /** What is needed to count the violations. Absent while the rollout is played. */
  audit?: Pick<RolloutSummary, 'task' | 'domain' | 'violations'>;
}

/** Gets the acts of a played conversation that come after its prefix, each time they change. */
export type Viewer = (acts: LiveAct[]) => void;

export interface EngineInfo {
  state: 'ready' | 'unavailable' | 'lost';
  message?: string;
  vendor: string;
  architecture: string;
  description: string;
  device?: string;
  driver?: string;
  software: boolean;
  subgroupSize: number;
  selfTest: 'passed' | 'failed' | 'not run';
}

/** Progress of a one-off command. `metrics` are those of the last step. `left`: the seconds until the end, if they are estimated. */
export type Progress = (done: number, total: number, label: string, metrics?: Record<string, number>, left?: number) => void;

/** Settings of `sft`. */
export interface SftOptions {
  overrides: Partial<Record<keyof SftConfig, string>>;
  /** Name or path of the base model, which is written into the adapter. */
  base?: string;
  interrupted?: Interrupted;
}

/** Settings of `train`. */
export interface TrainOptions extends Pick<SftOptions, 'base' | 'interrupted'> {
  preset: string;
  /**
   * The name of an algorithm in `src/training/algorithms`. Its settings are applied before `overrides`. Default: the settings of
   * the preset.
   */
  algorithm?: string;
  overrides: Record<string, string>;
  user: UserConfig;
  val_user?: BrowserUser;
}

/** What is stored of a training that was stopped, up to its last checkpoint. */
export interface Interrupted {
  /** The checkpoint file that the sink received. */
  checkpoint: Uint8Array | Exclude<FileBytes, Uint8Array>;
  /** The metrics of all steps up to the checkpoint; step 0 is the evaluation before training. */
  metrics: StepMetrics[];
  evaluations: SinkEvaluation[];
}

/** A held-out evaluation after `step` (0: before training). */
export interface SinkEvaluation {
  step: number;
  report: EvaluateReport;
  results: TrialResult[];
  /** The same tasks with greedy decoding (`val_greedy`). */
  greedy?: { report: EvaluateReport; results: TrialResult[] };
}

/** Receives the results of a training of the command line. The next step waits for each returned promise, except for that of `progress`. */
export interface TrainingSink {
  progress(...progress: Parameters<Progress>): void | Promise<void>;
  /** Gets a sentence for the visitor. */
  note(text: string): void | Promise<void>;
  evaluation(evaluation: SinkEvaluation): void | Promise<void>;
  /** Called after `evaluation` of the same step. */
  step(metrics: StepMetrics, trajectories: Trajectory[]): void | Promise<void>;
  /** Gets everything that the next step needs, as safetensors. Called after `step`, but not after every step. */
  checkpoint(step: number, safetensors: Uint8Array<ArrayBuffer>): void | Promise<void>;
}

export interface TrainResult {
  /** The files of the trained model, or of the adapter if LoRA was used. */
  model: ModelFiles;
  /** Null if the run did not evaluate (`val_tasks` is 0) or could not evaluate. */
  before: EvaluateReport | null;
  after: EvaluateReport | null;
  steps: number;
  seconds: number;
  dropped: number;
  retried: number;
  /** The alarms of the run, as sentences. */
  alarms: string[];
}

export interface SftResult {
  /** The files of the trained model, or of the adapter if LoRA was used. */
  model: ModelFiles;
  /** The loss of each step, in nats. */
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
  /**
   * The agent's next turn. If null, the conversation stops at the agent's turn and waits. If absent, the model plays all turns
   * of the agent.
   */
  agent?: AgentMove | null;
  /** The same for the customer's next turn. If absent, the simulator plays all turns of the customer. */
  user?: UserMove | null;
  /** The model that plays the agent. Its tokenizer encodes the visitor's text. */
  model: ModelRef;
  simulator: UserConfig;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** The conversation rules. Default: the domain's rules. */
  rules?: ConversationRules;
  seed: number;
  userSeed: number;
  /** The random stream of the sampler. Another stream gives another sample. */
  stream: number;
  /**
   * How many times to play on from the prefix. Default: 1. If `user` is given, each ends at the customer's next turn; otherwise each is a
   * whole rollout with a reward.
   */
  n?: number;
}

export interface DatasetRequest {
  name: string;
  options: Omit<DatasetOptions, 'conditions' | 'habits'>;
  /** Those `customers.*`, `tools.*` and `demonstrators.*` that differ from the cold start's. */
  settings: Record<string, string>;
}

export interface RescoreRequest {
  /** The model that scores the tokens. Its tokenizer must be the one that made `tokens`. */
  model: ModelRef;
  tokens: number[];
  /** 1 for each token to score. The first token cannot be scored. */
  lossMask: number[];
  temperature: number;
  max_model_len: number;
}

/** The scores of one sequence. Entry t belongs to token t, as in `Scores`. */
export interface Rescored {
  logprobs: Float32Array;
  entropies: Float32Array;
  top: TopTokens;
}

export interface EvaluateOptions {
  /** The model behind a server that plays the agent. Absent: the model whose files are given. */
  server?: AgentServer;
  domain: string;
  level: string;
  split: Split;
  /** Selects tasks of an imported benchmark. If given, `split` is ignored. */
  select?: TaskQuery['select'];
  /** The largest number of tasks. */
  tasks: number;
  trials: number;
  temperature: number;
  seed: number;
  /** The preset with the settings of the episodes. Default: the settings for the domain and level. */
  preset?: string;
  /** Values of settings, by name. They replace the values of the preset. */
  settings?: Record<string, string>;
  /** If true, the report also has `next_call`. */
  next_call?: boolean;
  /** If true, no-op tasks are skipped. An agent that does nothing solves them. */
  skip_noop?: boolean;
  /** The format of the weight matrices. Default: f32. */
  precision?: Precision;
  /** If given, the result also has the episodes in the format of this benchmark's results. `model` is the model's name in them. */
  results?: { benchmark: string; model: string };
  /** If given, the result has a reliability card of this agent. The first customer must be unperturbed, and each other one perturbed. */
  card?: { agent: string };
}

/** A customer to evaluate with, and those of its trials that were scored before an interruption. */
export interface EvaluatedCustomer {
  user: UserConfig;
  done?: Trajectory[];
  /** How the tasks differ from those of the other customers. Absent: not at all. */
  perturbed?: Perturbation;
}

/** Receives the results of an evaluation of the command line. */
export interface EvaluationSink {
  progress(...progress: Parameters<Progress>): void | Promise<void>;
  /** Receives a trial. `customer` is the index of its customer. If this function fails, the evaluation ends. */
  trial(customer: number, trajectory: Trajectory): void | Promise<void>;
}

export interface EvaluateResult {
  /** One report for each customer, in the order of the customers. */
  reports: EvaluateReport[];
  /** The results of each further customer minus those of the first, paired by trial. */
  differences: (PairedDifference | null)[];
  card?: ReliabilityCard;
}

export interface EvaluateReport extends EvaluationReport {
  /** How often the simulated customer did something wrong. Only `mua evaluate` reports it. */
  customer?: CustomerQuality;
  results?: object;
  /** How many utterances of the customers occur in training. Only `mua evaluate --split unseen` reports it. */
  seen_utterances?: Overlap;
  /** The number of skipped no-op tasks. */
  noop_skipped?: number;
}

/** The input of `mua grad`: sequences and the loss on them. docs/cli.md describes the file format. */
export interface GradRequest {
  loss: 'sft' | 'grpo';
  config?: Partial<GrpoConfig>;
  sequences: { tokens: number[]; loss_mask: number[]; advantage?: number; old_logprobs?: number[]; ref_logprobs?: number[] }[];
}

/** The texts are encoded with the model's tokenizer, control tokens included. */
export type ScoreRequest = { sequences: number[][] } | { texts: string[] };

/** Entry t of a list belongs to the prediction of token t + 1. `tokens` is present if texts were given. */
export interface Scored {
  tokens?: number[][];
  logprobs: number[][];
  entropies: number[][];
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
