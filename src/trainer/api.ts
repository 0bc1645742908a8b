/**
 * @file The interface of the trainer worker (comlink). The page uses it for runs, evaluations and play. The command line also
 * uses the one-off commands. File contents are passed as bytes or text, because the worker cannot open paths.
 */
import type { AnswerRequest, AnswerSink } from './answers.ts';
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
  Scored,
  ScoreRequest,
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
  SelfTestReport,
} from './messages.ts';
import type { EvaluationRequest } from '../records/evaluation.ts';
import type { GrpoConfig, RunRequest } from '../records/run.ts';
import type { NeedsRequest, RunNeeds } from './estimates.ts';
import type { PlannedRun, PlanRequest, RunPlan } from './run-plan.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { ModelFiles, Precision } from '../records/model.ts';

export interface TrainerApi {
  /** Gets the ports to the environment worker and the user worker (comlink endpoints). Must be called first. */
  connect(environments: MessagePort, users: MessagePort): void;
  /** Resolves at once, except if the worker hangs. */
  ping(): void;
  engineInfo(): Promise<EngineInfo>;
  /** Whether this tab has the lock of the GPU. */
  holdsGpu(): Promise<boolean>;

  // Runs, which are stored in this browser
  /** Starts a run and returns its id at once. Only one run can be active at a time. */
  start(request: RunRequest): Promise<string>;
  /** Continues a run from its last checkpoint. `user` replaces the stored customer. It is needed because the API key is never stored. */
  resume(run: string, user?: RunRequest['user']): Promise<void>;
  pause(): Promise<void>;
  /**
   * Continues a paused run. `budget` replaces the budget of the run's customer.
   * @throws if `budget` is not above what the customer has already cost
   */
  unpause(budget?: number): Promise<void>;
  /**
   * The GPU memory and the time that a run would need.
   * @param model as in `RunRequest`
   * @param given the settings that were given
   * @throws if the model is not stored, or if there is no WebGPU
   */
  planRun(model: string, config: GrpoConfig, given: Partial<GrpoConfig>): Promise<RunPlan>;
  /** The same for a training of the command line. */
  planTraining(model: ModelParts, options: PlannedRun): Promise<RunPlan>;
  /**
   * Estimates what runs need, from the shapes of their models. The first call measures the speed of this GPU for a second or two.
   * @throws while the GPU is used, and if there is no WebGPU
   */
  needs(asked: readonly NeedsRequest[]): Promise<RunNeeds[]>;
  /** Ends the run after the current step. Resolves when the run has stopped. */
  stop(): Promise<void>;
  /** The model of the active run, with its current weights. Works even if the storage is full. @throws if no run is training */
  model(): Promise<ModelFiles>;
  /** Tells whether a viewer looks at the run. While the run is active and a viewer looks at it, the listener gets `live` events. */
  watch(run: string, on: boolean): Promise<void>;
  /** Calls `listener` with every event of the active run, in batches. A new listener replaces the old one. */
  listen(listener: (run: string, events: RunEvent[]) => void): Promise<void>;
  /**
   * Calls `listener` with what goes on beside the counted progress: weights that are loaded, kernels that are compiled, a server
   * that does not answer yet. '' if nothing goes on. It replaces the listener before. By default the events of the active run tell it.
   */
  listenToActivities(listener: (text: string) => void): Promise<void>;

  // Experiments, which are stored in this browser
  /**
   * Trains the remaining runs of an experiment, one after another. Resolves when no run is left, or when it was stopped.
   * @throws while a run, an experiment or an evaluation is active, and when a run fails (finished runs are kept)
   */
  runExperiment(id: string, user?: RunRequest['user']): Promise<void>;
  /** Ends the experiment after the current training step. */
  stopExperiment(): Promise<void>;

  // Evaluations, which are stored in this browser
  /**
   * Plays the evaluations one after another and returns their ids.
   * @throws while a run is active, and when cancelled (finished evaluations are kept)
   */
  evaluateAndKeep(requests: EvaluationRequest[], progress: Progress): Promise<string[]>;
  cancelEvaluation(): Promise<void>;

  // Conversations in which a visitor takes part
  /**
   * Continues a conversation until it waits for the visitor or ends. If `n` is 1, `viewer` gets the acts while they are played.
   * @throws if the model must play while a run or an evaluation is active
   */
  play(request: PlayRequest, progress: Progress, viewer?: Viewer): Promise<Trajectory[]>;
  /** Scores the tokens of a conversation with the weights of another model. @throws while a run or an evaluation is active */
  rescore(request: RescoreRequest): Promise<Rescored>;
  /** Ends the active turn, rescoring or measurement. */
  stopPlay(): Promise<void>;

  // Datasets, which are stored in this browser
  /** Stores new conversations of the demonstrators and returns the dataset's id. @throws when cancelled; in this case nothing is stored */
  synthesizeAndKeep(request: DatasetRequest, progress: Progress): Promise<string>;
  cancelSynthesis(): Promise<void>;

  // One-off commands
  /** Trains as the settings say. `sink` gets each step and the checkpoints. */
  train(model: ModelParts, options: TrainOptions, sink: TrainingSink): Promise<TrainResult>;
  sft(model: ModelParts, jsonl: string, options: SftOptions, sink: TrainingSink): Promise<SftResult>;
  /** The same with pairs of a better and a worse answer (`readPreference`). */
  dpo(model: ModelParts, jsonl: string, options: SftOptions, sink: TrainingSink): Promise<SftResult>;
  /** Plays the tasks with each customer. `sink` gets every trial. */
  evaluate(model: ModelParts, options: EvaluateOptions, customers: EvaluatedCustomer[], sink: EvaluationSink): Promise<EvaluateResult>;
  score(model: ModelParts, request: ScoreRequest, precision?: Precision): Promise<Scored>;
  /** The gradients. If the model has an adapter: only the gradients of the adapter, under PEFT's names. */
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
  /** The model's next turns in conversations of others. `sink` gets each turn. */
  answer(model: ModelParts, request: AnswerRequest, sink: AnswerSink, precision?: Precision): Promise<void>;
  /** The bytes that a model would need on this GPU, computed from its `config.json`. Nothing is allocated. */
  plan(config: unknown, request: PlanRequest): Promise<MemoryPlan>;
  /**
   * Measures the speed of this GPU. `stopPlay` ends the measurement.
   * @param workloads names; an empty list means all
   * @throws while a run or an evaluation is active; InputError for an unknown workload
   */
  bench(workloads: readonly string[], progress: Progress): Promise<{ report: BenchReport; /** An SVG picture. */ roofline: string }>;
  /** Runs every check of the self-test, and returns what they found. @throws while a run or an evaluation is active; GpuUnavailableError */
  selfTest(): Promise<SelfTestReport>;
}
