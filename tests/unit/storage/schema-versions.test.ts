/**
 * Versions of the database of runs: a database of an earlier version is refused and keeps its rows, and a database of a newer
 * version is read but neither written nor patched.
 */
import 'fake-indexeddb/auto';
import { Dexie } from 'dexie';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RunDatabase } from '../../../src/storage/database.ts';

/** The version and the layout that the app has now. */
const NEWEST = 5;
const TABLES = {
  runs: 'id, createdAt, experiment',
  metrics: '[run+step]',
  rollouts: '[run+id], [run+step], [run+group]',
  trajectories: '[run+id]',
  checkpoints: '[run+step]',
  evaluations: 'id, createdAt, run',
  evaluationTrajectories: '[evaluation+id]',
  lessons: 'id',
  models: 'id',
  branches: 'id, origin',
  experiments: 'id, createdAt',
  datasets: 'id, createdAt',
  datasetConversations: '[dataset+index]',
};

let made = 0;
afterEach(() => vi.restoreAllMocks());

/** A closed database of a version with one run. */
async function written(version: number): Promise<string> {
  const name = `schema versions: ${++made}`;
  const db = new Dexie(name);
  db.version(version).stores(TABLES);
  await db.table('runs').put({ id: 'r', createdAt: 5, name: 'brisk-otter', status: 'done', step: 3 });
  db.close();
  return name;
}

const installed = async (name: string) => (await indexedDB.databases()).find((db) => db.name === name)!.version;

test('the tables of the app have this layout', () => {
  const db = new RunDatabase('never opened');
  const forms = db.tables.map(({ name, schema }) => [name, [schema.primKey, ...schema.indexes].map(({ src }) => src).join(', ')]);
  expect(Object.fromEntries(forms)).toEqual(TABLES);
  expect(db.verno).toBe(NEWEST);
});

test('a database of an earlier version is refused in one sentence, and keeps its rows', async () => {
  const name = await written(NEWEST - 1);
  const db = new RunDatabase(name);
  for (const use of [() => db.runs.toArray(), () => db.runs.put({ id: 'x' } as never)])
    await expect(use()).rejects.toThrow(
      'an earlier version of the playground has written the storage of this browser: delete the data of this site in the settings of the browser',
    );
  expect(await installed(name)).toBe((NEWEST - 1) * 10);
  const old = await new Dexie(name).open();
  expect(await old.table('runs').toArray()).toMatchObject([{ id: 'r' }]);
  old.close();
  await Dexie.delete(name);
  expect(await new RunDatabase(name).runs.count()).toBe(0);
});

describe('a database of a newer version', () => {
  // Dexie warns of the patch that it wants to make, and of the upgrade that another tab makes.
  beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));
  const next = (name: string) => {
    const db = new Dexie(name);
    // One table is new, one is gone, and an index has another form.
    db.version(NEWEST + 1).stores({ ...TABLES, judgements: 'id', lessons: null, branches: 'id, &origin' });
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
