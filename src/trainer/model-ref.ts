/** @file Finds the files of a model that the page refers to. It is a stored or bundled model, or a checkpoint of a run. */
import type { SessionParts } from './session-parts.ts';
import type { ModelRef } from '../records/model.ts';
import type { RunRow } from '../records/run.ts';
import { withTrained } from '../exchange/adapter-folder.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { StoredAs } from './engine-host.ts';
import { checkpointWeights } from './checkpoints.ts';
import { startingFiles } from './starting-weights.ts';

type Parts = Pick<SessionParts, 'bundledModel' | 'database'>;

/** The model's files. For a run, these are the files with the weights before training. @throws if the model or run does not exist */
export async function firstFiles(parts: Parts, model: ModelRef): Promise<ModelParts> {
  if (model.kind === 'model') return parts.bundledModel(model.name);
  const { request, config } = await runOf(parts, model.run);
  return startingFiles(await parts.bundledModel(request.model), config, request.model);
}

/** The name under which the page shows the model. @throws if the run does not exist */
export async function modelName(parts: Parts, model: ModelRef): Promise<string> {
  if (model.kind === 'run') return `${(await runOf(parts, model.run)).name}@${model.step}`;
  return (await parts.database().models.get(model.name))?.name ?? model.name;
}

async function runOf({ database }: Parts, id: string): Promise<RunRow> {
  const run = await database().runs.get(id);
  if (!run) throw new Error(`there is no run "${id}" in this browser`);
  return run;
}

/**
 * Returns `files`. If `model` is a checkpoint, they get its weights, and the engine stores them in the same formats as in the
 * run.
 * @throws if the checkpoint is not stored
 */
export async function withCheckpoint(parts: Parts, model: ModelRef, files: ModelParts): Promise<{ files: ModelParts } & StoredAs> {
  if (model.kind === 'model') return { files };
  const { precision, kv_cache_dtype } = (await runOf(parts, model.run)).config;
  if (model.step === 0) return { files, precision, kv_cache_dtype };
  return { files: withTrained(files, await checkpointWeights(parts.database(), model.run, model.step)), precision, kv_cache_dtype };
}
