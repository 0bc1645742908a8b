/** @file How far a visitor has come with a pretrained model: download, cold start, GRPO. */
import { hasAdapter } from '../../exchange/adapter-files.ts';
import type { ModelRow } from '../../records/model.ts';
import type { CheckpointRow, RunRow } from '../../records/run.ts';
import { isModelOf, type PretrainedModel } from '../../training/pretrained.ts';

export interface Way {
  /** The id of the model in this browser; undefined before the download. */
  model?: string;
  /** The newest cold start of this model. */
  coldStart?: RunRow;
  /** The newest checkpoint of the cold start. */
  checkpoint?: number;
}

/** @param runs the newest first */
export function wayOf(
  entry: Pick<PretrainedModel, 'name'>,
  models: readonly ModelRow[],
  runs: readonly RunRow[],
  checkpoints: readonly CheckpointRow[],
): Way {
  const own = models.filter((row) => row.run === undefined && !hasAdapter(row.files) && isModelOf(row, entry));
  // The model with a cold start counts, if the visitor has two copies of it.
  const coldStart = runs.find(({ config, request, imported }) => !imported && config.algorithm === 'sft' && own.some(({ id }) => id === request.model));
  const model = coldStart?.request.model ?? own[0]?.id;
  const steps = checkpoints.flatMap(({ run, step }) => (run === coldStart?.id ? [step] : []));
  return {
    ...(model !== undefined && { model }),
    ...(coldStart && { coldStart }),
    ...(steps.length > 0 && { checkpoint: Math.max(...steps) }),
  };
}
