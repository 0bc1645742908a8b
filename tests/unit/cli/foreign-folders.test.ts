/** Folders of results that a stranger made, or that a command should not touch: nothing is read, written or deleted outside of them. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyLog } from '../../../src/cli/commands/verify.ts';
import { exportRun } from '../../../src/cli/run-export.ts';
import { EvaluationFolder } from '../../../src/cli/evaluation-folder.ts';
import { readStatus } from '../../../src/cli/out-folder.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { readBytes, readLines } from '../../../src/cli/read.ts';
import { RunFolder } from '../../../src/cli/run-folder.ts';
import { sftSchema, trainSchema } from '../../../src/cli/settings.ts';
import { verify, verifyLogs } from '../../../src/cli/verify.ts';
import { Vocabulary } from '../../../src/app/conversation/tokens/vocabulary.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { reportFaults } from '../../support/faults.ts';

const TEST = 'tests/unit/cli/foreign-folders.test.ts';
const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const MODEL = 'models/nano-retail';
const resume = { flag: '--resume', command: 'train', note: () => {} };

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mua-foreign-'));
});
afterAll(() => rm(root, { recursive: true }));

const modelFiles = async (folder: string) => ({
  files: Object.fromEntries(
    (await readdir(folder)).filter((name) => /\.(json|safetensors)$/.test(name)).map((name) => [name, { file: join(folder, name) }]),
  ),
  vocabSize: 1,
});
const create = async (out: string, force = false, model = MODEL) =>
  RunFolder.create(out, { command: 'train', settings: {}, model: await modelFiles(model), force });

/** A run of one step, which is done. */
async function finishedRun(out: string): Promise<void> {
  const run = await create(out);
  await run.receive('step', Buffer.from('{"step":1}'));
  await run.receive('checkpoint-1.safetensors', Buffer.from('weights'));
  for (const name of ['model.safetensors', 'config.json', 'tokenizer.json', 'tokenizer_config.json'])
    await run.receive(name, await readFile(join(MODEL, name)));
  await run.receive('finished', Buffer.from('{}'));
}

test('the bundle of a run’s folder has the tokens of its conversations, from the folder’s tokenizer', async () => {
  const out = join(root, 'bundled');
  await finishedRun(out);
  const { trajectories } = await readRunBundle(await readBytes('public/recorded/run.mua.zip'));
  const [first] = trajectories;
  await writeFile(join(out, 'trajectories.jsonl'), `${JSON.stringify(first)}\n`);
  const { run } = await readRunBundle((await exportRun(out, 'bundle', 'run.mua.zip')).content);
  const vocabulary = new Vocabulary(run.vocabulary);
  for (const { role, text, tokens } of first!.nodes) if (role === 'assistant') expect(vocabulary.pieces(tokens).join('')).toBe(text);
  await writeFile(join(out, 'tokenizer.json'), '{"model": {}}');
  await expect(exportRun(out, 'bundle', 'run.mua.zip')).rejects.toThrow(/tokenizer\.json: model\.vocab: /);
  // Other formats need no tokenizer.
  expect((await exportRun(out, 'chat', 'chat.jsonl')).lines).toBe(1);
});

test('a run that is done is whole, although its checkpoints are deleted', async () => {
  const out = join(root, 'done');
  await finishedRun(out);
  expect((await verify(out))!.problems).toEqual([]);
  expect(Object.keys((await readStatus(out))!.sha256!).sort()).toEqual([
    'evaluations.jsonl',
    'metrics.jsonl',
    'model.safetensors',
    'trajectories.jsonl',
  ]);
  await writeFile(join(out, 'model.safetensors'), 'other');
  expect((await verify(out))!.problems.map(({ file }) => file)).toContain(join(out, 'model.safetensors'));
});

const CHECKPOINT = { step: 1, file: 'checkpoint-1.safetensors', sha256: sha256('weights'), bytes: {} };
const STATUS = { command: 'train', state: 'interrupted', step: 1, settings: {}, files: [], checkpoints: [CHECKPOINT] };

