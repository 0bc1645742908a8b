/** @file Compares two observations as texts. Numbers in them are compared as numbers. */

const IN_JSON = /"(?:[^"\\]|\\.)*"|-?\d+\.?\d*(?:[eE][-+]?\d+)?/g;
const IN_PROSE = /-?\d+\.\d+/g;

/**
 * Writes all numbers in one form, because Python prints a float as `247.0`, but JavaScript prints 247. Strings inside JSON are
 * not changed.
 */
function normalised(text: string): string {
  return text.replace(/^\s*[[{]/.test(text) ? IN_JSON : IN_PROSE, (token) => (token.startsWith('"') ? token : String(Number(token))));
}

/** Removes the white space between the tokens of JSON, because recordings differ in it. */
function compact(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

export const sameObservation = (recorded: string, ours: string): boolean =>
  recorded === ours || normalised(recorded) === normalised(ours) || compact(recorded) === compact(ours);
