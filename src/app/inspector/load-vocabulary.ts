/** @file The vocabulary of a model, read when the first of its tokens is shown. */
import type { RunDatabase } from '../../storage/database.ts';
import { tokenizerFile } from '../logic/tokenizer-file.ts';
import { Vocabulary } from './vocabulary.ts';

const loaded = new Map<string, Promise<Vocabulary>>();

/** `model`: a bundled one's name or a stored one's id. Why there is none, when it is not here any more or its tokenizer is none. */
export function vocabularyOf(db: RunDatabase, model: string): Promise<Vocabulary | Error> {
  const found = loaded.get(model) ?? load(db, model);
  loaded.set(model, found);
  return found.catch((error: unknown) => {
    loaded.delete(model); // what failed for want of a network may be asked for again
    return error instanceof Error ? error : new Error(String(error));
  });
}

async function load(db: RunDatabase, model: string): Promise<Vocabulary> {
  const file = await tokenizerFile(db, model);
  if (!file) throw new Error(`the model "${model}" is neither bundled nor in this browser's storage`);
  return new Vocabulary(JSON.parse(await file.text()));
}