/** A folder with `status.json`, empty logs and a checkpoint. */
async function folder(name: string, status: object): Promise<string> {
  const out = join(root, name);
  await mkdir(out);
  for (const log of ['metrics', 'evaluations', 'trajectories']) await writeFile(join(out, `${log}.jsonl`), '');
  await writeFile(join(out, 'checkpoint-1.safetensors'), 'weights');
  await writeFile(join(out, 'status.json'), JSON.stringify({ ...STATUS, ...status }));
  return out;
}

const NAMES = ['../victim', '/tmp/victim', 'victim', 'checkpoint-1.safetensors/../../victim', 'checkpoint-.safetensors', '', 7, null];
const WRONG: [string, object, RegExp][] = [
  ...NAMES.map((file): [string, object, RegExp] => [
    `a checkpoint named ${JSON.stringify(file)}`,
    { checkpoints: [CHECKPOINT, { ...CHECKPOINT, file }] },
    /checkpoints\[1\]\.file: is .*: expected/,
  ]),
  ['a file outside', { files: ['../victim.json'] }, /files\[0\]: is "\.\.\/victim\.json": expected/],
  ['a written file outside', { written: ['../victim.json'] }, /written\[0\]: is/],
  ['the hash of a file outside', { sha256: { '../victim.json': sha256('') } }, /sha256.*: expected|sha256.*wrong name/],
  ['a log outside', { checkpoints: [{ ...CHECKPOINT, bytes: { '../victim': 0 } }] }, /bytes/],
  ['a negative length', { checkpoints: [{ ...CHECKPOINT, bytes: { 'metrics.jsonl': -1 } }] }, /bytes.*is -1/],
  ['a hash that is none', { checkpoints: [{ ...CHECKPOINT, sha256: 'x' }] }, /sha256: is "x": expected 64 hexadecimal digits/],
  ['no checkpoints', { checkpoints: 'none' }, /checkpoints: is "none": expected/],
  ['another state', { state: 'well' }, /state: is "well": expected/],
  ['settings in a list', { settings: [] }, /settings: is \[\]: expected/],
];

test.each(WRONG)('status.json with %s is refused, and nothing is deleted', async (_, status, message) => {
  const out = await folder(`wrong-${WRONG.findIndex((row) => row[1] === status)}`, status);
  const victim = join(root, 'victim');
  await writeFile(victim, 'precious');
  await expect(RunFolder.resume(out, resume)).rejects.toThrow(message);
  await expect(create(out, true)).rejects.toThrow(message);
  expect(await readFile(victim, 'utf8')).toBe('precious');
  expect((await readdir(out)).sort()).toEqual([
    'checkpoint-1.safetensors',
    'evaluations.jsonl',
    'metrics.jsonl',
    'status.json',
    'trajectories.jsonl',
  ]);
});

test('settings that are no settings are refused by the name of the field', async () => {
  const settings = { preset: 'nano', algorithm: '', overrides: {}, model: 'm', user: { mode: 'scripted' } };
  const out = await folder('settings', { settings: { ...settings, overrides: { seed: 1 } } });
  await expect(RunFolder.resume(out, { ...resume, settings: trainSchema })).rejects.toThrow(
    'settings, overrides.seed: is 1: expected a string',
  );
  await writeFile(join(out, 'status.json'), JSON.stringify({ ...STATUS, settings: { ...settings, user: { mode: 'shell' } } }));
  await expect(RunFolder.resume(out, { ...resume, settings: trainSchema })).rejects.toThrow('settings, user');
  await writeFile(join(out, 'status.json'), JSON.stringify({ ...STATUS, command: 'sft' }));
  await expect(RunFolder.resume(out, { ...resume, command: 'sft', settings: sftSchema })).rejects.toThrow(
    'settings, overrides: is missing',
  );
});

