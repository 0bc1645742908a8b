/** A reader that never ends: it is ended by a time limit, and by a signal. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInThread } from '../../../src/cli/thread.ts';
import { reportFaults } from '../../support/faults.ts';
import { mua } from '../../support/mua.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-thread-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function script(code: string): Promise<string> {
  const path = join(folder, `${Math.random()}.mjs`);
  await writeFile(path, `import { parentPort } from 'node:worker_threads';\n${code}`);
  return path;
}

test('a thread that does not answer is ended after the limit; one that works for longer and answers is not', async () => {
  const start = Date.now();
  await expect(runInThread(await script('for (;;);'), [], 300)).rejects.toThrow(
    'a file kept the command busy for 0.3 s without an end: it is damaged, or made to do harm',
  );
  expect(Date.now() - start).toBeLessThan(5000);
  const slow = await script(`parentPort.on('message', () => parentPort.postMessage('alive'));
    setTimeout(() => { parentPort.postMessage({ code: 7 }); parentPort.close(); }, 1500);`);
  expect(await runInThread(slow, [], 500)).toBe(7);
  await expect(runInThread(await script('throw new Error("broken");'), [])).rejects.toThrow('broken');
  await expect(runInThread(await script(''), [])).rejects.toThrow('ended with 0 and without a result');
});

test('SIGTERM ends a command whose thread never answers', async () => {
  const hang = await script('for (;;);');
  const code = `import { runInThread } from './src/cli/thread.ts';
    process.once('SIGTERM', () => process.exit(9));
    setTimeout(() => console.log('started'), 500);
    await runInThread(${JSON.stringify(hang)}, []);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code]);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const start = Date.now();
  const ended = new Promise((resolve) => child.once('exit', (exitCode) => resolve(exitCode)));
  child.kill('SIGTERM');
  expect(await ended).toBe(9);
  expect(Date.now() - start).toBeLessThan(3000);
  reportFaults({
    fault: 'a file whose reader never ends (mua)',
    how: 'a thread that never answers, ended by SIGTERM and by the limit',
    times: 2,
    lost: 'nothing: the command ends and says why',
    test: 'tests/unit/cli/thread.test.ts',
  });
});

test('a command in a thread has the output and the exit code of one without', { timeout: 180_000 }, async () => {
  const whole = await mua('verify', 'public/recorded/run.mua.zip', '--json');
  expect([whole.code, JSON.parse(whole.stdout)]).toEqual([0, { path: 'public/recorded/run.mua.zip', checked: 1 }]);
  const wrong = await mua('verify', join(folder, 'nothing'));
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([2, '', `mua: ${join(folder, 'nothing')}: there is no such file or folder\n`]);
});

test('what files and folders say cannot command the terminal', { timeout: 180_000 }, async () => {
  const evil = 'x\u001b]0;title\u0007\u001b]52;c;aGk=\u0007\u009b2J\u202egnp';
  const run = join(folder, evil);
  await mkdir(run);
  await writeFile(join(run, 'status.json'), JSON.stringify({ state: 'done', checkpoints: [] }));
  for (const args of [
    ['verify', run],
    ['verify', run, '--json'],
    ['verify-log', join(run, 'status.json')],
    ['help', '__proto__'],
    ['help', 'constructor'],
    [evil],
  ]) {
    const { stdout, stderr } = await mua(...args);
    expect(stdout + stderr, args.join(' ')).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    expect(stdout + stderr).not.toContain('    at ');
  }
});
