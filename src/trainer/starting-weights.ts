/** @file The weights that a run starts from. */
import type { ModelFiles } from '../records/model.ts';
import type { GrpoConfig } from '../records/run.ts';
import { loadModel, withWeights } from '../exchange/model-folder.ts';
import { freshWeights } from '../training/init-weights.ts';

/** The model's files, with fresh weights of the run's seed unless `init_weights` is `model`. Runs of earlier versions lack the setting. */
export function startingFiles(
  files: ModelFiles,
  { init_weights, seed }: Pick<GrpoConfig, 'seed'> & Partial<Pick<GrpoConfig, 'init_weights'>>,
): ModelFiles {
  if (init_weights === undefined || init_weights === 'model') return files;
  return withWeights(files, freshWeights(loadModel(files).config, { init: init_weights, seed }));
}
