/**
 * What the trainer worker answers (comlink). The page and the command line use the same object; the first only starts
 * runs, the second also the one-off commands. File contents cross as bytes or text: the worker knows no paths.
 */
import type { Trajectory } from '../agent/types.ts';
import type { TaskQuery } from '../environments/types.ts';
import type { GenerateRequest, Rescored, RescoreRequest } from './commands.ts';
import type { EvaluationReport } from '../evaluation/report.ts';
import type { EvaluationRequest } from '../evaluation/types.ts';
import type { PlayRequest } from './play.ts';
import type { Tau2Results } from '../exchange/tau2-results.ts';
import type { SynthesizeOptions } from './synthesize.ts';
import type { EngineInfo, GrpoConfig, RunEvent, RunRequest, SftConfig } from './types.ts';

/** The files of a Hugging Face model folder by name (`config.json`, `model.safetensors`, …). */
export type ModelFiles = Record<string, Uint8Array<ArrayBuffer>>;

/** Progress of a one-off command. `metrics` holds the numbers of the step just done. */
export type Progress = (done: number, total: number, label: string, metrics?: Record<string, number>) => void;

export interface EvaluateOptions {
  domain: string;
  level: string;
  split: 'train' | 'heldout';
  /** Of an imported benchmark, instead of `split`. */
  select?: TaskQuery['select'];
  /** At most this many. */
  tasks: number;
  trials: number;
  temperature: number;
  seed: number;
  /** Whose settings the episodes are played with; absent: what suits the domain and level. */
  preset?: string;
  /** Departures from those, by their names. */
  settings?: Record<string, string>;
  /** Leave out tasks that doing nothing solves. */
  skip_noop?: boolean;
  /** Keep whole trajectories in the report. */
  trajectories?: boolean;
  /** Give the episodes in tau2-bench's form too, under this name of the model. */
  tau2_results?: string;
}

export interface EvaluateReport extends EvaluationReport {
  tau2_results?: Tau2Results;
  /** Tasks left out because doing nothing solves them. */
  noop_skipped?: number;
  trajectories?: Trajectory[];
}

/** Loss inputs of `mua grad` (file format in docs). */
export interface GradRequest {
  loss: 'sft' | 'grpo';
  config?: Partial<GrpoConfig>;
  sequences: { tokens: number[]; loss_mask: number[]; advantage?: number; old_logprobs?: number[]; ref_logprobs?: number[] }[];
}

export interface TrainerApi {
  /** Ports to the environment and user workers (comlink endpoints); must come first. */
  connect(environments: MessagePort, users: MessagePort): void;
  engineInfo(): Promise<EngineInfo>;

  // Runs, kept in this browser's storage
  /** Starts a run and returns its id at once. One run at a time. */
  start(request: RunRequest): Promise<string>;
  /** Goes on with a run from its last checkpoint. `user` replaces the stored one, whose API key is never kept. */
  resume(run: string, user?: RunRequest['user']): Promise<void>;
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** Ends the run after the current step; resolves when it has stopped. */
  stop(): Promise<void>;
  /** Calls `listener` with every event of the active run, batched; one listener at a time. */
  listen(listener: (run: string, events: RunEvent[]) => void): Promise<void>;

  // Evaluations, kept in this browser's storage
  /** Plays them one after another and returns their ids. Not while a run is active. @throws when cancelled; those that ended are kept */
  evaluateAndKeep(requests: EvaluationRequest[], progress: Progress): Promise<string[]>;
  cancelEvaluation(): Promise<void>;

  // Conversations that a visitor takes part in
  /** Plays on from a prefix until it rests or ends. The model plays only while nothing is trained or evaluated. See `play.ts`. */
  play(request: PlayRequest, progress: Progress): Promise<Trajectory[]>;
  /** The tokens of a conversation as other weights see them. Only while nothing is trained or evaluated. */
  rescore(request: RescoreRequest): Promise<Rescored>;
  /** Ends a turn or a rescoring under way. */
  stopPlay(): Promise<void>;

  // One-off commands
  /** `before` and `after` are null where nothing was to be evaluated (`val_tasks` 0), or nothing could be. */
  train(
    model: ModelFiles, preset: string, overrides: Record<string, string>, user: RunRequest['user'],
    progress: Progress, onStep: (metrics: Record<string, number>, trajectories: Trajectory[]) => void,
  ): Promise<{ model: ModelFiles; before: EvaluateReport | null; after: EvaluateReport | null; steps: number; seconds: number; dropped: number; retried: number }>;
  sft(model: ModelFiles, jsonl: string, overrides: Partial<Record<keyof SftConfig, string>>, progress: Progress): Promise<{ model: ModelFiles; losses: number[]; tokens: number; seconds: number }>;
  synthesize(options: SynthesizeOptions, progress: Progress): Promise<{ jsonl: string; kept: number; tried: number; solved: number }>;
  evaluate(model: ModelFiles, options: EvaluateOptions, user: RunRequest['user'], progress: Progress): Promise<EvaluateReport>;
  score(model: ModelFiles, sequences: number[][]): Promise<{ logprobs: number[][]; entropies: number[][] }>;
  grad(model: ModelFiles, request: GradRequest): Promise<{ safetensors: Uint8Array<ArrayBuffer>; report: Record<string, number> }>;
  generate(model: ModelFiles, request: GenerateRequest): Promise<{ completions: { tokens: number[]; logprobs: number[] }[] }>;
  bench(progress: Progress): Promise<BenchReport>;
}

export interface BenchReport {
  adapter: EngineInfo;
  matmul: { shape: string; gflops: number }[];
  training: { model: string; tokens: number; ms_per_step: number; tokens_per_s: number; gflops: number; share_of_best_matmul: number }[];
  decode: { model: string; batch: number; tokens_per_s: number }[];
}
