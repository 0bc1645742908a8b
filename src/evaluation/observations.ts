/** @file Whether two observations are the same text, numbers compared as numbers. */

const IN_JSON = /"(?:[^"\\]|\\.)*"|-?\d+\.?\d*(?:[eE][-+]?\d+)?/g;
const IN_PROSE = /-?\d+\.\d+/g;

/** Python prints a float as `247.0` where JavaScript prints 247. In JSON, texts inside quotes are left alone. */
function normalised(text: string): string {
  return text.replace(/^\s*[[{]/.test(text) ? IN_JSON : IN_PROSE, (token) => (token.startsWith('"') ? token : String(Number(token))));
}

/** White space between the parts of JSON, which recorders differ in, doesn't count. */
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
