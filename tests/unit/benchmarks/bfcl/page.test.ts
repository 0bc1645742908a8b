/** The page's view of an imported BFCL. */
import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { BenchmarkDatabase } from '../../../../src/benchmarks/import/database.ts';
import { WorldBrowser } from '../../../../src/worlds/browser.ts';
import { fixtureFiles } from '../../../support/bfcl-fixture.ts';

test('an import is stored, listed and opened, and its gold actions run', async () => {
  const browser = new WorldBrowser(new BenchmarkDatabase('bfcl-page'), 'bfcl-worlds');
  expect(browser.benchmarks().find(({ title }) => title === 'BFCL Multi Turn')!.domains).toEqual(['multiturn']);
  const [stored] = await browser.importFiles(fixtureFiles());
  expect(stored).toMatchObject({ benchmark: 'bfcl', domain: 'multiturn', tasks: 3 });
  expect((await browser.list()).at(-1)).toMatchObject({ name: 'bfcl-multiturn', title: 'Multiturn, BFCL Multi Turn', tasks: 3 });
  const ref = { name: 'bfcl-multiturn', split: '', seed: null, number: null, task: '' };
  const info = await browser.info(ref);
  expect(info.splits).toEqual([
    { name: 'all', tasks: 3 },
    { name: 'base', tasks: 2 },
    { name: 'miss_func', tasks: 1 },
  ]);
  expect(info.tables.map(({ name }) => name)).toContain('TradingBot');
  // The database comes from storage here, where 100.0 must still be a float.
  for (const [id, calls] of [
    ['multi_turn_base_0', 3],
    ['multi_turn_base_1', 1],
    ['multi_turn_miss_func_0', 2],
  ] as const) {
    const run = await browser.runGold({ ...ref, task: `bfcl-multiturn/full/heldout/${id}` });
    expect(run.verdict.reward, id).toBe(1);
    expect(run.calls).toHaveLength(calls);
  }
  const paid = await browser.runGold({ ...ref, task: 'bfcl-multiturn/full/heldout/multi_turn_base_1' });
  expect(paid.calls[0]!.text).toBe('{"status": "Account funded successfully", "new_balance": 150.0}');
});
