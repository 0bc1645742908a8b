/** @file Compares two observations as texts, with numbers compared as numbers. */

const IN_JSON = /"(?:[^"\\]|\\.)*"|-?\d+\.?\d*(?:[eE][-+]?\d+)?/g;
const IN_PROSE = /-?\d+\.\d+/g;

/** Python prints a float as `247.0`, JavaScript as 247. Texts inside the quotes of JSON stay as they are. */
function normalised(text: string): string {
  return text.replace(/^\s*[[{]/.test(text) ? IN_JSON : IN_PROSE, (token) => (token.startsWith('"') ? token : String(Number(token))));
}

/** Removes white space between the parts of JSON, in which recordings differ. */
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
