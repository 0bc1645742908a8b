/** @file Converts the name, the tags and the note of a run between the form and the storage. */
import { MOST_WORDS, type RunWords } from '../../records/run.ts';

/** The values of the form's fields. */
export interface WordsDraft {
  name: string;
  note: string;
  /** The tags, separated by commas. */
  tags: string;
}

export const draftOf = ({ name, note = '', tags = [] }: RunWords): WordsDraft => ({ name, note, tags: tags.join(', ') });

/**
 * Reads the form. Removes outer spaces, empty tags and repeated tags.
 * @throws Error that names the field, its value and what was expected
 */
export function readWords(draft: WordsDraft): RunWords {
  const name = oneLine(draft.name);
  if (name === '') throw new Error('the name is empty: expected at least one character');
  const note = draft.note.trim();
  const tags = [...new Set(draft.tags.split(',').map(oneLine))].filter(Boolean);
  const long = tags.find(({ length }) => length > MOST_WORDS.tag);
  if (long !== undefined) throw new Error(`the tag “${long}” has ${long.length} characters: expected at most ${MOST_WORDS.tag}`);
  if (tags.length > MOST_WORDS.tags) throw new Error(`these are ${tags.length} tags: expected at most ${MOST_WORDS.tags}`);
  return { name, ...(note !== '' && { note }), ...(tags.length > 0 && { tags }) };
}

/** Removes line breaks and control characters from a text. */
const oneLine = (text: string) => text.replace(/[\p{C}\s]+/gu, ' ').trim();
