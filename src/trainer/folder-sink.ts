/** @file Stores a training of the command line in a folder. The `TrainingSink` that receives the results writes the files. */
import type { Evaluation } from '../evaluation/evaluate.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { withTrained } from '../exchange/adapter-folder.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { CheckpointOrigin, GrpoConfig, StepMetrics } from '../records/run.ts';
import type { SftConfig } from '../training/settings/index.ts';
import type { StepResult } from '../training/step-result.ts';
import { type Checkpoint, openCheckpoint, packCheckpoint } from './checkpoints.ts';
import type { EvaluateReport, SftOptions, TrainingSink, TrainOptions } from './messages.ts';
import type { RunPhase, RunSink, RunStart } from './run-sink.ts';
import { startingFiles } from './starting-weights.ts';

/** Checkpoints in addition to those of `save_freq` take at most this share of the training time. */
export const CHECKPOINT_SHARE = 0.02;

/** The phases as the progress line names them. */
const PHASES: Record<RunPhase, string> = {
  compile: 'opening the model',
  rollout: 'rollout',
  score: 'score',
  update: 'update',
  evaluate: 'held-out',
};

export class FolderSink implements RunSink {
  readonly #given: ModelParts;
  readonly #config: GrpoConfig;
  readonly #options: Pick<TrainOptions, 'base' | 'user' | 'val_user' | 'interrupted'>;
  readonly #sink: TrainingSink;
  #seconds = () => 0;
  /** The evaluation report of the step whose metrics come next. */
  #evaluated: EvaluateReport | null = null;
  /** The report before training. Null if the run did not evaluate or could not evaluate. */
  before: EvaluateReport | null = null;
  after: EvaluateReport | null = null;
  /** The metrics of the steps so far. */
  readonly history: StepMetrics[];

  constructor(
    given: ModelParts,
    config: GrpoConfig,
    options: Pick<TrainOptions, 'base' | 'user' | 'val_user' | 'interrupted'>,
    sink: TrainingSink,
  ) {
    this.#given = given;
    this.#config = config;
    this.#options = options;
    this.#sink = sink;
    this.history = [...(options.interrupted?.metrics ?? [])];
  }

  async open(): Promise<RunStart> {
    const config = this.#config;
    const { user, val_user, interrupted } = this.#options;
    const { files, firstModel, checkpoint, seconds } = await openFolder(this.#given, config, this.#options);
    this.#seconds = seconds;
    const report = (step: number) => interrupted?.evaluations.find((evaluation) => evaluation.step === step)?.report ?? null;
    this.before = report(0);
    this.after = report(checkpoint?.step ?? 0);
    return {
      config,
      // The answers of the first model are sampled again, so the run opens its adapter. The driver then loads the checkpoint.
      files:
        checkpoint && hasAdapter(files) && config['reward.judge'] > 0
          ? await startingFiles(this.#given, config, this.#options.base)
          : files,
      firstModel,
      loaded: { checkpoint, damaged: [], ...(checkpoint?.origin && { origin: checkpoint.origin }) },
      metrics: interrupted?.metrics ?? [],
      spent: this.sum('user/cost'),
      user,
      ...(val_user && { valUser: val_user }),
      save: { every: config.save_freq, share: CHECKPOINT_SHARE, last: false },
    };
  }

  /** Seconds of training so far, including those before an interruption. */
  get seconds(): number {
    return this.#seconds();
  }

  /** The sum of a metric over all steps. */
  sum(name: string): number {
    return this.history.reduce((all, metrics) => all + (metrics[name] ?? 0), 0);
  }

  async begin(note: string): Promise<void> {
    if (note) await this.#sink.note(note);
  }

  progress(step: number, phase: RunPhase, done: number, total: number, left: number | null): void {
    this.#tell(step, phase === 'compile' ? PHASES.compile : `${PHASES[phase]} ${done}/${total}`, undefined, left ?? undefined);
  }

  async evaluation(step: number, { greedy, ...evaluation }: Evaluation): Promise<void> {
    const kept = ({ report, trajectories }: Evaluation) => ({ report, results: trajectories.map(resultOf) });
    await this.#sink.evaluation({ step, ...kept(evaluation), ...(greedy && { greedy: kept(greedy) }) });
    this.#evaluated = evaluation.report;
  }

  async step({ metrics, trajectories }: StepResult): Promise<void> {
    const { step } = metrics;
    this.after = this.#evaluated;
    this.#evaluated = null;
    if (step === 0) this.before = this.after;
    else this.history.push(metrics);
    this.#tell(step, step === 0 ? 'held-out before' : 'step', metrics);
    await this.#sink.step(metrics, trajectories);
  }

  async checkpoint(checkpoint: Checkpoint, origin: CheckpointOrigin): Promise<void> {
    await this.#sink.checkpoint(checkpoint.step, packCheckpoint(checkpoint, this.#seconds(), origin));
  }

  #tell(step: number, label: string, metrics?: StepMetrics, left?: number): void {
    void this.#sink.progress(step, this.#config.total_training_steps, label, metrics, left);
  }
}

/** The files from which a training in a folder starts. A run that continues has no weights here, because its checkpoint has them. */
export async function openFolder(
  given: ModelParts,
  config: GrpoConfig | SftConfig,
  { base, interrupted }: Pick<SftOptions, 'base' | 'interrupted'>,
) {
  const checkpoint = interrupted ? await openCheckpoint(interrupted.checkpoint) : null;
  const files = checkpoint
    ? withTrained(await startingFiles(given, { ...config, init_weights: 'model' }, base), checkpoint.weights)
    : await startingFiles(given, config, base);
  const firstModel = Object.fromEntries(Object.entries(given).filter(([name]) => !/\.safetensors(\.index\.json)?$|\.gguf$/i.test(name)));
  const start = performance.now();
  const seconds = () => (checkpoint?.seconds ?? 0) + (performance.now() - start) / 1000;
  return { files, firstModel, checkpoint, seconds };
}
