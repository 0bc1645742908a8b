/** @file The part of a tokenizer that shows the tokens of some conversations. A run's file has it, so that its reader needs no model. */
import { Breath } from '../base/breath.ts';
import { checked } from './checked.ts';
import type { VocabularyPart } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { vocabularySchema } from './run-schema.ts';

/** The names of annotations whose numbers are ids of tokens, such as `top_1_id`. */
const OF_IDS = /_id$/;

/**
 * The entries of `tokenizer` whose ids are in a message or an annotation of a conversation.
 * @param tokenizer the content of a tokenizer.json
 * @throws ImportError that names the field if the file is no tokenizer.json
 */
export async function usedVocabulary(tokenizer: unknown, conversations: readonly Trajectory[]): Promise<VocabularyPart> {
  const { model, added_tokens } = checked<VocabularyPart>(vocabularySchema, tokenizer, 'tokenizer.json');
  const used = new Set<number | null>();
  const breath = new Breath();
  for (const { nodes } of conversations) {
    for (const { tokens, annotations = {} } of nodes) {
      for (const id of tokens) used.add(id);
      for (const [name, list] of Object.entries(annotations)) if (OF_IDS.test(name)) for (const id of list) used.add(id);
    }
    await breath.take();
  }
  return {
    model: { vocab: Object.fromEntries(Object.entries(model.vocab).filter(([, id]) => used.has(id))) },
    added_tokens: added_tokens.filter(({ id }) => used.has(id)).map(({ id, content }) => ({ id, content })),
  };
}
