/** @file The parent of a branch as one text, which the storage indexes. Deleting a run or an evaluation deletes the branches of its conversations. */

/** Escapes the separators `/` and `:`. An ordinary id stays as it is. */
const escape = (name: string) => name.replace(/[%/:]/g, encodeURIComponent);

/** The place of all branches in an address. Branches have no run or evaluation as their place. */
export const BRANCHES = 'branches';

/** The place where a conversation is stored. */
export interface Origin {
  /** A run's id, an evaluation's id, or `branches`. */
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
    return null; // a single % in an address that a person typed
  }
}
