/** `mua verify`: undamaged files pass, and each damage is reported with its file. */
import { createHash } from 'node:crypto';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { verify } from '../../../src/cli/verify.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { readExperiment, writeExperiment } from '../../../src/experiments/file.ts';

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const MODEL = 'models/nano-retail';

let root: string;
let run: string;
let conversation: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mua-verify-'));
  const { trajectories } = await readRunBundle(new Uint8Array(await readFile('public/recorded/run.mua.zip')));
  conversation = `${JSON.stringify(trajectories[0])}\n`;
});
afterAll(() => rm(root, { recursive: true }));

/** A run that is done, or one that was stopped at step 1. */
async function makeRun(folder: string, state: 'done' | 'interrupted'): Promise<void> {
  await cp(MODEL, folder, { recursive: true });
  const logs = { 'metrics.jsonl': '{"step":1}\n', 'evaluations.jsonl': '', 'trajectories.jsonl': conversation };
  for (const [name, text] of Object.entries(logs)) await writeFile(join(folder, name), text);
  const checkpoint = Buffer.from('the bytes of a checkpoint');
  if (state === 'interrupted') await writeFile(join(folder, 'checkpoint-1.safetensors'), checkpoint);
  const hashes = Object.fromEntries(
    await Promise.all([...Object.keys(logs), 'model.safetensors'].map(async (name) => [name, sha256(await readFile(join(folder, name)))])),
  ) as Record<string, string>;
  const bytes = Object.fromEntries(Object.entries(logs).map(([name, text]) => [name, Buffer.byteLength(text)]));
  const checkpoints = [{ step: 1, file: 'checkpoint-1.safetensors', sha256: sha256(checkpoint), bytes }];
  const status = state === 'done' ? { state, checkpoints: [], sha256: hashes } : { state, checkpoints };
  await writeFile(join(folder, 'status.json'), JSON.stringify(status));
}

beforeEach(async () => {
  run = join(await mkdtemp(join(root, 'run-')), 'run');
});

test('what is whole passes', async () => {
  for (const path of [MODEL, 'public/recorded/run.mua.zip', 'public/experiments/ablation.mua-experiment.json'])
    expect(await verify(path), path).toEqual({ checked: 1, problems: [] });
  for (const state of ['done', 'interrupted'] as const) {
    await makeRun(join(run, state), state);
    expect((await verify(join(run, state)))!.problems, state).toEqual([]);
  }
  expect(await verify('package.json')).toBeNull();
  expect(await verify('docs')).toBeNull();
});

test('an evaluation is checked: its status and its conversations', async () => {
  await mkdir(run);
  const log = join(run, 'trajectories-1.jsonl');
  await writeFile(log, conversation);
  const status = { command: 'evaluate', state: 'done', checkpoints: [], sha256: { 'trajectories-1.jsonl': sha256(conversation) } };
  await writeFile(join(run, 'status.json'), JSON.stringify(status));
  expect((await verify(run))!.problems).toEqual([]);
  await appendFile(log, '{"id": 7}\n');
  expect((await verify(run))!.problems.map(({ file }) => file)).toEqual([log, log]);
});

test('half a line after the last step of a run that was killed is no damage, because --resume drops it', async () => {
  await makeRun(run, 'interrupted');
  for (const log of ['metrics.jsonl', 'evaluations.jsonl', 'trajectories.jsonl']) await appendFile(join(run, log), '{"step":2,"va');
  expect((await verify(run))!.problems).toEqual([]);
});

test.each<[string, 'done' | 'interrupted', () => Promise<unknown>, string, RegExp]>([
  ['a bit of the weights', 'done', () => turn('model.safetensors', 900_000), 'model.safetensors', /its SHA-256 is .*: expected/],
  ['weights that are cut', 'done', () => truncate(join(run, 'model.safetensors'), 5000), '', /truncated/],
  ['a tokenizer that is gone', 'done', () => rm(join(run, 'tokenizer.json')), '', /tokenizer.json is missing/],
  [
    'a line that is cut',
    'interrupted',
    () => writeFile(join(run, 'metrics.jsonl'), '{"step\n{"step":2}\n'),
    'metrics.jsonl',
    /line 1 is not JSON/,
  ],
  [
    'a last line that is cut, of a run that is done',
    'done',
    () => truncate(join(run, 'metrics.jsonl'), 5),
    'metrics.jsonl',
    /line 1 is not JSON/,
  ],
  [
    'a log that is too short',
    'interrupted',
    () => truncate(join(run, 'metrics.jsonl'), 0),
    'metrics.jsonl',
    /has 0 bytes: expected at least the 11/,
  ],
  ['a log that is gone', 'interrupted', () => rm(join(run, 'evaluations.jsonl')), 'evaluations.jsonl', /ENOENT/],
  [
    'a conversation with a wrong field',
    'interrupted',
    () => spoilConversation(),
    'trajectories.jsonl',
    /line 2, turns: is "many": expected/,
  ],
  ['a bit of a checkpoint', 'interrupted', () => turn('checkpoint-1.safetensors', 3), 'checkpoint-1.safetensors', /its SHA-256 is/],
  ['a checkpoint that is gone', 'interrupted', () => rm(join(run, 'checkpoint-1.safetensors')), 'checkpoint-1.safetensors', /ENOENT/],
  ['another status', 'interrupted', () => writeFile(join(run, 'status.json'), '[]'), 'status.json', /is not the status of a run/],
])('%s is named', async (_, state, damage, file, problem) => {
  await makeRun(run, state);
  await damage();
  const { problems } = (await verify(run))!;
  const found = problems.find((one) => problem.test(one.problem));
  expect(found, JSON.stringify(problems)).toBeDefined();
  expect(found!.file).toBe(join(run, file));
});

async function turn(name: string, at: number): Promise<void> {
  const bytes = await readFile(join(run, name));
  bytes[at] = bytes[at]! ^ 1;
  await writeFile(join(run, name), bytes);
}

const spoilConversation = () =>
  appendFile(join(run, 'trajectories.jsonl'), `${JSON.stringify({ ...(JSON.parse(conversation) as object), turns: 'many' })}\n`);

test('an experiment is checked with all its runs', async () => {
  const content = readExperiment(await readFile('public/experiments/ablation.mua-experiment.json', 'utf8'), 'a');
  const [first, second] = content.runs;
  await mkdir(run, { recursive: true });
  await writeFile(join(run, 'experiment.json'), writeExperiment({ ...content, runs: [first!, second!] }));
  await makeRun(join(run, first!.variant, String(first!.seed)), 'done');
  await mkdir(join(run, second!.variant), { recursive: true });
  const { problems } = (await verify(run))!;
  expect(problems).toEqual([
    { file: join(run, second!.variant, String(second!.seed)), problem: expect.stringContaining('ENOENT') as string },
  ]);
});
