/**
 * Versions of the database of runs: a database of every earlier version keeps its rows through the upgrade, also if the upgrade
 * is aborted, and a database of a newer version is read but neither written nor patched.
 */
import 'fake-indexeddb/auto';
import { Dexie, type IndexableType } from 'dexie';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RunDatabase } from '../../../src/storage/database.ts';
import { reportFaults } from '../../support/faults.ts';

/** The tables that each version added, with a row of each. Versions are never changed, so neither is this list. */
const VERSIONS: Record<string, { schema: string; row: object; key: IndexableType }>[] = [
  {
    runs: { schema: 'id, createdAt', row: { id: 'r', createdAt: 5, name: 'brisk-otter', status: 'done', step: 3 }, key: 'r' },
    metrics: { schema: '[run+step]', row: { run: 'r', step: 3, values: { step: 3, 'critic/score/mean': 0.5 } }, key: ['r', 3] },
    rollouts: {
      schema: '[run+id], [run+step], [run+group]',
      row: { run: 'r', id: 'a', step: 3, group: 'g', reward: 1 },
      key: ['r', 'a'],
    },
    trajectories: { schema: '[run+id]', row: { run: 'r', id: 'a', nodes: [{ role: 'user', content: 'Hello' }] }, key: ['r', 'a'] },
    checkpoints: {
      schema: '[run+step]',
      row: { run: 'r', step: 3, savedAt: 6, weights: new Uint8Array([1, 2, 3]), reference: null, state: { optimizerStep: 3 } },
      key: ['r', 3],
    },
  },
  {
    evaluations: {
      schema: 'id, createdAt, run',
      row: { id: 'e', createdAt: 7, run: 'r', name: 'brisk-otter@3', report: { pass_hat: [{ value: 0.5 }] } },
      key: 'e',
    },
    evaluationTrajectories: { schema: '[evaluation+id]', row: { evaluation: 'e', id: 't', nodes: [] }, key: ['e', 't'] },
    lessons: { schema: 'id', row: { id: 'loop', step: 2 }, key: 'loop' },
    models: { schema: 'id', row: { id: 'm', name: 'mine', addedAt: 8, files: { 'config.json': new Uint8Array([123]) } }, key: 'm' },
  },
  { branches: { schema: 'id, origin', row: { id: 'b', origin: 'rollout/r/a', turn: 2 }, key: 'b' } },
  {
    runs: { schema: 'id, createdAt, experiment', row: { id: 'x', createdAt: 9, experiment: 'honest', step: 1 }, key: 'x' },
    experiments: { schema: 'id, createdAt', row: { id: 'honest', createdAt: 9, results: [] }, key: 'honest' },
    datasets: { schema: 'id, createdAt', row: { id: 'd', createdAt: 10, conversations: 1 }, key: 'd' },
    datasetConversations: { schema: '[dataset+index]', row: { dataset: 'd', index: 0, messages: [] }, key: ['d', 0] },
  },
];
const NEWEST = VERSIONS.length;

let made = 0;
afterEach(() => vi.restoreAllMocks());

/** The tables of versions 1 to `version`, as Dexie declares them. */
function declare(db: Dexie, version: number): Dexie {
  for (let v = 1; v <= version; v++)
    db.version(v).stores(Object.fromEntries(Object.entries(VERSIONS[v - 1]!).map(([table, { schema }]) => [table, schema])));
  return db;
}

/** A closed database as the app of `version` left it. */
async function written(version: number): Promise<string> {
  const name = `schema versions: ${++made}`;
  const db = declare(new Dexie(name), version);
  for (const tables of VERSIONS.slice(0, version)) for (const [table, { row }] of Object.entries(tables)) await db.table(table).put(row);
  db.close();
  return name;
}

async function expectRows(db: Dexie, version: number): Promise<void> {
  for (const tables of VERSIONS.slice(0, version))
    for (const [table, { row, key }] of Object.entries(tables)) expect(await db.table(table).get(key), table).toEqual(row);
}

const installed = async (name: string) => (await indexedDB.databases()).find((db) => db.name === name)!.version;

test('the list has every table of the app, in its newest form', () => {
  const listed = Object.assign({}, ...VERSIONS) as (typeof VERSIONS)[0];
  const db = new RunDatabase('never opened');
  const forms = db.tables.map(({ name, schema }) => [name, [schema.primKey, ...schema.indexes].map(({ src }) => src).join(', ')]);
  expect(Object.fromEntries(forms)).toEqual(Object.fromEntries(Object.entries(listed).map(([name, { schema }]) => [name, schema])));
  expect(db.verno).toBe(NEWEST);
});

