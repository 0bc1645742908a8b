/** @file Finds the files of a model that the page refers to: a stored or bundled model, or a checkpoint of a run. */
import type { SessionParts } from './session-parts.ts';
import type { ModelFiles } from '../records/model.ts';
import type { ModelRef } from '../records/model.ts';
import type { RunRow } from '../records/run.ts';
import { withWeights } from '../exchange/model-folder.ts';
import { checkpointWeights } from './checkpoints.ts';
import { startingFiles } from './starting-weights.ts';

type Parts = Pick<SessionParts, 'bundledModel' | 'database'>;

/** The model's files with the weights before training. @throws if the model or run does not exist */
export async function firstFiles(parts: Parts, model: ModelRef): Promise<ModelFiles> {
  if (model.kind === 'model') return parts.bundledModel(model.name);
  const { request, config } = await runOf(parts, model.run);
  return startingFiles(await parts.bundledModel(request.model), config);
}

/** The model's name on the page. @throws if the run does not exist */
export async function modelName(parts: Parts, model: ModelRef): Promise<string> {
  if (model.kind === 'run') return `${(await runOf(parts, model.run)).name}@${model.step}`;
  return (await parts.database().models.get(model.name))?.name ?? model.name;
}

async function runOf({ database }: Parts, id: string): Promise<RunRow> {
  const run = await database().runs.get(id);
  if (!run) throw new Error(`there is no run "${id}" in this browser`);
  return run;
}

/** Replaces the weights in `files` by the weights of the checkpoint, if `model` is a checkpoint. @throws if the checkpoint is not stored */
export async function withCheckpoint({ database }: Parts, model: ModelRef, files: ModelFiles): Promise<ModelFiles> {
  return model.kind === 'model' || model.step === 0
    ? files
    : withWeights(files, await checkpointWeights(database(), model.run, model.step));
}
