/** @file Loads the vocabulary of a model when its tokens are shown for the first time. */
import type { Library } from '../../library/library.ts';
import type { RunRow } from '../../../records/run.ts';
import { Vocabulary } from './vocabulary.ts';

const loaded = new Map<string, Promise<Vocabulary>>();

/**
 * Resolves to an Error if the model is missing or its tokenizer is unreadable.
 * @param model a bundled model's name or a stored model's id
 * @param run the run of the conversation. Its own part of the vocabulary is used if the model is missing
 */
export function vocabularyOf(library: Pick<Library, 'tokenizer'>, model: string, run?: RunRow | null): Promise<Vocabulary | Error> {
  const found = loaded.get(model) ?? load(library, model);
  loaded.set(model, found);
  return found.catch((error: unknown) => {
    loaded.delete(model); // so that the next call tries again: the network may be back
    if (run?.vocabulary) return new Vocabulary(run.vocabulary);
    return error instanceof Error ? error : new Error(String(error));
  });
}

async function load(library: Pick<Library, 'tokenizer'>, model: string): Promise<Vocabulary> {
  const file = await library.tokenizer(model);
  if (!file) throw new Error(`the model "${model}" is neither bundled nor in this browser's storage`);
  return new Vocabulary(JSON.parse(await file.text()));
}