test.each(VERSIONS.map((_, i) => i + 1))('a database of version %i keeps every row, and takes new ones', async (version) => {
  const name = await written(version);
  const db = new RunDatabase(name);
  await expectRows(db, version);
  for (const tables of VERSIONS) for (const [table, { row }] of Object.entries(tables)) await db.table(table).put(row);
  await expectRows(db, NEWEST);
  expect(await db.runs.where('experiment').equals('honest').count()).toBe(1);
  expect([await installed(name), db.isNewer]).toEqual([NEWEST * 10, false]);
});

test.each(VERSIONS.slice(1).map((_, i) => i + 1))(
  'an upgrade of version %i that is aborted at any of its steps loses no row',
  async (version) => {
    for (let k = 1; ; k++) {
      const name = await written(version);
      let steps = 0;
      const step = <T extends unknown[], R>(real: (...values: T) => R) =>
        function (this: unknown, ...values: T): R {
          if (++steps === k) throw new DOMException('the tab died', 'AbortError');
          return real.apply(this, values);
        };
      const { createObjectStore } = IDBDatabase.prototype;
      const { createIndex } = IDBObjectStore.prototype;
      vi.spyOn(IDBDatabase.prototype, 'createObjectStore').mockImplementation(step(createObjectStore));
      vi.spyOn(IDBObjectStore.prototype, 'createIndex').mockImplementation(step(createIndex));
      const upgrading = new RunDatabase(name);
      const isAborted = await upgrading.open().then(
        () => false,
        () => true,
      );
      upgrading.close();
      vi.restoreAllMocks();
      if (!isAborted) {
        expect(k).toBeGreaterThan(1);
        reportFaults({
          fault: `an upgrade of the storage from version ${version} is aborted`,
          how: 'at each table and index that the upgrade makes',
          times: k - 1,
          lost: 'nothing: every row is there after the next upgrade',
          test: 'tests/unit/storage/schema-versions.test.ts',
        });
        return;
      }
      expect(await installed(name), `step ${k}`).toBe(version * 10);
      const old = declare(new Dexie(name), version);
      await expectRows(old, version);
      old.close();
      await expectRows(new RunDatabase(name), version);
    }
  },
);

describe('a database of a newer version', () => {
  // Dexie warns of the patch that it wants to make, and of the upgrade that another tab makes.
  beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));
  const next = (name: string) => {
    const db = declare(new Dexie(name), NEWEST);
    // One table is new, one is gone, and an index has another form.
    db.version(NEWEST + 1).stores({ judgements: 'id', lessons: null, branches: 'id, &origin' });
    return db;
  };
  const shape = async (name: string) => {
    const db = await new Dexie(name).open();
    const tables = db.tables.map(({ name: table, schema }) => [table, schema.indexes.map(({ src }) => src)]);
    db.close();
    return { version: await installed(name), tables };
  };
  const SENTENCE = 'a newer version of the playground has written the storage of this browser: reload the page to use that version';

  test('is read, but neither written nor patched', async () => {
    const name = await written(NEWEST);
    const newer = next(name);
    await newer.table('judgements').put({ id: 'j' });
    newer.close();
    const before = await shape(name);
    const db = new RunDatabase(name);
    expect(await db.runs.get('r')).toMatchObject({ name: 'brisk-otter' });
    expect(db.isNewer).toBe(true);
    for (const write of [
      () => db.runs.update('r', { step: 9 }),
      () => db.runs.delete('r'),
      () => db.metrics.put({ run: 'r', step: 4, values: { step: 4 } }),
      () => db.transaction('rw', db.runs, () => db.runs.clear()),
    ])
      await expect(write()).rejects.toThrow(SENTENCE);
    expect(await db.runs.get('r')).toMatchObject({ step: 3 });
    db.close();
    expect(await shape(name)).toEqual(before);
  });

  test('an old tab beside an upgrading one lets it upgrade, and then reads only', async () => {
    const name = await written(NEWEST);
    const old = new RunDatabase(name);
    await old.runs.update('r', { step: 4 });
    const newer = next(name);
    await newer.table('runs').update('r', { step: 5 });
    expect(await old.runs.get('r')).toMatchObject({ step: 5 });
    await expect(old.runs.update('r', { step: 6 })).rejects.toThrow(SENTENCE);
    expect(await newer.table('runs').get('r')).toMatchObject({ step: 5 });
  });
});
