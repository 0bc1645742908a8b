/** @file The weights that a run starts from. */
import type { ModelFiles } from '../records/model.ts';
import type { GrpoConfig } from '../records/run.ts';
import { randomWeights } from '../engine/parameters.ts';
import { loadModel, withWeights } from '../exchange/model-folder.ts';

/** The model's files, with random weights of the run's seed if `init_weights` is `random`. Runs of earlier versions lack the setting. */
export function startingFiles(files: ModelFiles, { init_weights, seed }: Pick<GrpoConfig, 'init_weights' | 'seed'>): ModelFiles {
  return init_weights === 'random' ? withWeights(files, randomWeights(loadModel(files).config, seed)) : files;
}
