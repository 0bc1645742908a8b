/** @file Stores the file of a dataset, and makes fresh models. This module is loaded only when the visitor asks for one of these. */
import { loadModel, withWeights } from '../../exchange/model-folder.ts';
import type { DatasetRow } from '../../records/dataset.ts';
import type { ModelRow } from '../../records/model.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { storeDataset } from '../../trainer/datasets.ts';
import { modelFiles, modelRow } from '../../trainer/stored-models.ts';
import type { ReadDataset } from '../../training/dataset.ts';
import { freshWeights, type Init } from '../../training/init-weights.ts';

/** Stores the conversations of a file. */
export async function importDataset(db: RunDatabase, name: string, { conversations, notes }: ReadDataset): Promise<DatasetRow> {
  const row: DatasetRow = {
    id: crypto.randomUUID(),
    name: name.slice(0, 200),
    createdAt: Date.now(),
    count: conversations.length,
    ...(notes.length > 0 && { notes }),
  };
  await storeDataset(db, row, conversations);
  return row;
}

/**
 * The model `base` with new weights. The same arguments give the same row.
 * @throws like `modelRow`; also if the shape is too small for the circuit
 */
export async function freshModel(db: RunDatabase, base: string, init: Init, seed: number): Promise<ModelRow> {
  const files = await modelFiles(db, base);
  const weights = freshWeights(loadModel(files).config, { init, seed });
  return {
    ...(await modelRow(`${base}, untrained (${init}, seed ${seed})`, withWeights(files, weights))),
    id: `untrained-${init}-${seed}-${base}`,
  };
}
