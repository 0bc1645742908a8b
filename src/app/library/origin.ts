/**
 * @file Writes the parent of a branch as one text. The storage indexes it, so that deleting a run or an evaluation also deletes its
 * branches.
 */

/** Escapes `/`, `:` and `%` in a name. Ordinary ids have none of these, so they do not change. */
const escape = (name: string) => name.replace(/[%/:]/g, encodeURIComponent);

/** The `place` of all branches, because branches are not stored in a run or an evaluation. */
export const BRANCHES = 'branches';

/** The place where a conversation is stored. */
export interface Origin {
  /** The id of a run or an evaluation, or `branches`. */
  place: string;
  /** The conversation's id in that place. */
  id: string;
}

export const writeOrigin = ({ place, id }: Origin) => `${originsIn(place)}${escape(id)}`;

/** The prefix that all origins in this place share. */
export const originsIn = (place: string) => `${escape(place)}/`;

/** Returns null for any other text, such as `task:<id>`. */
export function readOrigin(text: string): Origin | null {
  const [, place, id] = /^([^/:]+)\/([^/:]+)$/.exec(text) ?? [];
  if (!place || !id) return null;
  try {
    return { place: decodeURIComponent(place), id: decodeURIComponent(id) };
  } catch {
    return null; // The text has a lone %, such as in an address that a person typed.
  }
}
