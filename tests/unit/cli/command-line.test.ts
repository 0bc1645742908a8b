/** The text of a command is split as a shell does, without its other abilities. */
import { describe, expect, test } from 'vitest';
import { ownPaths, splitCommand } from '../../../src/cli/command-line.ts';

describe('the text of a command', () => {
  test.each([
    [`node a.js`, ['node', 'a.js']],
    [`  'my node'  "a b"c 'd'e\\ f `, ['my node', 'a bc', 'de f']],
    [`a "x \\"y\\" \\n" '\\n' ""`, ['a', 'x "y" \\n', '\\n', '']],
    [`env 'A=$HOME' *.js`, ['env', 'A=$HOME', '*.js']],
    [`a b|c --x=1>2`, ['a', 'b|c', '--x=1>2']],
  ])('%s', (given, words) => expect(splitCommand('--command', given)).toEqual(words));

  test.each([
    ['', 'is empty'],
    [`a "b`, 'has a " without its end'],
    ['a | b', 'has |, but runs without a shell'],
    ['a && b', 'has &&, but'],
    ['a > b', 'has >, but'],
    ['KEY=1 a', 'begins with the variable KEY: expected --env KEY=VALUE'],
  ])('%s is refused', (given, message) => expect(() => splitCommand('--command', given)).toThrow(message));

  test('keeps the paths of files of this folder, and nothing else', () => {
    const here = process.cwd();
    const words = ['node', 'package.json', '--config=bin/mua.mjs', '.', 'src', 'no/such', '@modelcontextprotocol/server-memory'];
    expect(ownPaths(words)).toEqual(['node', `${here}/package.json`, `--config=${here}/bin/mua.mjs`, here, ...words.slice(4)]);
  });
});
