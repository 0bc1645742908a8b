/** A run that cannot be continued as asked is refused before anything in its folder changes. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const STEP = '{"step":1}\n';
const TRAIN = { preset: 'nano', algorithm: '', overrides: {}, model: 'nano-retail', user: { mode: 'scripted' } };
const NOISY = { ...TRAIN, overrides: { domain: 'rooms', answer: 'noisy@0.15', 'answer.seed': '1' } };
const SERVED = { ...TRAIN, overrides: { domain: 'rooms' }, answers: { answer: 'http://127.0.0.1:9/v1', answerModel: 'm' } };
const LOCAL = { mode: 'local', source: 'folder', model: 'm', precision: 'q8', device: 'wasm' };

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mua-resume-'));
});
afterEach(() => rm(root, { recursive: true }));

/** A run with a checkpoint after step 1 and a further step. */
async function interrupted(command: string, settings: object, bytes = {}): Promise<string> {
  const out = join(root, 'run');
  await mkdir(out);
  const checkpoint = { step: 1, file: 'checkpoint-1.safetensors', sha256: sha256('weights') };
  const sizes = { 'metrics.jsonl': STEP.length, ...bytes };
  await writeFile(join(out, 'checkpoint-1.safetensors'), 'weights');
  await writeFile(join(out, 'metrics.jsonl'), `${STEP}{"step":2}\n`);
  await writeFile(join(out, 'evaluations.jsonl'), '');
  await writeFile(join(out, 'trajectories.jsonl'), '');
  const status = { command, state: 'failed', message: 'the disk is full', step: 2, files: [] };
  await writeFile(join(out, 'status.json'), JSON.stringify({ ...status, settings, checkpoints: [{ ...checkpoint, bytes: sizes }] }));
  return out;
}

const contents = async (folder: string) =>
  Promise.all((await readdir(folder)).sort().map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));

async function refused(out: string, ...args: string[]): Promise<string> {
  const before = await contents(out);
  let said = '';
  vi.stubEnv('MUA_ON', 'browser');
  vi.stubEnv('MUA_CHROMIUM', join(root, 'no-browser'));
  const spy = vi.spyOn(console, 'error').mockImplementation((text: string) => void (said += text));
  const code = await main([...args, '--resume', out]);
  spy.mockRestore();
  vi.unstubAllEnvs();
  expect(await contents(out), said).toEqual(before);
  expect(code).toBe(2);
  return said;
}

test.each([
  [TRAIN, ['--user', 'http://127.0.0.1:9'], '--user is "http://127.0.0.1:9/v1": could not list its models'],
  [TRAIN, ['--user-budget', '3'], 'a price or --user-budget is given: expected --user URL with it'],
  [NOISY, ['--answer', 'noisy@0.3'], '--answer is "noisy@0.3": expected "noisy@0.15", as in the run "'],
  [NOISY, ['--answer-seed', '2'], '--answer-seed is "2": expected "1", as in the run "'],
  [NOISY, ['--unchecked'], '--unchecked is "true": expected no --unchecked, as in the run "'],
  [TRAIN, ['--answer', 'code'], '--answer is "code": expected no --answer, as in the run "'],
  [SERVED, ['--answer', 'recorded@c.jsonl'], '--answer is "recorded@c.jsonl": expected "http://127.0.0.1:9/v1", as in the run "'],
  [SERVED, ['--answer-model', 'n'], '--answer-model is "n": expected "m", as in the run "'],
  [SERVED, ['--on', 'browser'], '--on is "browser": expected node with --answer'],
  [{ ...TRAIN, user: LOCAL }, [], '--user is missing: expected --user folder:DIR with the folder "m", which played the customer'],
])('train with %j and %j', async (settings, flags, message) => {
  const out = await interrupted('train', settings);
  expect(await refused(out, 'train', ...flags)).toContain(message);
});

test('train with the key of another server of its tools', async () => {
  vi.stubEnv('MUA_ANSWER_KEY', 'secret');
  const said = await refused(await interrupted('train', SERVED), 'train');
  expect(said).toContain('it was not started with this MUA_ANSWER_KEY for http://127.0.0.1:9, so the key is not sent there');
  expect(said).not.toContain('secret');
});

test('sft with another file of conversations, or with none', async () => {
  const data = join(root, 'data.jsonl');
  await writeFile(data, '{"messages":[]}\n');
  const out = await interrupted('sft', { overrides: {}, model: 'm', data, data_sha256: sha256('other') });
  expect(await refused(out, 'sft')).toContain(`--data is "${data}": it is not the file with which the run was started`);
  expect(await refused(out, 'sft', '--data', join(root, 'nowhere'))).toContain('nowhere": there is no such file or folder');
});

test('a log that is damaged, or shorter than at the checkpoint', async () => {
  const out = await interrupted('train', TRAIN, { 'evaluations.jsonl': 3 });
  await writeFile(join(out, 'evaluations.jsonl'), '[]\n');
  expect(await refused(out, 'train')).toContain('evaluations.jsonl: line 1');
  await writeFile(join(out, 'evaluations.jsonl'), '');
  expect(await refused(out, 'train')).toContain('evaluations.jsonl has 0 bytes: expected at least 3');
});
