/**
 * @file The interface of the trainer worker (comlink). The page uses it for runs, evaluations and play. The command line
 * also uses the one-off commands. File contents cross as bytes or text, because the worker cannot open paths.
 */
import type { ModelParts } from '../exchange/model-folder.ts';
import type { MemoryPlan } from '../engine/memory-plan.ts';
import type {
  DatasetRequest,
  GenerateRequest,
  Rescored,
  RescoreRequest,
  PlayRequest,
  EngineInfo,
  RunEvent,
  Progress,
  EvaluatedCustomer,
  EvaluateOptions,
  EvaluateResult,
  EvaluationSink,
  GradRequest,
  BenchReport,
  SftOptions,
  SftResult,
  TrainingSink,
  TrainOptions,
  TrainResult,
  Viewer,
  PlanRequest,
} from './messages.ts';
import type { EvaluationRequest } from '../records/evaluation.ts';
import type { GrpoConfig, RunRequest } from '../records/run.ts';
import type { RunPlan } from './run-plan.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { SynthesizeOptions } from '../training/synthesize.ts';
import type { ModelFiles, Precision } from '../records/model.ts';

export interface TrainerApi {
  /** Takes the ports to the environment worker and the user worker (comlink endpoints). Must be called first. */
  connect(environments: MessagePort, users: MessagePort): void;
  /** Answers at once, unless the worker hangs. */
  ping(): void;
  engineInfo(): Promise<EngineInfo>;

  // Runs, stored in this browser
  /** Starts a run and returns the run's id at once. One run is active at a time. */
  start(request: RunRequest): Promise<string>;
  /** Continues a run from its last checkpoint. `user` replaces the stored customer, because the API key is never stored. */
  resume(run: string, user?: RunRequest['user']): Promise<void>;
  pause(): Promise<void>;
  /** `budget` replaces that of the run's customer. @throws unless it is above what the customer has cost */
  unpause(budget?: number): Promise<void>;
  /** The GPU memory that a run would take. @param model as in `RunRequest` @throws if the model is not here, or there is no WebGPU */
  planRun(model: string, config: GrpoConfig): Promise<RunPlan>;
  /** Ends the run after the current step. Resolves when the run has stopped. */
  stop(): Promise<void>;
  /** The model of the active run with the weights of now. The storage may be full. @throws if no run trains */
  model(): Promise<ModelFiles>;
  /** Whether a viewer looks at the run. Only then, and while the run is active, there are `live` events. */
  watch(run: string, on: boolean): Promise<void>;
  /** Calls `listener` with every event of the active run, in batches. A new listener replaces the old one. */
  listen(listener: (run: string, events: RunEvent[]) => void): Promise<void>;

  // Experiments, stored in this browser
  /**
   * Trains what is still to do of an experiment, one run after another. Resolves at the end of the queue, or when it was stopped.
   * @throws while a run, an experiment or an evaluation is active, and when a run fails (finished runs are kept)
   */
  runExperiment(id: string, user?: RunRequest['user']): Promise<void>;
  /** Ends the queue after the step under way. */
  stopExperiment(): Promise<void>;

  // Evaluations, stored in this browser
  /**
   * Plays the evaluations one after another and returns their ids.
   * @throws while a run is active, and when cancelled (finished evaluations are kept)
   */
  evaluateAndKeep(requests: EvaluationRequest[], progress: Progress): Promise<string[]>;
  cancelEvaluation(): Promise<void>;

  // Conversations that a visitor takes part in
  /**
   * Continues a conversation until it waits for the visitor or ends. `viewer` sees a single conversation (`n` is 1) grow.
   * @throws if the model must play while a run or an evaluation is active
   */
  play(request: PlayRequest, progress: Progress, viewer?: Viewer): Promise<Trajectory[]>;
  /** Scores the tokens of a conversation with other weights. @throws while a run or an evaluation is active */
  rescore(request: RescoreRequest): Promise<Rescored>;
  /** Ends the active turn or rescoring. */
  stopPlay(): Promise<void>;

  // Datasets, stored in this browser
  /** Stores new conversations of the demonstrators and returns the dataset's id. @throws when cancelled; nothing is stored then */
  synthesizeAndKeep(request: DatasetRequest, progress: Progress): Promise<string>;
  cancelSynthesis(): Promise<void>;

  // One-off commands
  /** Trains as the settings say. The sink gets each step and the checkpoints. */
  train(model: ModelParts, options: TrainOptions, sink: TrainingSink): Promise<TrainResult>;
  sft(model: ModelParts, jsonl: string, options: SftOptions, sink: TrainingSink): Promise<SftResult>;
  /** @param settings `customers.*` and `tools.*` that differ from the cold start's */
  synthesize(
    options: Omit<SynthesizeOptions, 'conditions'>,
    settings: Record<string, string>,
    progress: Progress,
  ): Promise<{ jsonl: string; kept: number; tried: number; solved: number }>;
  /** Plays the tasks with each customer. The sink gets every trial. */
  evaluate(model: ModelParts, options: EvaluateOptions, customers: EvaluatedCustomer[], sink: EvaluationSink): Promise<EvaluateResult>;
  score(model: ModelParts, sequences: number[][], precision?: Precision): Promise<{ logprobs: number[][]; entropies: number[][] }>;
  /** The gradients; with an adapter only those of the adapter, under PEFT's names. */
  grad(
    model: ModelParts,
    request: GradRequest,
    precision?: Precision,
  ): Promise<{ safetensors: Uint8Array<ArrayBuffer>; report: Record<string, number> }>;
  generate(
    model: ModelParts,
    request: GenerateRequest,
    precision?: Precision,
  ): Promise<{ completions: { tokens: number[]; logprobs: number[] }[] }>;
  /** The bytes that a model would take on this GPU, from its `config.json`. Nothing is allocated. */
  plan(config: unknown, request: PlanRequest): Promise<MemoryPlan>;
  /**
   * The speed of this GPU. `stopPlay` ends it. @param workloads names; an empty list means all
   * @throws while a run or an evaluation is active; InputError for an unknown workload
   */
  bench(workloads: readonly string[], progress: Progress): Promise<BenchReport>;
}
