/**
 * The folder of `mua train` with faults of the disk. For each write of a run of three steps: the disk is full at this write, or the
 * process is killed after half of it. The run is then continued, and its files equal those of a run without a fault.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RunFolder } from '../../../src/cli/run-folder.ts';
import { reportFaults } from '../../support/faults.ts';

const disk = vi.hoisted(() => ({ writes: 0, failing: Infinity, killed: false }));

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const full = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  const fails = () => {
    disk.writes += 1;
    return disk.writes >= disk.failing;
  };
  const partly =
    (write: typeof real.writeFile): typeof real.writeFile =>
    async (path, data, ...rest) => {
      if (!fails()) return write(path, data, ...rest);
      const bytes = Buffer.from(data as Buffer);
      // The first failing write writes half of its bytes.
      if (disk.writes === disk.failing) await write(path, bytes.subarray(0, bytes.length / 2), ...rest);
      throw full();
    };
  const wholly =
    <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      if (fails()) throw full();
      return work(...given);
    };
  /** On a full disk, files can still be removed and truncated. A killed process can do nothing. */
  const removing =
    <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      if (disk.killed && disk.writes >= disk.failing) throw full();
      return work(...given);
    };
  return {
    ...real,
    rm: removing(real.rm),
    truncate: removing(real.truncate),
    writeFile: partly(real.writeFile),
    appendFile: partly(real.appendFile as typeof real.writeFile),
    mkdir: wholly(real.mkdir),
    copyFile: wholly(real.copyFile),
    rename: wholly(real.rename),
  };
});

let base: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'mua-faults-'));
  heal();
  await (await import('node:fs/promises')).writeFile(join(base, 'config.json'), '{}');
});
afterAll(() => rm(base, { recursive: true, force: true }));

const heal = () => Object.assign(disk, { writes: 0, failing: Infinity, killed: false });
const STEPS = 3;

/** What the page sends from the given step on. */
function* sent(after: number): Generator<[string, string]> {
  if (after === 0) yield ['evaluation', '{"step":0}'];
  for (let step = after + 1; step <= STEPS; step++) {
    yield ['step', `{"step":${step}}\n{"episode":"${step}a"}\n{"episode":"${step}b"}`];
    yield [`checkpoint-${step}.safetensors`, `weights ${step} `.repeat(20)];
  }
  yield ['model.safetensors', 'the weights '.repeat(20)];
  yield ['finished', '{"steps":3}'];
}

const start = (out: string, force = false) =>
  RunFolder.create(out, {
    command: 'train',
    settings: {},
    model: { files: { 'config.json': { file: join(base, 'config.json') } }, vocabSize: 1 },
    force,
  });

/** Resolves to the steps that were kept before the first fault. */
async function play(folder: RunFolder<object>, after: number): Promise<{ steps: number; failed: boolean }> {
  let steps = after;
  for (const [name, body] of sent(after)) {
    try {
      await folder.receive(name, Buffer.from(body));
    } catch (error) {
      expect((error as Error).message).toMatch(/could not write.*disk is full/);
      return { steps, failed: true };
    }
    if (name === 'step') steps += 1;
  }
  return { steps, failed: false };
}

/** The files of a finished run. Steps that were played again are kept apart. */
async function content(out: string) {
  const names = (await readdir(out)).filter((name) => !name.startsWith('superseded-') && name !== 'status.json' && !name.includes('.tmp'));
  return Object.fromEntries(await Promise.all(names.sort().map(async (name) => [name, await readFile(join(out, name), 'utf8')])));
}

/** Steps whose metrics can be read, those that will be played again too. */
async function readable(out: string): Promise<number> {
  const text = await Promise.all(
    ['metrics.jsonl', 'superseded-metrics.jsonl'].map((name) => readFile(join(out, name), 'utf8').catch(() => '')),
  );
  return new Set(text.join('').match(/\{"step":\d+\}\n/g)).size;
}

test.each([
  ['the disk is full', 'and is full until the run goes on'],
  ['the process is killed', 'within the write'],
])('%s at each write of mua train, %s', async (fault) => {
  const killed = fault === 'the process is killed';
  heal();
  const whole = join(base, `whole-${killed}`);
  expect(await play(await start(whole), 0)).toEqual({ steps: STEPS, failed: false });
  const expected = await content(whole);
  const writes = disk.writes;
  expect(writes).toBeGreaterThan(20);

  let anew = 0;
  for (let k = 1; k <= writes; k++) {
    const out = join(base, `${killed}-${k}`);
    heal();
    Object.assign(disk, { failing: k, killed });
    let before = { steps: 0, failed: true };
    try {
      const folder = await start(out);
      before = await play(folder, 0);
      // A killed process says nothing. A process on a full disk tries to.
      if (!killed) await folder.stop('failed', 'the disk is full');
    } catch (error) {
      expect((error as Error).message).toContain('the disk is full');
    }
    heal();
    expect(await readable(out), `write ${k}: finished steps`).toBeGreaterThanOrEqual(before.steps);
    if (before.failed) {
      const resumed = await RunFolder.resume(out, { flag: '--resume', command: 'train', note: () => {} }).catch((error: Error) => error);
      if (resumed instanceof RunFolder) {
        const { checkpoint } = resumed.interrupted!;
        const step = Number(/checkpoint-(\d+)/.exec(checkpoint)![1]);
        expect(before.steps - step, `write ${k}: steps to play again`).toBeLessThanOrEqual(1);
        await play(resumed, step);
        expect(await readable(out)).toBe(STEPS);
      } else {
        // Only before the first checkpoint, and after the end.
        expect(resumed.message).toMatch(/no undamaged checkpoint|has no status\.json|it is done/);
        if (resumed.message.includes('it is done')) expect(before.steps).toBe(STEPS);
        else {
          expect(before.steps, `write ${k}: ${resumed.message}`).toBeLessThanOrEqual(1);
          anew += 1;
          await play(await start(out, true), 0);
        }
      }
    }
    const found = await content(out);
    for (const [name, text] of Object.entries(expected)) expect(found[name], `write ${k}: ${name}`).toBe(text);
  }
  reportFaults({
    fault: `${fault} (mua train)`,
    how: 'at each write to the folder of a run of three steps, after half of the write, with a fake file system',
    times: writes,
    lost: `at most one step, which was played again; ${anew} runs had no checkpoint yet and started again`,
    test: 'tests/unit/cli/run-folder-faults.test.ts',
  });
});
