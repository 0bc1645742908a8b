/** @file Training on a file, as `mua sft` and `mua dpo` do it. The sink receives the results and stores them. */
import type { Engine, TensorMap } from '../engine/types.ts';
import { trainedFiles } from '../exchange/adapter-folder.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { StepMetrics } from '../records/run.ts';
import type { SftConfig } from '../training/settings/index.ts';
import { CheckpointClock } from './checkpoint-clock.ts';
import { type Checkpoint, packCheckpoint, readCheckpoint, resumeNote } from './checkpoints.ts';
import type { EngineHost } from './engine-host.ts';
import { CHECKPOINT_SHARE, openFolder } from './folder-sink.ts';
import type { SftOptions, SftResult, TrainingSink } from './messages.ts';
import { originOf } from './origin.ts';

export interface Tuning {
  /** The name of the command, for the progress. */
  label: string;
  /** The number of tokens of the longest sequence. */
  longest: number;
  totalSteps: number;
  /**
   * The metrics of the steps after the checkpoint. `reference` has the weights that a resumed run needs again, if there are any.
   * @param checkpoint whose weights and moments the engine has
   */
  begin(engine: Engine, checkpoint: Checkpoint | null): Promise<{ steps: AsyncGenerator<StepMetrics>; reference: TensorMap | null }>;
}

/** The metrics of a step have `train/loss` and `perf/total_num_tokens`. */
export async function tuneModel(
  host: EngineHost,
  given: ModelParts,
  config: SftConfig,
  options: SftOptions,
  sink: TrainingSink,
  { label, longest, totalSteps, begin }: Tuning,
): Promise<SftResult> {
  const { files, firstModel, checkpoint, seconds } = await openFolder(given, config, options);
  void sink.progress(0, 0, 'opening the model');
  const engine = await host.open(files, { maxModelLen: longest, slots: 1 }, config);
  if (checkpoint) await engine.loadOptimizerState(checkpoint.optimizer);
  const origin = await originOf(host, firstModel, config);
  const note = checkpoint?.origin && resumeNote({ origin: checkpoint.origin }, origin);
  if (note) await sink.note(note);
  const clock = new CheckpointClock({ every: 0, share: CHECKPOINT_SHARE });
  const history: StepMetrics[] = [...(options.interrupted?.metrics ?? [])];
  const { steps, reference } = await begin(engine, checkpoint);
  void sink.progress(checkpoint?.step ?? 0, totalSteps, label);
  for await (const metrics of steps) {
    const { step } = metrics;
    history.push(metrics);
    void sink.progress(step, totalSteps, label, metrics);
    await sink.step(metrics, []);
    if (step < totalSteps && clock.isDue(step))
      await clock.time(async () => sink.checkpoint(step, packCheckpoint(await readCheckpoint(step, engine, reference), seconds(), origin)));
  }
  return {
    model: trainedFiles(files, await engine.weights()),
    losses: history.map((metrics) => metrics['train/loss']!),
    tokens: history.reduce((all, metrics) => all + metrics['perf/total_num_tokens']!, 0),
    seconds: seconds(),
  };
}
