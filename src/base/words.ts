/** @file Words and runs of words of texts, for measures of likeness. */

/** The words in lower case. A Chinese character is a word. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{sc=Han}|(?:(?!\p{sc=Han})[\p{L}\p{N}_])+/gu) ?? [];

/** Calls `use` with each run of `length` words. */
export function eachRun(words: readonly string[], length: number, use: (run: string) => void): void {
  for (let i = 0; i + length <= words.length; i++) use(words.slice(i, i + length).join(' '));
}

/** All different runs of `length` words of the texts. */
export function runsOf(texts: readonly string[], length: number): Set<string> {
  const runs = new Set<string>();
  for (const text of texts) eachRun(wordsOf(text), length, (run) => runs.add(run));
  return runs;
}

/** The text with N for each capitalised word and 0 for each number, so that names and ids make no difference. */
export const masked = (text: string): string =>
  text.replace(/(?<![\p{L}\p{N}_])\p{Lu}\p{Ll}+(?![\p{L}\p{N}_])/gu, 'N').replace(/\p{Nd}+/gu, '0');
