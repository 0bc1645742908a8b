/** The tables of the documents that repeat what the code says. */
import { expect, test } from 'vitest';
import { documents, readDocument, SETTINGS_PAGE, withTables } from '../../scripts/doc-tables.ts';
import { ALGORITHMS } from '../../src/training/algorithms/index.ts';
import { PAPER } from '../../src/training/defaults.ts';
import { PRESETS } from '../../src/training/presets.ts';

test.each(documents())('%s has the tables that the code gives: if not, run “npm run docs”', (path) => {
  const text = readDocument(path);
  expect(withTables(path, text)).toBe(text);
});

test('the documents have a row for each setting, preset and algorithm', () => {
  const text = readDocument('docs/cli.md') + readDocument(SETTINGS_PAGE);
  const rows = [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
  // An evaluation's customers have the settings of the training's, with a prefix.
  const settings = Object.keys(PAPER).filter((name) => !/^val_(customers|tools)\./.test(name));
  expect(rows).toEqual(expect.arrayContaining([...settings, ...Object.keys(PRESETS), ...Object.keys(ALGORITHMS)]));
});

test('a changed table is written anew, and a marker without a table is an error', () => {
  const text = readDocument(SETTINGS_PAGE);
  expect(withTables(SETTINGS_PAGE, text.replace('`lr` (`learning_rate`)', '`rate`'))).toBe(text);
  expect(() => withTables('a.md', '<!-- colours -->\n<!-- /colours -->')).toThrow(
    /^a\.md: unknown table "colours": expected presets, predicted steps, algorithms, /,
  );
});
