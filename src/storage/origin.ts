/** @file What a branch branched off, as one text: branches are filed under it, and go with the run or evaluation it names. */

/** What parts the names, and what begins `task:`; the usual id stays as it is. */
const escape = (name: string) => name.replace(/[%/:]/g, encodeURIComponent);

export interface Origin {
  /** A run's id, `recorded`, or an evaluation's id. */
  place: string;
  /** Of the conversation there. */
  id: string;
}

export const writeOrigin = ({ place, id }: Origin) => `${originsIn(place)}${escape(id)}`;

/** How the origin of every branch begins that branched off a conversation of this place. */
export const originsIn = (place: string) => `${escape(place)}/`;

/** null for anything else, such as a task's */
export function readOrigin(text: string): Origin | null {
  const [, place, id] = /^([^/:]+)\/([^/:]+)$/.exec(text) ?? [];
  if (!place || !id) return null;
  try {
    return { place: decodeURIComponent(place), id: decodeURIComponent(id) };
  } catch {
    return null; // a lone % in an address typed by hand
  }
}
