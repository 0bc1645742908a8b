/** @file Finds the name that a misspelt one probably means, for error messages. */

/** A longer list of guesses helps nobody. */
const MOST = 3;
/** The shortest text that is looked for inside other names. */
const PART = 4;

const plain = (name: string): string => name.toLowerCase().replace(/[-_. ]+/g, '_');

/** The least number of characters to insert, delete, replace or swap with the next one (optimal string alignment). */
function distance(a: string, b: string): number {
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next[j] = Math.min(
        next[j - 1]! + 1,
        row[j]! + 1,
        row[j - 1]! + Number(a[i - 1] !== b[j - 1]),
        swapped ? before[j - 2]! + 1 : Infinity,
      );
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}

/**
 * The known names that `given` may mean, the likeliest first: those with at most a third of its characters wrong, else those that
 * contain it or are inside it. Names longer than 64 characters have none, because a text of any length may be given.
 */
export function nearest(given: string, known: readonly string[]): string[] {
  const own = plain(given);
  if (own === '' || own.length > 64) return [];
  const most = Math.max(1, Math.floor(own.length / 3));
  const near = known
    .map((name) => ({ name, wrong: distance(own, plain(name)) }))
    .filter(({ name, wrong }) => wrong <= most && wrong < plain(name).length)
    .sort((a, b) => a.wrong - b.wrong);
  const [best] = near;
  const likely = best ? near.filter(({ wrong }) => wrong <= best.wrong + 1).map(({ name }) => name) : known.filter(contains(own));
  return likely.slice(0, MOST);
}

/** Whether a known name contains the text, or the text contains the name. */
const contains = (own: string) => (name: string) =>
  own.length >= PART && (plain(name).includes(own) || (name.length >= PART && own.includes(plain(name))));

/** ` (did you mean a or b?)`, or '' if no known name is near. */
export function didYouMean(given: string, known: readonly string[]): string {
  const names = nearest(given, known);
  return names.length === 0 ? '' : ` (did you mean ${names.join(' or ')}?)`;
}

/** The text of the error for a name that is not known. @param what what is named, such as `preset` */
export const unknownName = (what: string, given: string, known: readonly string[]): string =>
  `unknown ${what} "${given}"${didYouMean(given, known)}; known: ${known.join(', ')}`;
