/** @file The files of a model that the page names: a model's own, or those a run began with, with the weights of a checkpoint. */
import type { ModelRef } from '../evaluation/types.ts';
import { withWeights } from '../exchange/model-folder.ts';
import type { RunRow } from '../storage/database.ts';
import type { ModelFiles } from './api.ts';
import { checkpointWeights } from './checkpoints.ts';
import type { SessionParts } from './engine-host.ts';

type Parts = Pick<SessionParts, 'bundledModel' | 'database'>;

/** The tokenizer and the weights before training. @throws when there is no such model or run */
export async function firstFiles(parts: Parts, model: ModelRef): Promise<ModelFiles> {
  return parts.bundledModel(model.kind === 'model' ? model.name : (await runOf(parts, model.run)).request.model);
}

/** What to call the model. @throws when there is no such run */
export async function modelName(parts: Parts, model: ModelRef): Promise<string> {
  if (model.kind === 'run') return `${(await runOf(parts, model.run)).name}@${model.step}`;
  return (await parts.database().models.get(model.name))?.name ?? model.name;
}

async function runOf({ database }: Parts, id: string): Promise<RunRow> {
  const run = await database().runs.get(id);
  if (!run) throw new Error(`there is no run "${id}" in this browser`);
  return run;
}

/** `files`, the first of `model`, with the weights it has now. @throws when its checkpoint is gone */
export async function withCheckpoint({ database }: Parts, model: ModelRef, files: ModelFiles): Promise<ModelFiles> {
  return model.kind === 'model' || model.step === 0 ? files : withWeights(files, await checkpointWeights(database(), model.run, model.step));
}
