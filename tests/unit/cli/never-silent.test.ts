/** A command always says what it does: while it computes, reads, or waits for a server; and what is kept when it is stopped. */
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Beat } from '../../../bin/beat.mjs';
import { Activities } from '../../../src/base/activities.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { readLines, reading } from '../../../src/cli/read.ts';
import { listenToWaits } from '../../../src/trainer/customer-server.ts';
import { EndpointClient } from '../../../src/users/endpoint/client.ts';
import { startMua } from '../../support/mua.ts';
import { startSlowServer } from '../../support/slow-server.ts';
import { timedMua } from '../../support/timed-mua.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-never-'));
});
afterAll(() => rm(folder, { recursive: true }));

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
/** Keeps this thread busy, as a reader of a large file does. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('the beat', () => {
  const script = resolve('bin/beat.mjs');
  const begin = async (name: string, pace = {}) => {
    const path = join(folder, name);
    const beat = new Beat(script, { firstMs: 200, everyMs: 400, fd: openSync(path, 'w'), ...pace });
    return { beat, lines: async () => (await readFile(path, 'utf8')).split('\n').filter(Boolean) };
  };

  test('speaks while the thread of the command is busy, again and again, with the newest line', async () => {
    const { beat, lines } = await begin('busy');
    beat.set({ before: 'reading a.jsonl', after: ' 0:07 left' });
    await pause(100); // the thread starts
    beat.set({ before: 'reading b.jsonl', after: '' });
    block(2000);
    const said = await lines();
    beat.end();
    // 200 ms, then every 400 ms: 5 lines in 2 s on an idle machine.
    expect(said.length).toBeGreaterThanOrEqual(2);
    expect(said.length).toBeLessThanOrEqual(6);
    for (const line of said) expect(line).toMatch(/^reading b\.jsonl 0:0\d$/);
  });

  test('is quiet after a line of the command, while it is paused, and after the end', async () => {
    const { beat, lines } = await begin('quiet', { everyMs: 60_000 });
    beat.set({ before: 'step 1', after: '' });
    beat.wrote();
    await pause(800);
    expect(await lines()).toEqual([]);
    const paused = await begin('paused');
    paused.beat.set({ before: 'serving', after: '' });
    paused.beat.pause();
    await pause(800);
    expect(await paused.lines()).toEqual([]);
    for (const one of [beat, paused.beat]) one.end();
  });

  test('replaces its line on a terminal', async () => {
    const { beat } = await begin('terminal', { terminal: true, columns: 12 });
    beat.set({ before: 'a long text of a phase', after: '' });
    await pause(1200);
    beat.end();
    const pieces = (await readFile(join(folder, 'terminal'), 'utf8')).split('\r\x1b[2K');
    expect([pieces[0], new Set(pieces.slice(1))]).toEqual(['', new Set(['a long text'])]);
  });
});

describe('the progress line', () => {
  const shown = (isTTY: boolean) => {
    const written: string[] = [];
    return { written, bar: new ProgressBar({ isTTY, columns: 200, write: (text) => void written.push(text) }) };
  };

  test('has the count, the phase, what else goes on and the time left', () => {
    const { written, bar } = shown(false);
    bar.activity('waiting for http://127.0.0.1:1');
    bar.update(3, 12, 'episodes', undefined, 65);
    expect(written).toEqual(['3/12 episodes (waiting for http://127.0.0.1:1) 0:00 1:05 left\n']);
  });

  describe('the time left is from what this process did', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
    afterEach(() => void vi.useRealTimers());
    const after = (seconds: number) => void vi.advanceTimersByTime(1000 * seconds);

    test('so steps from before a resume do not count', () => {
      const { written, bar } = shown(false);
      bar.phase('opening the model');
      after(30);
      bar.update(500, 3000, 'sft');
      after(60);
      bar.update(530, 3000, 'sft');
      // 30 steps take 60 s, so the 2470 others take 4940 s.
      expect(written).toEqual(['500/3000 sft 0:30\n', '530/3000 sft 1:30 1:22:20 left\n']);
    });

    test('and a count that begins anew has its own speed', () => {
      const { written, bar } = shown(false);
      bar.update(0, 8, 'rows checked by rules');
      after(10);
      bar.update(7, 8, 'rows checked by rules');
      after(10);
      bar.update(2, 8, 'rows');
      after(10);
      bar.update(4, 8, 'rows');
      after(10);
      bar.update(10, 20, 'episodes with customer 2 of 2');
      after(10);
      bar.update(15, 20, 'episodes with customer 2 of 2');
      expect(written.map((line) => /[\d:]+ left/.exec(line)?.[0])).toEqual([
        undefined,
        '0:01 left', // 1 row of 7 in 10 s
        undefined,
        '0:20 left',
        undefined,
        '0:10 left',
      ]);
    });

    test('and at the end nothing is left', () => {
      const { written, bar } = shown(false);
      bar.update(0, 2, 'turns');
      after(10);
      bar.update(2, 2, 'turns');
      expect(written).toEqual(['0/2 turns 0:00\n', '2/2 turns 0:10\n']);
    });
  });

  test('a phase without counts has no bar, and no second line follows at once', () => {
    const { written, bar } = shown(true);
    bar.phase('starting the browser');
    bar.update(0, 0, 'reading the model');
    expect(written).toEqual([]);
    bar.update(1, 4, 'step');
    bar.note('a note');
    expect(written.at(-1)).toBe('a note\n');
  });
});

test('of several activities the newest is shown; a new text makes an activity the newest', () => {
  const told: string[] = [];
  const activities = new Activities();
  activities.listen((text) => told.push(text));
  const [weights, kernels] = [activities.begin('weights'), activities.begin('kernels 0 of 2')];
  kernels.now('kernels 1 of 2');
  weights.now('weights 2 MB');
  kernels.end();
  kernels.now('too late');
  weights.end();
  expect(told).toEqual(['weights', 'kernels 0 of 2', 'kernels 1 of 2', 'weights 2 MB', '']);
});

test('a file that is read says its bytes', async () => {
  const path = join(folder, 'large.jsonl');
  await writeFile(path, `${'x'.repeat(999_999)}\n`.repeat(3));
  const told: string[] = [];
  reading.listen((text) => told.push(text));
  const lengths: number[] = [];
  for await (const { text } of readLines(path)) lengths.push(text.length);
  reading.listen(() => {});
  expect(lengths).toEqual([999_999, 999_999, 999_999]);
  expect(told.at(-2)).toBe('reading large.jsonl: 3.0 of 3.0 MB');
  expect(told.at(-1)).toBe('');
});

test('a server that lets wait: its own address, its reason, and when it is asked again', async () => {
  const { origin, close } = await startSlowServer({ refused: 2, retryAfter: 1 });
  const told: string[] = [];
  listenToWaits((text) => told.push(text));
  try {
    const client = new EndpointClient({ baseUrl: `${origin}/v1`, model: 'a-model', maxRetries: 3 }, { backoffMs: 1 });
    expect((await client.models()).map(({ name }) => name)).toEqual(['a-model']);
  } finally {
    listenToWaits(() => {});
    close();
  }
  expect(told.filter(Boolean)).toEqual(
    [1, 2]
      .flatMap((retry) => [
        `waiting for ${origin}`,
        `waiting for ${origin}: the user endpoint's rate limit is reached (HTTP 429): slow down; retry ${retry} of 3 in 1 s`,
      ])
      .concat(`waiting for ${origin}`),
  );
  expect(told.at(-1)).toBe('');
});

describe('the program', { timeout: 240_000 }, () => {
  // The first process of a fresh clone builds the command line.
  beforeAll(() => startMua(['--help']).done, 240_000);

  test('waits for a server: says so in time, with the address of the visitor', async () => {
    const { origin, close } = await startSlowServer({ refused: 9, retryAfter: 7 });
    const ended = await timedMua(['env-serve', '--port', '0', '--user', origin]);
    close();
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(
      `(waiting for ${origin}: the user endpoint's rate limit is reached (HTTP 429): slow down; retry 1 of 2 in 7 s)`,
    );
    expect(ended.stderr).toContain(`--user is "${origin}/v1"`);
    expect(ended.longest).toBeLessThan(10);
    expect(ended.stdout).toBe('');
  });

  test('a server that wants a key names the variable for it, also if the model is named', async () => {
    const { origin, close } = await startSlowServer({ locked: true });
    const ended = await timedMua(['env-serve', '--port', '0', '--user', origin]);
    close();
    expect([ended.code, ended.stderr]).toEqual([
      2,
      expect.stringMatching(/needs an API key \(HTTP 401\): no key\); set MUA_USER_KEY to its API key\n$/),
    ]);
  });

  test('plays many conversations: lines while it works, and the result on stdout', async () => {
    const { code, stdout, stderr, longest } = await timedMua(['overlap', '--train', '1500', '--test', '50', '--json']);
    expect([code, JSON.parse(stdout).train]).toEqual([0, 1500]);
    expect(stderr).toMatch(/^\d+\/1500 conversations of train \d:\d\d/m);
    expect(longest).toBeLessThan(10);
  });

  test('Ctrl-C says what is kept: nothing of a command without a folder, the conversations of a server', async () => {
    const begun = await timedMua(['overlap', '--train', '5000'], {}, (text) => text.includes('conversations of train'));
    expect([begun.code, begun.stdout]).toEqual([130, '']);
    expect(begun.stderr.trimEnd().split('\n').at(-1)).toBe('mua: stopped: nothing was written');
    for (const [flags, said] of [
      [[], 'mua: the server has stopped (with --audit DIR it keeps every conversation)'],
      [['--audit', join(folder, 'kept')], `mua: the server has stopped: the conversations are in ${join(folder, 'kept')}`],
      [['--workers', '2'], 'mua: the server has stopped (with --audit DIR it keeps every conversation)'],
    ] as const) {
      const { child, done, line } = startMua(['env-serve', '--port', '0', '--quiet', '--grace-seconds', '1', ...flags]);
      await line();
      child.kill('SIGINT');
      const { code, stderr } = await done;
      expect([code, stderr.trimEnd().split('\n').at(-1)]).toEqual([130, said]);
    }
  });
});
