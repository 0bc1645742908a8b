/** @file Finds a key that stands twice in an object of a JSON text. JSON.parse keeps the last value without a word. */
import { jsonPath } from './schema-fault.ts';

/** Texts, with the colon behind them if they are keys, and marks. */
const TOKEN = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}[\],]/g;

/** The path of the first repeated key. @param text JSON that was parsed without an error */
export function repeatedKey(text: string): string | undefined {
  /** The objects and lists around the token. Lists have no keys. */
  const open: { at: string | number; keys: Set<string> | null }[] = [];
  for (const [token, inner, colon] of text.matchAll(TOKEN)) {
    const here = open.at(-1);
    if (token === '{') open.push({ at: '', keys: new Set() });
    else if (token === '[') open.push({ at: 0, keys: null });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof here!.at === 'number') here!.at++;
    else if (colon !== undefined) {
      const key = JSON.parse(`"${inner}"`) as string;
      here!.at = key;
      if (here!.keys!.has(key)) return jsonPath(open.map(({ at }) => at));
      here!.keys!.add(key);
    }
  }
  return undefined;
}
