/**
 * Faults during a run of three steps. At each write, the write fails with QuotaExceededError or the tab dies. At each call of
 * the engine, the device is lost. The storage is cleared. The run is then continued, and its rows equal those of a run without a fault.
 */
import 'fake-indexeddb/auto';
import { type DBCore, Dexie } from 'dexie';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { RunRow } from '../../../src/records/run.ts';
import { DeviceLostError } from '../../../src/trainer/engine-host.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { fakeRuns, fakes, REQUEST, SETTINGS } from '../../support/fake-runs.ts';
import { reportFaults } from '../../support/faults.ts';

// The status of a run cannot be stored either. The trainer says so in the console.
beforeAll(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
const TEST = 'tests/unit/trainer/storage-faults.test.ts';
const SOON = { timeout: 20_000, interval: 5 };
const WRITES = { ...REQUEST, overrides: { ...SETTINGS, save_freq: 1, test_freq: 1 } };

/** Counts the writes. A write fails if `fails` is true for its number. */
function faulty(name: string, fails: (write: number) => boolean): { database: RunDatabase; writes: () => number } {
  const database = new RunDatabase(name);
  let writes = 0;
  database.use({
    stack: 'dbcore',
    name: 'faults',
    create: (core): DBCore => ({
      ...core,
      table(table) {
        const real = core.table(table);
        return {
          ...real,
          mutate: (request) =>
            fails(++writes) ? Promise.reject(new DOMException('the quota is exceeded', 'QuotaExceededError')) : real.mutate(request),
        };
      },
    }),
  });
  return { database, writes: () => writes };
}

const rowOf = async (database: RunDatabase) => (await database.runs.toArray()).find(({ superseded }) => !superseded);
type Trainer = ReturnType<typeof fakeRuns>['trainer'];
const ended = (trainer: Trainer) => expect.poll(() => trainer.active, SOON).toBeNull();

/** What must be equal after any fault. Ids of rollouts and times differ between runs. */
async function content(database: RunDatabase, run: RunRow) {
  const [metrics, rollouts, trajectories, evaluations, trials, checkpoints] = await Promise.all([
    database.metrics.toArray(),
    database.rollouts.toArray(),
    database.trajectories.toArray(),
    database.evaluations.toArray(),
    database.evaluationTrajectories.toArray(),
    database.checkpoints.toArray(),
  ]);
  const own = <T extends { run: string }>(rows: T[]) => rows.filter((row) => row.run === run.id);
  const held = evaluations.filter((evaluation) => evaluation.run === run.id);
  return {
    step: run.step,
    metrics: own(metrics).map(({ step, values }) => [
      step,
      Object.keys(values)
        .filter((key) => !/^(perf|timing)/.test(key))
        .sort(),
    ]),
    rollouts: own(rollouts).map(({ step, reward }) => [step, reward]),
    texts: own(trajectories).length,
    evaluations: held.map(({ model, report }) => [model.kind === 'run' && model.step, report.pass_hat[0]!.value]),
    trials: held.map(({ id }) => trials.filter(({ evaluation }) => evaluation === id).length),
    checkpoints: own(checkpoints).map(({ step }) => step),
  };
}

/** Expects that every row belongs to a row that exists. */
async function expectConsistent(database: RunDatabase): Promise<void> {
  const runs = new Set((await database.runs.toArray()).map(({ id }) => id));
  const evaluations = new Set((await database.evaluations.toArray()).map(({ id }) => id));
  for (const table of [database.metrics, database.rollouts, database.trajectories, database.checkpoints])
    for (const { run } of (await table.toArray()) as { run: string }[]) expect(runs).toContain(run);
  const rollouts = new Set((await database.rollouts.toArray()).map(({ run, id }) => `${run} ${id}`));
  for (const { run, id } of await database.trajectories.toArray()) expect(rollouts).toContain(`${run} ${id}`);
  for (const { evaluation } of await database.evaluationTrajectories.toArray()) expect(evaluations).toContain(evaluation);
}

async function finishedWithoutFault() {
  const { database, writes } = faulty('storage faults: none', () => false);
  const { trainer } = fakeRuns(database, fakes());
  await trainer.start(WRITES);
  await ended(trainer);
  const row = (await rowOf(database))!;
  expect(row.status).toBe('done');
  return { whole: await content(database, row), writes: writes() };
}

/** The data that a fault must not remove: conversations, metrics, evaluations and checkpoints. */
const counted = (database: RunDatabase) =>
  Promise.all(
    [database.rollouts, database.trajectories, database.metrics, database.evaluations, database.evaluationTrajectories].map((table) =>
      table.count(),
    ),
  );

/** Starts a run whose storage fails as `fails` says, until `heal` is called. */
async function begun(name: string, fails: (write: number) => boolean) {
  let isFull = true;
  const { database } = faulty(`storage faults: ${name}`, (write) => isFull && fails(write));
  const { trainer, events } = fakeRuns(database, fakes());
  await trainer.start(WRITES);
  const last = () => events.findLast((event) => event.type === 'status');
  await expect.poll(() => trainer.active === null || last()?.status === 'paused', SOON).toBe(true);
  return { database, trainer, last, heal: () => (isFull = false) };
}

/** Expects that the run is complete and that the storage has no other data. */
async function expectWhole(database: RunDatabase, whole: unknown, where: string): Promise<void> {
  const row = (await rowOf(database))!;
  expect(row.status, `${where}: ${row.message}`).toBe('done');
  expect(await content(database, row), where).toEqual(whole);
  await expectConsistent(database);
}

describe('QuotaExceededError at write k of a run', () => {
  test.each([
    ['one write fails', (k: number) => (write: number) => write === k],
    ['all writes fail until the run is continued', (k: number) => (write: number) => write >= k],
  ])('%s', async (name, failing) => {
    const { whole, writes } = await finishedWithoutFault();
    expect(writes).toBeGreaterThan(20);
    let [paused, lost] = [0, 0];
    for (let k = 1; k <= writes; k++) {
      const { database, trainer, last, heal } = await begun(`${name} ${k}`, failing(k));
      heal();
      if (trainer.active !== null) {
        expect(last()!.message).toMatch(
          /^Paused, as .+ is not stored: the browser has no room for .+: free some space on the disk, or delete other runs and models\. Resume stores it\.$/,
        );
        expect(Object.keys(await trainer.model())).toContain('model.safetensors');
        paused += 1;
        await trainer.unpause();
        await ended(trainer);
      }
      const row = await rowOf(database);
      // The run itself could not be stored, so nothing was played.
      if (!row) {
        expect(k).toBe(1);
        await expect.poll(() => last()?.message, SOON).toContain('the browser has no room for the run');
        continue;
      }
      const before = await counted(database);
      // The start failed, so the run failed too. The page shows a row that nobody trains as interrupted.
      if (row.status !== 'done') {
        await trainer.resume(row.id);
        await ended(trainer);
      }
      await expectWhole(database, whole, `write ${k}`);
      lost += (await counted(database)).filter((count, i) => count < before[i]!).length;
      database.close();
    }
    expect(lost).toBe(0);
    // The first writes are those of the start.
    expect(paused).toBeGreaterThan(writes - 10);
    reportFaults({
      fault: `the storage is full (QuotaExceededError): ${name}`,
      how: 'at each write of a run of three steps, with a fake GPU and a fake customer',
      times: writes,
      lost: `nothing: ${paused} runs paused and continued, ${writes - paused} could not start`,
      test: TEST,
    });
  });
});

test('the tool database is full at its call k: the run pauses within the call, and goes on', async () => {
  const { whole } = await finishedWithoutFault();
  let k = 1;
  for (; ; k++) {
    const database = new RunDatabase(`storage faults: tools ${k}`);
    const parts = fakes();
    let calls = 0;
    const { environments } = parts.stage;
    for (const name of ['tasks', 'start', 'verify', 'close'] as const) {
      const real = environments[name].bind(environments) as (...values: unknown[]) => unknown;
      // An error from a worker arrives without its class, but with its name.
      environments[name] = (async (...values: unknown[]) => {
        if (++calls === k) throw Object.assign(new Error('no room'), { name: 'QuotaExceededError' });
        return real(...values);
      }) as never;
    }
    const { trainer, events } = fakeRuns(database, parts);
    await trainer.start(WRITES);
    const last = () => events.findLast((event) => event.type === 'status');
    await expect.poll(() => trainer.active === null || last()?.status === 'paused', SOON).toBe(true);
    if (calls < k) break;
    expect(last()!.message).toContain('the browser has no room for the tool database: free some space');
    await trainer.unpause();
    await ended(trainer);
    await expectWhole(database, whole, `call ${k}`);
    database.close();
  }
  expect(k).toBeGreaterThan(30);
  reportFaults({
    fault: 'the storage is full (QuotaExceededError): a call of the tool database fails',
    how: 'at each call of a run of three steps, with a fake GPU, customer and tools',
    times: k - 1,
    lost: 'nothing: the run paused during the call, and continued',
    test: TEST,
  });
});

test('a tab that dies at write k of a run', async () => {
  const { whole, writes } = await finishedWithoutFault();
  let lost = 0;
  for (let k = 2; k <= writes; k++) {
    // If a tab dies during a transaction, the transaction is aborted. The tab writes nothing after that.
    const { database } = await begun(`death ${k}`, (write) => write >= k);
    database.close();
    const after = new RunDatabase(database.name);
    const before = await counted(after);
    const { trainer } = fakeRuns(after, fakes());
    await trainer.resume((await rowOf(after))!.id);
    await ended(trainer);
    await expectWhole(after, whole, `write ${k}`);
    lost += (await counted(after)).filter((count, i) => count < before[i]!).length;
    after.close();
  }
  expect(lost).toBe(0);
  reportFaults({
    fault: 'the tab dies inside a transaction',
    how: 'at each write of a run of three steps, with a fake GPU and a fake customer',
    times: writes - 1,
    lost: 'the current step; the run then continued and stored the same rows',
    test: TEST,
  });
});

test('the device is lost at call k of the engine', async () => {
  const { whole } = await finishedWithoutFault();
  /** Counts the calls of the engine, and loses the device at call `k`. */
  const losing = (parts: ReturnType<typeof fakes>, k: number, lose: () => void) => {
    let calls = 0;
    const counted = <T extends object>(target: T, names: (keyof T)[]) => {
      for (const name of names) {
        const real = target[name] as (...values: unknown[]) => unknown;
        target[name] = (async (...values: unknown[]) => {
          if (++calls === k) lose();
          if (calls >= k) throw new Error('the device is lost');
          return real.apply(target, values);
        }) as T[keyof T];
      }
    };
    counted(parts.engine, ['score', 'accumulate', 'step', 'weights', 'optimizerState']);
    counted(parts.engine.sampler, ['open', 'generate']);
    return () => calls;
  };
  let k = 1;
  for (; ; k++) {
    const database = new RunDatabase(`storage faults: device ${k}`);
    const parts = fakes();
    const { trainer, host } = fakeRuns(database, parts);
    const calls = losing(parts, k, () => host.onLost(new DeviceLostError('the driver was reset')));
    await trainer.start(WRITES);
    await ended(trainer);
    if (calls() < k) break;
    const row = (await rowOf(database))!;
    expect([row.status, row.message], `call ${k}`).toEqual(['interrupted', 'the driver was reset']);
    const before = await counted(database);
    const { trainer: again } = fakeRuns(database, fakes());
    await again.resume(row.id);
    await ended(again);
    await expectWhole(database, whole, `call ${k}`);
    expect(
      (await counted(database)).filter((count, i) => count < before[i]!),
      `call ${k}`,
    ).toEqual([]);
    database.close();
  }
  expect(k).toBeGreaterThan(30);
  reportFaults({
    fault: 'the GPU device is lost in rollout, scoring, update or save',
    how: 'at each call of a fake engine in a run of three steps',
    times: k - 1,
    lost: 'the current step; the run then continued and stored the same rows',
    test: TEST,
  });
});

test('storage that is cleared while a run trains', async () => {
  const { writes } = await finishedWithoutFault();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  for (let k = 2; k <= writes; k++) {
    const name = `storage faults: cleared ${k}`;
    let cleared = Promise.resolve();
    const { database } = faulty(name, (write) => {
      if (write === k) cleared = Dexie.delete(name);
      return false;
    });
    const { trainer, events } = fakeRuns(database, fakes());
    await trainer.start(WRITES);
    const last = () => events.findLast((event) => event.type === 'status');
    await expect.poll(() => trainer.active === null || last()?.status === 'paused', SOON).toBe(true);
    await cleared;
    await expectConsistent(database);
    if (trainer.active !== null) {
      expect(last()!.message).toMatch(/^Paused, as .+ is not stored: .+ Resume stores it\.$/);
      expect(Object.keys(await trainer.model())).toContain('model.safetensors');
      await trainer.stop();
    }
    await expectConsistent(database);
    database.close();
  }
  reportFaults({
    fault: 'the visitor clears the storage while a run trains',
    how: 'the database is deleted at each write of a run of three steps',
    times: writes - 1,
    lost: 'what the visitor cleared; the run paused, and its model could still be downloaded',
    test: TEST,
  });
});
