/** The pages of worlds: the worker's answers, and the display of rows and schemas. */
import 'fake-indexeddb/auto';
import { describe, expect, test } from 'vitest';
import { benchmarkFiles } from '../../../src/app/kit/picked-files.ts';
import { Blocks } from '../../../src/app/kit/blocks.ts';
import { cellText, childrenOf, columnsOf, isLeaf, leafText, opensAtFirst } from '../../../src/worlds/row-text.ts';
import { wordSearch } from '../../../src/worlds/word-search.ts';
import { WorldBrowser } from '../../../src/worlds/browser.ts';
import type { WorldRef } from '../../../src/worlds/types.ts';
import type { Json } from '../../../src/records/json.ts';
import { BenchmarkDatabase } from '../../../src/benchmarks/import/database.ts';
import { bytes, files, tau1Retail, tau2Mock, tau2Retail, tau2Telecom } from '../../support/benchmark-data.ts';

let stores = 0;
function open() {
  const database = new BenchmarkDatabase(`worlds-${++stores}`);
  return { database, browser: new WorldBrowser(database, `worlds-environments-${stores}`) };
}
const ref = (name: string, task = '', split = ''): WorldRef => ({ name, split, seed: null, number: null, task });

describe('generated worlds', () => {
  const { browser } = open();

  test('are listed with their content', async () => {
    const list = await browser.list();
    expect(list.map(({ name }) => name)).toEqual([
      'chat-question',
      'courses-nano',
      'courses-small',
      'jobs-nano',
      'jobs-small',
      'library-nano',
      'library-small',
      'rentals-nano',
      'rentals-small',
      'retail-nano',
      'retail-small',
      'retail-full',
      'retail-glimpse',
      'rooms-nano',
      'rooms-small',
      'telecom-nano',
      'telecom-small',
      'telecom-full',
      'telecom-glimpse',
      'bookings-nano',
      'bookings-small',
      'contacts-nano',
      'contacts-small',
      'desk-nano',
      'desk-small',
      'plans-nano',
      'plans-small',
    ]);
    // Four domains have their state in MCP servers, which begin with these tables.
    const hosted = list.filter((world) => world.generated?.hosted);
    expect(hosted.map(({ rows }) => rows.map(({ table }) => table))).toEqual([
      ['boat', 'guest', 'booking'],
      ['boat', 'guest', 'booking'],
      ['entity', 'home', 'member'],
      ['entity', 'home', 'member'],
      ['paper'],
      ['paper'],
      ['request', 'task'],
      ['request', 'task'],
    ]);
    for (const { name, rows, tasks, imported } of list) {
      // The chat has no tables, and these servers have few.
      if (!/^(chat|desk|plans)-/.test(name)) expect(rows.length).toBeGreaterThan(2);
      expect(rows.every(({ count }) => count > 0)).toBe(true);
      expect(tasks).toBeGreaterThan(10);
      expect(imported).toBeUndefined();
    }
  });

  test('show tables, tools and policy of the requested world', async () => {
    const nano = await browser.info(ref('retail-nano'));
    expect(nano.generated).toEqual({ split: 'train', seed: 1, number: 0 });
    expect(nano.tables.map(({ name }) => name).sort()).toEqual(['orders', 'products', 'users']);
    expect(nano.tables.find(({ name }) => name === 'orders')!.columns).toContain('status');
    expect(nano.tools.length).toBeGreaterThan(3);
    expect(nano.policy).toContain('order');
    expect((await browser.info({ ...ref('telecom-small'), split: 'heldout', seed: 5, number: 2 })).generated).toEqual({
      split: 'heldout',
      seed: 5,
      number: 2,
    });
    // A task's id names its world. Other arguments are ignored.
    expect((await browser.info({ ...ref('retail-nano', 'retail/nano/heldout/7/130'), seed: 9 })).generated).toEqual({
      split: 'heldout',
      seed: 7,
      number: 2,
    });
    const unseen = await browser.info(ref('retail-nano', 'retail/nano/unseen/7/130'));
    expect(unseen).toMatchObject({ generated: { split: 'unseen', seed: 7, number: 2 } });
    expect(unseen.splits.map(({ name }) => name)).toEqual(['train', 'heldout', 'unseen']);
    expect((await browser.info(ref('telecom-small', 'telecom/small/unseen/7/1'))).generated).toMatchObject({ split: 'train' });
    expect((await browser.info(ref('retail-nano', 'retail/small/heldout/7/130'))).generated).toMatchObject({ split: 'train', seed: 1 });
    expect(await browser.info(ref('retail', 'retail/small/heldout/7/130'))).toMatchObject({
      title: 'Retail, small',
      generated: { split: 'heldout', seed: 7, number: 2 },
    });
    expect((await browser.info(ref('retail'))).title).toBe('Retail, nano');
  });

  test('answer a search with a few rows at a time, and with the index of a row', async () => {
    const world = ref('retail-nano');
    const { total } = await browser.find(world, 'orders', '', '');
    const all = await browser.rows(world, 'orders', '', 0, 1000);
    expect(all).toHaveLength(total);
    const { key } = all[7]!;
    expect(await browser.find(world, 'orders', '', key)).toEqual({ total, at: 7 });
    expect((await browser.rows(world, 'orders', '', 6, 9)).map((row) => row.key)).toEqual(all.slice(6, 9).map((row) => row.key));
    expect((await browser.rows(world, 'orders', key.toLowerCase(), 0, 10)).map((row) => row.key)).toContain(key);
    const pending = await browser.find(world, 'orders', ' PENDING ', '');
    expect(pending.total).toBeGreaterThan(0);
    expect(pending.total).toBeLessThan(total);
    expect(await browser.find(world, 'orders', 'pending nowhere-to-be-found', key)).toEqual({ total: 0, at: null });
    expect(await browser.row(world, 'orders', key)).toMatchObject({ value: { order_id: key } });
    expect(await browser.row(world, 'orders', 'none')).toBeNull();
    const whole = await browser.wholeRows(world, 'orders', 8);
    expect(whole.map(([of]) => of)).toEqual(all.slice(0, 8).map((row) => row.key));
    expect(whole[7]).toMatchObject([key, { order_id: key }]);
    await expect(browser.find(world, 'nothing', '', '')).rejects.toThrow("table: there is no 'nothing' in this world; it has ");
  });

  test.each(['retail-glimpse', 'retail-nano', 'retail-full', 'telecom-small', 'telecom-glimpse'])(
    '%s: gold plans earn their reward, and change rows unless the task is a no-op',
    async (name) => {
      const tasks = await browser.tasks(ref(name), '', 0, 6);
      expect(tasks).toHaveLength(6);
      for (const { id, noop, actions, label } of tasks) {
        expect(id.endsWith(`/${label}`)).toBe(true);
        const { calls, verdict } = await browser.runGold(ref(name, id));
        expect(calls).toHaveLength(actions);
        expect(calls.some(({ error }) => error)).toBe(false);
        expect(verdict.reward).toBe(1);
        if (name !== 'telecom-small') expect(verdict.changes.length === 0).toBe(noop);
        expect(verdict.changes).toEqual(verdict.goal);
      }
    },
  );

  test('tasks are found by their text; a missing task is reported', async () => {
    const world = ref('retail-nano');
    const { total } = await browser.findTasks(world, '');
    const noops = await browser.tasks(world, 'no-op', 0, 100);
    expect(noops.length).toBeGreaterThan(0);
    expect(noops.length).toBeLessThan(total);
    expect(noops.every(({ noop }) => noop)).toBe(true);
    expect(await browser.findTasks({ ...world, task: noops[0]!.id }, 'no-op')).toEqual({ total: noops.length, at: 0 });
    expect(await browser.task(ref('retail-nano', 'retail/nano/train/1/x'))).toBeUndefined();
    await expect(browser.runGold(ref('retail-nano', 'retail/nano/train/1/x'))).rejects.toThrow("there is no 'retail/nano/train/1/x'");
  });
});