test.each([
  ['metrics.jsonl', '{"step":"one"}\n', /metrics\.jsonl: line 1, step: is "one": expected/],
  ['metrics.jsonl', '{"step":1,"loss":"<b>"}\n', /line 1, loss: is "<b>": expected/],
  ['evaluations.jsonl', '{"step":0,"report":{"pass_hat":[{"k":1}]}}\n', /line 1, report\.pass_hat\[0\]/],
  ['evaluations.jsonl', '[]\n', /line 1/],
])('%s with %s is refused', async (log, text, message) => {
  const out = await folder(`log-${message.source.length}-${text.length}`, {
    checkpoints: [{ ...CHECKPOINT, bytes: { [log]: text.length } }],
  });
  await writeFile(join(out, log), text);
  await expect(RunFolder.resume(out, resume)).rejects.toThrow(message);
});

test('--force deletes only what status.json names, never weights that the run reads or another tool wrote', async () => {
  const base = join(root, 'base');
  await mkdir(base);
  for (const name of await readdir(MODEL)) await writeFile(join(base, name), await readFile(join(MODEL, name)));
  const before = (await readdir(base)).sort();
  await expect(create(base, true)).rejects.toThrow(/is not a result that its status\.json names, so --force does not replace it/);
  await expect(create(base, true, base)).rejects.toThrow(/--force would replace .*, which the command reads: expected another folder/);
  await expect(EvaluationFolder.create(base, { customers: 1 }, true, { inputs: [join(base, 'config.json')] })).rejects.toThrow(
    'which the command reads',
  );
  expect((await readdir(base)).sort()).toEqual(before);

  const out = join(root, 'again');
  await finishedRun(out);
  await expect(create(out, true, out)).rejects.toThrow('which the command reads');
  await expect(EvaluationFolder.create(out, { customers: 1 }, true)).rejects.toThrow(
    'it has a result of mua train, which --force of mua evaluate does not replace',
  );
  await writeFile(join(out, 'checkpoint-7.safetensors'), 'kept by hand');
  await expect(create(out, true)).rejects.toThrow('checkpoint-7.safetensors is not a result');
  await rm(join(out, 'checkpoint-7.safetensors'));
  for (const name of ['notes.txt', 'base-7b.safetensors', 'data.jsonl']) await writeFile(join(out, name), 'mine');
  await (await create(out, true)).receive('step', Buffer.from('{"step":1}'));
  for (const name of ['notes.txt', 'base-7b.safetensors', 'data.jsonl']) expect(await readFile(join(out, name), 'utf8')).toBe('mine');
  expect(await readdir(out)).not.toContain('model.safetensors');
  reportFaults({
    fault: 'a folder that a stranger made, or that holds other files',
    how: `status.json with ${WRONG.length} wrong fields; --force on a base model, on the run that is read, and beside files of other tools`,
    times: WRONG.length + 6,
    lost: 'nothing: each is refused, or the other files stay',
    test: TEST,
  });
});

test('a log or a checkpoint that is a link is not followed, so nothing outside the folder is changed', async () => {
  const victim = join(root, 'outside.jsonl');
  for (const [i, name] of ['metrics.jsonl', 'superseded-metrics.jsonl', 'checkpoint-1.safetensors', 'status.json'].entries()) {
    const out = await folder(`link-${i}`, {});
    const text = name === 'status.json' ? JSON.stringify(STATUS) : name.startsWith('checkpoint') ? 'weights' : '{"step":1}\n';
    await writeFile(victim, text);
    await rm(join(out, name), { force: true });
    await symlink(victim, join(out, name));
    await expect(RunFolder.resume(out, resume), name).rejects.toThrow(`${join(out, name)}: expected a regular file`);
    await expect(create(out, true), name).rejects.toThrow('expected a regular file');
    expect(await readFile(victim, 'utf8')).toBe(text);
  }
});

