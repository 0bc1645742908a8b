/** @file Splits the text of a command into its words, as a shell does. Nothing else of a shell happens: no variables, no patterns, no pipes. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from './errors.ts';

/** @param flag the flag that has the text, for messages @throws UsageError */
export function splitCommand(flag: string, text: string): string[] {
  const words: string[] = [];
  // A word is a run of quoted texts, escaped characters and other characters.
  const piece = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(\s+)|(.)/gsy;
  let word: string | null = null;
  for (const [all, single, double, escaped, plain, space] of text.matchAll(piece)) {
    if (space !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else if (single !== undefined) word = (word ?? '') + single;
    else if (double !== undefined) word = (word ?? '') + double.replace(/\\(["\\$`])/g, '$1').replaceAll('\\\n', '');
    else if (escaped !== undefined) word = (word ?? '') + escaped.replace('\n', '');
    else if (plain === undefined) throw new UsageError(`${flag} has a ${all} without its end: expected quotes in pairs, or \\${all}`);
    else {
      const operator = /^(?:[|&;<>]+|\d?>{1,2}.*)$/.exec(plain)?.[0];
      if (operator && word === null)
        throw new UsageError(`${flag} has ${operator}, but runs without a shell: expected a program and its arguments`);
      word = (word ?? '') + plain;
    }
  }
  if (word !== null) words.push(word);
  if (words.length === 0 || words[0] === '') throw new UsageError(`${flag} is empty: expected a program and its arguments`);
  if (/^\w+=/.test(words[0]!))
    throw new UsageError(`${flag} begins with the variable ${words[0]!.split('=')[0]}: expected --env ${words[0]!.split('=')[0]}=VALUE`);
  return words;
}

/**
 * The words with absolute paths for files and folders of this folder, because the command runs elsewhere. A word is a path if it
 * contains `/` or `.`, and the path exists. So may the part of an option after `=`.
 */
export const ownPaths = (words: readonly string[]): string[] =>
  words.map((word) =>
    word.replace(/^(-[^=]*=)?(.*)$/s, (_, option: string = '', path: string) =>
      /[/.]/.test(path) && existsSync(path) ? option + resolve(path) : option + path,
    ),
  );