describe('imports', () => {
  test('are listed, browsed, played with their gold actions and deleted', async () => {
    const { browser } = open();
    const told: string[] = [];
    const all = [
      ...files(tau1Retail, 'envs/retail/'),
      ...files(tau2Retail, 'domains/retail/'),
      ...files(tau2Mock, 'domains/mock/'),
      ...files(tau2Telecom, 'domains/telecom/'),
    ];
    const stored = await browser.importFiles(all, (_done, _total, label) => told.push(label));
    expect(stored.map(({ benchmark, domain }) => `${benchmark}-${domain}`)).toEqual([
      'tau1-retail',
      'tau2-retail',
      'tau2-mock',
      'tau2-telecom',
    ]);
    expect(told).toContain('domains/mock/tasks.json');
    expect(told).toContain('storing tau2-telecom');
    const imports = (await browser.list()).filter(({ imported }) => imported);
    expect(imports).toHaveLength(4);
    expect(imports.find(({ name }) => name === 'tau2-retail')).toMatchObject({
      title: 'Retail, tau2-bench',
      tasks: 1,
      imported: { used: true },
    });

    const info = await browser.info(ref('tau2-telecom'));
    expect(info).toMatchObject({ benchmark: 'tau2', generated: null, splits: [{ name: 'base', tasks: 1 }] });
    expect(info.userTools.length).toBeGreaterThan(20);
    expect(info.tables.find(({ name }) => name === 'settings')).toMatchObject({ count: 2 });
    expect(await browser.row(ref('tau2-telecom'), 'settings', 'device')).toMatchObject({ value: { wifi_enabled: true } });

    const [task] = await browser.tasks(ref('tau2-retail'), '', 0, 10);
    expect(task).toMatchObject({ id: 'tau2-retail/full/train/0', label: '0', actions: 1, noop: false });
    expect(task!.wants).toMatch(/^You are Ada Brown/);
    expect(await browser.findTasks(ref('tau2-retail', '', 'test'), '')).toEqual({ total: 0, at: null });
    expect((await browser.findTasks(ref('tau2-retail', task!.id, 'base'), 'ada')).at).toBe(0);
    expect((await browser.task(ref('tau2-retail', task!.id)))!.splits).toEqual(['train', 'base']);
    // The agent says the outputs, so that the gold actions earn the whole reward.
    const { verdict, calls } = await browser.runGold(ref('tau2-retail', task!.id));
    expect(calls[0]).toMatchObject({ error: false, call: { name: 'cancel_pending_order' } });
    expect(calls[0]!.changed).toBeGreaterThan(0);
    expect(verdict).toMatchObject({ reward: 1 });
    expect(verdict.changes.map(({ table, key }) => [table, key])).toContainEqual(['orders', '#W1']);
    expect((await browser.tasks(ref('tau1-retail'), '', 0, 10)).map(({ label, noop }) => [label, noop])).toEqual([
      ['test/0', false],
      ['test/1', true],
    ]);
    expect((await browser.runGold(ref('tau1-retail', 'tau1-retail/full/heldout/test/0'))).verdict.reward).toBe(1);

    for (const { imported } of imports) await browser.removeImport(imported!.id);
    expect((await browser.list()).filter(({ imported }) => imported)).toEqual([]);
    await expect(browser.info(ref('tau2-retail'))).rejects.toThrow("'tau2-retail' has not been imported in this browser");
  });

  test('a newer import of the same domain replaces the old import', async () => {
    const { browser } = open();
    await browser.importFiles(files(tau2Retail));
    await browser.info(ref('tau2-retail'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await browser.importFiles(files({ ...tau2Retail, 'policy.md': 'Another policy' }));
    expect((await browser.list()).flatMap(({ imported }) => (imported ? [imported.used] : []))).toEqual([true, false]);
    expect((await browser.info(ref('tau2-retail'))).policy).toBe('Another policy');
  });

  test('a broken file, a full disk or a cancelled import stores nothing', async () => {
    const { browser, database } = open();
    const good = [...files(tau2Retail, 'retail/'), ...files(tau2Mock, 'mock/')];
    const cut: [string, Uint8Array][] = good.map(([path, data]) => [path, path === 'mock/db.json' ? data.slice(0, 40) : data]);
    await expect(browser.importFiles(cut)).rejects.toThrow(/^mock\/db.json: it is not JSON: .*\(it seems to be cut off\)$/);
    expect(await database.list()).toEqual([]);

    const { store } = database;
    let calls = 0;
    database.store = (...given) =>
      ++calls === 2 ? Promise.reject(new Error('the browser has no room for this import')) : store.apply(database, given);
    await expect(browser.importFiles(good)).rejects.toThrow('no room');
    expect(await database.list()).toEqual([]);
    database.store = store;

    for (const at of ['retail/tasks.json', 'storing tau2-mock']) {
      await expect(browser.importFiles(good, (_done, _total, label) => label === at && browser.cancelImport())).rejects.toMatchObject({
        name: 'AbortError',
      });
      expect(await database.list(), at).toEqual([]);
    }
    const twice = await Promise.allSettled([browser.importFiles(good), browser.importFiles(good)]);
    expect(twice.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await database.list()).toHaveLength(2);
    // Earlier imports stay, also if a failed import contains the same domain.
    await expect(browser.importFiles([...good, ['other/db.json', bytes('{')]])).rejects.toThrow('other/db.json');
    expect(await database.list()).toHaveLength(2);
  });

  test.each(['tau2-airline', 'retail-huge', 'constructor-x', ''])("'%s' is not a known world", async (name) => {
    await expect(open().browser.info(ref(name))).rejects.toThrow(/there is no|has not been imported/);
  });
});

test('a search must match every word and ignores case', () => {
  expect(wordSearch('')('anything')).toBe(true);
  expect(wordSearch('  Mia CHEN ')('{"last_name":"Chen","first_name":"Mia"}')).toBe(true);
  expect(wordSearch('mia lee')('Mia Chen')).toBe(false);
  expect(wordSearch('#W12')('key #w123')).toBe(true);
});

describe('a row', () => {
  test('is a tree that distinguishes null, empty text, empty list and empty object', () => {
    expect([null, '', [], {}, 'null', 0, false].map((value) => leafText(value as Json))).toEqual([
      { text: 'null', none: true },
      { text: 'empty text', none: true },
      { text: 'empty list', none: true },
      { text: 'empty object', none: true },
      { text: 'null', none: false },
      { text: '0', none: false },
      { text: 'false', none: false },
    ]);
    expect(isLeaf({ a: 1 })).toBe(false);
    expect(childrenOf({ b: 1, a: [2] })).toEqual([
      { name: 'b', value: 1 },
      { name: 'a', value: [2] },
    ]);
    expect(childrenOf(JSON.parse('{"__proto__": 3}') as Json)).toEqual([{ name: '__proto__', value: 3 }]);
    expect(opensAtFirst({ a: 1 }, 1)).toBe(true);
    expect(opensAtFirst({ a: 1 }, 3)).toBe(false);
    expect(
      opensAtFirst(
        Array.from({ length: 40 }, () => 1),
        1,
      ),
    ).toBe(false);
  });

  test('is one line in a table', () => {
    expect(cellText('a\nb')).toBe('a b');
    expect(cellText('x'.repeat(500)).length).toBeLessThan(100);
    expect(cellText(undefined)).toBe('');
    expect(cellText(0)).toBe('0');
    expect(cellText({ first_name: 'Mia', last_name: 'Chen' })).toBe('Mia, Chen');
    expect(cellText([{ name: 'Mug' }, { name: 'Cup' }])).toBe('2 items');
    expect(cellText({ a: { b: 1 } })).toBe('1 field');
    expect(cellText(Array.from({ length: 30 }, (_, i) => i))).toBe('30 items');
  });

  test('has the columns of its table', () => {
    expect(
      columnsOf(
        [
          ['W1', { order_id: 'W1', status: 'a' }],
          ['W2', { order_id: 'W2', note: 1 }],
        ],
        5,
      ),
    ).toEqual(['status', 'note']);
    expect(columnsOf([['W1', { order_id: 'W1', a: 1, b: 2, c: 3 }]], 2)).toEqual(['a', 'b']);
    expect(
      columnsOf(
        [
          ['x', 'text'],
          ['y', null],
          ['z', [1]],
        ],
        5,
      ),
    ).toEqual([]);
  });
});

test('blocks are fetched once when they become visible, and again after a failure', async () => {
  const asked: [number, number][] = [];
  const heard: (string | undefined)[] = [];
  let broken = true;
  const blocks = new Blocks<number>(
    async (from, to) => {
      asked.push([from, to]);
      if (broken) throw new Error('gone');
      return Array.from({ length: to - from }, (_, i) => from + i);
    },
    (error) => heard.push(error?.message),
  );
  blocks.need(0, 20);
  await Promise.resolve().then(() => new Promise((resolve) => setTimeout(resolve)));
  expect(heard).toEqual(['gone']);
  broken = false;
  blocks.need(90, 210);
  blocks.need(95, 110);
  await new Promise((resolve) => setTimeout(resolve));
  expect(asked.slice(1)).toEqual([
    [0, 100],
    [100, 200],
    [200, 300],
  ]);
  expect([blocks.get(0), blocks.get(150), blocks.get(209), blocks.get(300)]).toEqual([0, 150, 209, undefined]);
  // Old blocks are dropped, visible blocks stay.
  for (let at = 300; at < 10_000; at += 100) {
    blocks.need(at, at + 1);
    blocks.need(150, 151);
    await new Promise((resolve) => setTimeout(resolve));
  }
  expect([blocks.get(0), blocks.get(150), blocks.get(9999)]).toEqual([undefined, 150, 9999]);
});

test('of a dropped repository only possible data files are sent', () => {
  const file = new File([''], 'x');
  const paths = [
    'tau2/data/db.json',
    'db.toml',
    'policy.md',
    'all.ZIP',
    'a/node_modules/b/package.json',
    '.git/config.json',
    'a/.venv/x.json',
    'src/main.py',
  ];
  expect(benchmarkFiles(paths.map((path) => [path, file])).map(([path]) => path)).toEqual([
    'tau2/data/db.json',
    'db.toml',
    'policy.md',
    'all.ZIP',
  ]);
});
