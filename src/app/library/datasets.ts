/** @file Datasets and fresh models in the browser's storage. */
import { beginningWith } from '../../base/key-range.ts';
import { loadModel, withWeights } from '../../exchange/model-folder.ts';
import type { DatasetConversationRow, DatasetRow } from '../../records/dataset.ts';
import type { ModelRow } from '../../records/model.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { storeDataset } from '../../trainer/datasets.ts';
import { modelFiles, modelRow } from '../../trainer/stored-models.ts';
import { readDataset } from '../../training/dataset.ts';
import { freshWeights, type Init } from '../../training/init-weights.ts';

/** Stores the conversations of a JSONL file. @throws Error that names the line, the field and its value */
export async function importDataset(db: RunDatabase, name: string, text: string): Promise<DatasetRow> {
  const conversations = readDataset(text);
  const row: DatasetRow = { id: crypto.randomUUID(), name: name.slice(0, 200), createdAt: Date.now(), count: conversations.length };
  await storeDataset(db, row, conversations);
  return row;
}

export async function rejectConversations(
  db: RunDatabase,
  rows: readonly Pick<DatasetConversationRow, 'dataset' | 'index'>[],
  rejected: boolean,
): Promise<void> {
  const changes = { rejected: rejected || undefined } as { rejected?: true };
  await db.datasetConversations.bulkUpdate(rows.map(({ dataset, index }) => ({ key: [dataset, index], changes })));
}

export async function deleteDataset(db: RunDatabase, id: string): Promise<void> {
  await db.transaction('rw', [db.datasets, db.datasetConversations], async () => {
    await beginningWith(db.datasetConversations, id).delete();
    await db.datasets.delete(id);
  });
}

/** The model `base` with new weights. The same arguments give the same row. @throws as `modelRow`, or if the shape has no room for the circuit */
export async function freshModel(db: RunDatabase, base: string, init: Init, seed: number): Promise<ModelRow> {
  const files = await modelFiles(db, base);
  const weights = freshWeights(loadModel(files).config, { init, seed });
  return {
    ...(await modelRow(`${base}, untrained (${init}, seed ${seed})`, withWeights(files, weights))),
    id: `untrained-${init}-${seed}-${base}`,
  };
}
