/** @file The files of a model that the page names: a model's own, or those a run began with, with the weights of a checkpoint. */
import type { ModelRef } from '../evaluation/types.ts';
import { withWeights } from '../exchange/model-folder.ts';
import type { ModelFiles } from './api.ts';
import { checkpointWeights } from './checkpoints.ts';
import type { SessionParts } from './engine-host.ts';

type Parts = Pick<SessionParts, 'bundledModel' | 'database'>;

/** The tokenizer and the first weights, and what to call the model. @throws when there is no such model or run */
export async function firstFiles({ bundledModel, database }: Parts, model: ModelRef): Promise<{ files: ModelFiles; name: string }> {
  if (model.kind === 'model') return { files: await bundledModel(model.name), name: (await database().models.get(model.name))?.name ?? model.name };
  const run = await database().runs.get(model.run);
  if (!run) throw new Error(`there is no run "${model.run}" in this browser`);
  return { files: await bundledModel(run.request.model), name: `${run.name}@${model.step}` };
}

/** `files`, the first of `model`, with the weights it has now. @throws when its checkpoint is gone */
export async function withCheckpoint({ database }: Parts, model: ModelRef, files: ModelFiles): Promise<ModelFiles> {
  return model.kind === 'model' || model.step === 0 ? files : withWeights(files, await checkpointWeights(database(), model.run, model.step));
}
