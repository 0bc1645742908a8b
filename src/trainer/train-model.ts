/** @file `mua train`: a run without the page's storage. The sink receives the results and stores them. */
import type { Environments } from '../environments/types.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { GrpoConfig } from '../records/run.ts';
import { alarmsOf, alarmText } from '../training/alarms.ts';
import { withAlgorithm } from '../training/algorithms/index.ts';
import { grpoConfig } from '../training/config.ts';
import { driveRun } from './driver.ts';
import type { EngineHost } from './engine-host.ts';
import { fitted } from './fitted.ts';
import { FolderSink } from './folder-sink.ts';
import type { TrainingSink, TrainOptions, TrainResult } from './messages.ts';
import { UnattendedRun } from './run-control.ts';
import type { PlannedRun } from './run-plan.ts';

/** The settings of a training of the command line, before they are fitted to the model. @throws ConfigError */
export const trainConfig = ({ preset, algorithm = '', overrides }: PlannedRun): GrpoConfig =>
  grpoConfig(preset, algorithm === '' ? overrides : withAlgorithm(algorithm, preset, overrides));

/**
 * Trains to the last step. A run that continues from a checkpoint gives exactly the same results as a run that was never
 * stopped.
 * @throws ConfigError for a setting; errors of the sink
 */
export async function trainModel(
  environments: Environments,
  host: EngineHost,
  given: ModelParts,
  options: TrainOptions,
  sink: TrainingSink,
): Promise<TrainResult> {
  const config = await fitted(environments, given, trainConfig(options), options.overrides);
  const folder = new FolderSink(given, config, options, sink);
  const { model, step } = await driveRun(host, folder, new UnattendedRun());
  return {
    model: await model(),
    before: folder.before,
    after: folder.after,
    steps: step,
    seconds: folder.seconds,
    dropped: folder.sum('rollout/dropped'),
    retried: folder.sum('rollout/retried'),
    alarms: alarmsOf(folder.history.filter((metrics) => metrics.step > 0)).map(alarmText),
  };
}
