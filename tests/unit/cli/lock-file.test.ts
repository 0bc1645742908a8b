/** One folder of results belongs to one process at a time, whether or not it exists. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EvaluationFolder } from '../../../src/cli/evaluation-folder.ts';
import { lockFolder } from '../../../src/cli/lock-file.ts';
import { RunFolder } from '../../../src/cli/run-folder.ts';
import { reportFaults } from '../../support/faults.ts';

let root: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mua-lock-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true });
});

/** Locks the folder in another process. Resolves to what this process prints: `locked`, or the reason. */
async function other(out: string): Promise<{ child: ChildProcess; says: string }> {
  const code = `import { lockFolder } from './src/cli/lock-file.ts';
    await lockFolder(process.argv[1], '--out').then(() => console.log('locked'), (error) => console.log(error.message));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code, out]);
  children.push(child);
  const says = await new Promise<string>((resolve) => child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim())));
  return { child, says };
}
const ended = (child: ChildProcess, signal: NodeJS.Signals) =>
  new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill(signal);
  });
const newRun = (out: string, force = false) =>
  RunFolder.create(out, { command: 'train', settings: {}, model: { files: {}, vocabSize: 1 }, force });

test('a folder in use is refused under each of its paths, and again free after the process was killed, with a word', async () => {
  const out = join(root, 'out');
  const { child, says } = await other(out);
  expect(says).toBe('locked');
  const inUse = `process ${child.pid} still works on it`;
  await mkdir(join(root, 'links'));
  await symlink(root, join(root, 'links', 'link'));
  for (const path of [out, `${out}/`, join(root, 'x', '..', 'out'), join(root, 'links', 'link', 'out')]) {
    await expect(newRun(path), path).rejects.toThrow(inUse);
    await expect(newRun(path, true), path).rejects.toThrow(inUse);
    await expect(EvaluationFolder.create(path, { customers: 1 }, true), path).rejects.toThrow(inUse);
  }
  await ended(child, 'SIGKILL');
  const notes: string[] = [];
  const lock = await lockFolder(out, '--out', (text) => notes.push(text));
  expect(notes).toEqual([`mua: ${out} was locked by a process that has ended (${child.pid}): going on without it`]);
  expect((await other(out)).says).toContain(`process ${process.pid} still works on it`);
  await lock.release();
  expect((await readdir(root)).filter((name) => name.includes('lock'))).toEqual([]);
});

test('a run that is stopped or done frees its folder; one that goes on holds it', async () => {
  const out = join(root, 'run');
  const run = await newRun(out);
  await run.receive('step', Buffer.from('{"step":1}'));
  await run.receive('checkpoint-1.safetensors', Buffer.from('weights'));
  expect((await other(out)).says).toContain('still works on it');
  await run.stop('interrupted');
  const { child, says } = await other(out);
  expect(says).toBe('locked');
  const options = { flag: '--resume', command: 'train', note: () => {} };
  await expect(RunFolder.resume(out, options)).rejects.toThrow(`--resume is "${out}": process ${child.pid} still works on it`);
  await ended(child, 'SIGTERM');
  const resumed = await RunFolder.resume(out, options);
  await resumed.receive('finished', Buffer.from('{}'));
  expect((await other(out)).says).toBe('locked');
});

test('of many processes that begin at once, exactly one gets the folder, free or left by a killed one', { timeout: 60_000 }, async () => {
  let times = 0;
  for (const left of [false, true]) {
    const out = join(root, `many-${left}`);
    if (left) await ended((await other(out)).child, 'SIGKILL');
    const all = await Promise.all(Array.from({ length: 6 }, () => other(out)));
    expect(all.filter(({ says }) => says === 'locked')).toHaveLength(1);
    for (const { child } of all) await ended(child, 'SIGKILL');
    times += all.length;
  }
  reportFaults({
    fault: 'two commands with one folder',
    how: 'processes that lock one folder at once, by several paths; the owner killed, its number given to another process',
    times: times + 8,
    lost: 'nothing: one works, the others are refused before any work',
    test: 'tests/unit/cli/lock-file.test.ts',
  });
});

const lockOf = (out: string) => join(root, `.${out}.mua.lock`);
const OWNER = { pid: process.ppid, host: hostname(), start: 'another boot 1', since: 'then', token: 'x' };

test.each<[string, string, RegExp | null]>([
  ['a number that another process has now', JSON.stringify(OWNER), null],
  ['a process that never was', JSON.stringify({ ...OWNER, pid: 2 ** 22 + 1, start: '' }), null],
  ['half of a lock', '{"pid":', null],
  ['nothing', '', null],
  ['another file', '[1,2]', null],
  [
    'a process of another computer',
    JSON.stringify({ ...OWNER, host: 'elsewhere' }),
    /process \d+ of the computer "elsewhere" works on it.*delete/,
  ],
  ['a process that lives, on a system that does not say when it started', JSON.stringify({ ...OWNER, start: '' }), /still works on it/],
])('a lock with %s', async (name, content, refusal) => {
  const out = `lock of ${name}`;
  await writeFile(lockOf(out), content);
  const lock = lockFolder(join(root, out), '--out');
  if (refusal) return expect(lock).rejects.toThrow(refusal);
  await (await lock).release();
  await expect(readFile(lockOf(out))).rejects.toThrow('ENOENT');
});

test('a lock that was replaced by another process is not removed', async () => {
  const lock = await lockFolder(join(root, 'replaced'), '--out');
  await writeFile(lockOf('replaced'), JSON.stringify(OWNER));
  await lock.release();
  expect(await readFile(lockOf('replaced'), 'utf8')).toBe(JSON.stringify(OWNER));
});
