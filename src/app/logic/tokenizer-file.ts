/** @file The tokenizer of a model, wherever the model is kept. */
import type { RunDatabase } from '../../storage/database.ts';
import { bundledModels, fetchBundledFile } from '../../training/bundled-models.ts';

const FILE = 'tokenizer.json';

/** `model`: a bundled one's name or a stored one's id; undefined when it is neither. @throws when it can't be fetched */
export async function tokenizerFile(db: RunDatabase, model: string): Promise<Blob | undefined> {
  return bundledModels.includes(model) ? new Blob([await fetchBundledFile(model, FILE)]) : (await db.models.get(model))?.files[FILE];
}