test('pipes and devices are refused at once by verify, verify-log and export-run', async () => {
  const specials = ['pipe', 'device', 'random'];
  let times = 0;
  for (const special of specials)
    for (const name of ['metrics.jsonl', 'trajectories.jsonl', 'model.safetensors', 'config.json', 'status.json']) {
      const out = join(root, `${special}-${name}`);
      await finishedRun(out);
      await rm(join(out, name));
      if (special === 'pipe') execFileSync('mkfifo', [join(out, name)]);
      else await symlink(special === 'device' ? '/dev/zero' : '/dev/urandom', join(out, name));
      const { problems } = (await verify(out))!;
      expect(
        problems.some(({ problem }) => problem.includes('regular file')),
        `${special} ${name}`,
      ).toBe(true);
      times++;
      if (name === 'trajectories.jsonl') {
        expect((await verifyLogs(out)).problems).toEqual([
          { file: join(out, name), problem: 'expected a file, but it is not a regular file' },
        ]);
        await expect(exportRun(out, 'chat', 'x.jsonl')).rejects.toThrow('not a regular file');
        times += 2;
      }
    }
  for (const path of [join(root, 'pipe-metrics.jsonl', 'metrics.jsonl'), '/dev/zero']) {
    expect((await verifyLogs(path)).problems).toHaveLength(1);
    await expect(exportRun(path, 'chat', 'x.jsonl')).rejects.toThrow('not a regular file');
    times += 2;
  }
  const zip = join(root, 'pipe.mua.zip');
  execFileSync('mkfifo', [zip]);
  expect((await verify(zip))!.problems).toHaveLength(1);
  reportFaults({
    fault: 'a pipe or a device in the place of a file',
    how: 'a FIFO, /dev/zero and /dev/urandom as logs, weights, status and zip, read by verify, verify-log and export-run',
    times: times + 1,
    lost: 'nothing: each is named at once',
    test: TEST,
  });
});

test('an empty folder has no damaged conversations: verify-log says what it expects', async () => {
  const out = join(root, 'empty');
  await mkdir(out);
  await expect(verifyLog.run({ path: out, json: undefined }, new ProgressBar({ write: () => {} }))).rejects.toThrow(
    'expected conversations in *.jsonl, a *.mua.zip, or a folder of them',
  );
});

test('a checkpoint above 2 GiB is read and found whole', { timeout: 120_000 }, async () => {
  const size = 2 ** 31 + 4096;
  const out = await folder('large', {});
  await truncate(join(out, 'checkpoint-1.safetensors'), 0);
  await truncate(join(out, 'checkpoint-1.safetensors'), size); // a file with a hole needs no space
  const hash = createHash('sha256');
  const zeros = Buffer.alloc(2 ** 20);
  for (let left = size; left > 0; left -= zeros.length) hash.update(zeros.subarray(0, Math.min(left, zeros.length)));
  const checkpoint = { ...CHECKPOINT, sha256: hash.digest('hex') };
  await writeFile(join(out, 'status.json'), JSON.stringify({ ...STATUS, checkpoints: [checkpoint] }));
  expect((await RunFolder.resume(out, resume)).interrupted!.checkpoint).toBe(join(out, 'checkpoint-1.safetensors'));
  await rm(out, { recursive: true });
});

test('lines are read as they are, and a line that is too long for a text is an error', { timeout: 60_000 }, async () => {
  const path = join(root, 'lines');
  await writeFile(path, `a\r\n\n${'é'.repeat(2 ** 20)}\nend`);
  const found = [];
  for await (const { text, number, whole } of readLines(path)) found.push([text.length, number, whole]);
  expect(found).toEqual([[1, 1, true], [0, 2, true], [2 ** 20, 3, true], [3, 4, false]]); // prettier-ignore
  await truncate(path, 600 * 2 ** 20);
  await expect((async () => { for await (const _ of readLines(path)); })()).rejects.toThrow('line 4 has more than'); // prettier-ignore
  await rm(path);
});
