/** The command line without its browser: flags, input files, outputs, the local server. */
import { execFileSync, spawn } from 'node:child_process';
import { appendFile, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readFlags, readPairs } from '../../../src/cli/args.ts';
import { COST_FLAGS, readUser, USER_FLAGS } from '../../../src/cli/commands/shared.ts';
import { oneLine, errorOfWork } from '../../../src/cli/errors.ts';
import { checkParent, findModel, readText, writeAll, writeFolder } from '../../../src/cli/files.ts';
import { openExperiment } from '../../../src/cli/experiment-folder.ts';
import { EvaluationFolder } from '../../../src/cli/evaluation-folder.ts';
import { readStatus, sha256 } from '../../../src/cli/out-folder.ts';
import { RunFolder } from '../../../src/cli/run-folder.ts';
import { readGenerateInput, readGradInput, readScoreInput, readTaskIds } from '../../../src/cli/inputs.ts';
import { main as commandLine } from '../../../src/cli/main.ts';
import { clock, ProgressBar } from '../../../src/cli/progress.ts';
import { HEADERS } from '../../../src/cli/headers.ts';
import { JobFiles } from '../../../src/cli/job-files.ts';
import { serveSite } from '../../../src/cli/server.ts';
import { cancelCall, tau1Retail, tau2Mock } from '../../support/benchmark-data.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const json = async (value: unknown) => {
  const path = join(folder, 'input.json');
  await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};

function withHeader(json: string): Buffer {
  const header = Buffer.from(json);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header]);
}

/** The bytes of a safetensors file with one F32 tensor of `length` values. */
function safetensors(length: number): Buffer {
  const header = withHeader(JSON.stringify({ w: { dtype: 'F32', shape: [length], data_offsets: [0, 4 * length] } }));
  return Buffer.concat([header, Buffer.alloc(4 * length)]);
}

async function modelFolder(name: string, files: Record<string, string | Buffer>): Promise<string> {
  const directory = join(folder, name);
  await mkdir(directory, { recursive: true });
  for (const [file, data] of Object.entries(files)) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), data);
  }
  return directory;
}

function mua(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['bin/mua.mjs', ...args], {
      env: { ...process.env, MUA_ON: 'browser', MUA_CHROMIUM: join(folder, 'no-browser') },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs a command in this process, which is ten times as fast as a process of its own. One at a time, as it listens to the console. */
async function main(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const said = { stdout: '', stderr: '' };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((text: string) => void (said.stdout += `${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text: string) => void (said.stderr += `${text}\n`)),
  ];
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const before = signals.map((signal) => process.listeners(signal));
  vi.stubEnv('MUA_ON', 'browser');
  vi.stubEnv('MUA_CHROMIUM', join(folder, 'no-browser'));
  try {
    const code = await commandLine(args);
    return { code, ...said };
  } finally {
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
    for (const [i, signal] of signals.entries())
      for (const listener of process.listeners(signal)) if (!before[i]!.includes(listener)) process.off(signal, listener);
  }
}

test('a run of an experiment starts from the adapter that the experiment names, found beside its file', async () => {
  const adapter = { 'adapter_config.json': '{}', 'adapter_model.safetensors': safetensors(2) };
  await modelFolder('experiments/model', {
    'config.json': '{"vocab_size": 8}',
    'tokenizer.json': '{}',
    'tokenizer_config.json': '{}',
    'model.safetensors': safetensors(2),
  });
  const beside = await modelFolder('experiments/adapter', adapter);
  const file = join(folder, 'experiments', 'lora.toml');
  const toml = (lora: string) =>
    `id = "x"\nname = "x"\nquestion = "x?"\nseeds = [5]\n[base]\npreset = "lora"\nmodel = "model"\nlora = "${lora}"\n[evaluation]\nval_tasks = 1\n[[variants]]\nname = "grpo"\n`;
  await writeFile(file, toml('adapter'));
  const { queue } = await openExperiment({ file, out: join(folder, 'experiments', 'out') }, () => {});
  expect(queue.map(({ folder: run }) => [run.settings.lora, run.model.files['adapter_model.safetensors']])).toEqual([
    ['adapter', { file: join(beside, 'adapter_model.safetensors') }],
  ]);
  await writeFile(file, toml('none'));
  await expect(openExperiment({ file, out: join(folder, 'experiments', 'out-2') }, () => {})).rejects.toThrow('--lora is "');
});

describe('flags', () => {
  const flags = {
    steps: { type: 'integer', value: 'N', help: '', min: 1 },
    temperature: { type: 'number', value: 'T', help: '', default: 1, min: 0 },
    'user-model': { type: 'string', value: 'NAME', help: '' },
    split: { type: 'string', value: 'NAME', help: '', choices: ['train', 'heldout'] },
    set: { type: 'list', value: 'K=V', help: '' },
    out: { type: 'string', value: 'DIR', help: '', required: true },
    json: { type: 'boolean', help: '' },
  } as const;
  const read = (...args: string[]) => readFlags(args, flags as unknown as Parameters<typeof readFlags>[1]);

  test('values, defaults, lists and camel case', () => {
    expect(read('--out', 'a', '--set', 'n=4', '--set', 'lr=1e-3', '--steps=3', '--user-model', 'm', '--json')).toEqual({
      out: 'a',
      set: ['n=4', 'lr=1e-3'],
      steps: 3,
      temperature: 1,
      userModel: 'm',
      split: undefined,
      json: true,
    });
    expect(readPairs('set', ['a=b=c', 'd='])).toEqual({ a: 'b=c', d: '' });
  });

  test.each([
    [['--out', 'a', '--frob'], /Unknown option '--frob'/],
    [['--out'], /'--out <value>' argument missing/],
    [[], /--out is missing: expected --out DIR/],
    [['--out', ''], /--out is empty/],
    [['--out', 'a', 'b'], /Unexpected argument 'b'/],
    [['--out', 'a', '--out', 'b'], /--out is given 2 times/],
    [['--out', 'a', '--steps', '-3'], /--steps is "-3": expected a whole number from 1/],
    [['--out', 'a', '--steps', '1.5'], /--steps is "1.5"/],
    [['--out', 'a', '--steps', '0x'], /--steps is "0x"/],
    [['--out', 'a', '--steps='], /--steps is ""/],
    [['--out', 'a', '--temperature', 'NaN'], /--temperature is "NaN"/],
    [['--out', 'a', '--temperature', '-0.1'], /--temperature is "-0.1": expected a number from 0/],
    [['--out', 'a', '--split', 'test'], /--split is "test": expected train, heldout/],
    [['--out', 'a', '--json=yes'], /--json/],
  ])('%j is refused', (args, message) => {
    expect(() => read(...args)).toThrow(message);
    expect(() => read(...args)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
  test('a pair without a key is refused', () => {
    expect(() => readPairs('set', ['=4'])).toThrow('--set is "=4": expected key=value');
    expect(() => readPairs('set', ['n'])).toThrow('--set is "n": expected key=value');
  });
});

describe('input files', () => {
  test('score', async () => {
    expect(await readScoreInput(await json({ sequences: [[0, 9], [3]] }), 10)).toEqual({ sequences: [[0, 9], [3]] });
    expect(await readScoreInput(await json({ texts: ['Hello'] }), 10)).toEqual({ texts: ['Hello'] });
  });
  test.each<[unknown, RegExp]>([
    ['{"sequences": [[1', /is not JSON/],
    [[1], /expected a JSON object/],
    [{}, /sequences is missing/],
    [{ sequences: [] }, /sequences is \[\]/],
    [{ sequences: [[]] }, /sequences\[0\] is \[\]/],
    [
      {
        sequences: [
          [1, 2],
          [1, 10],
        ],
      },
      /sequences\[1\]\[1\] is 10: expected a token id from 0 to 9/,
    ],
    [{ sequences: [[1, -1]] }, /sequences\[0\]\[1\] is -1/],
    [{ sequences: [[1, 1.5]] }, /sequences\[0\]\[1\] is 1.5/],
    [{ sequences: [[1, '2']] }, /sequences\[0\]\[1\] is "2"/],
    [{ sequence: [[1]] }, /unknown field sequence/],
    [{ texts: [] }, /texts is \[\]: expected an array with at least one entry/],
    [{ texts: ['a', ''] }, /texts\[1\] is "": expected a text/],
    [{ texts: [3] }, /texts\[0\] is 3: expected a text/],
    [{ texts: ['a'], sequences: [[1]] }, /texts is \["a"\]: expected no texts beside sequences/],
  ])('score refuses %j', async (value, message) => {
    await expect(readScoreInput(await json(value), 10)).rejects.toThrow(message);
  });

  const sequence = { tokens: [1, 2, 3], loss_mask: [0, 1, 1], advantage: 1, old_logprobs: [0, -1, -2], ref_logprobs: [0, -1, -2] };
  test('grad: entry 0 is unused and may hold anything; booleans are a mask', async () => {
    const input = await readGradInput(
      await json({ loss: 'grpo', sequences: [{ ...sequence, loss_mask: [false, true, false], old_logprobs: [null, -1, -2] }] }),
      10,
    );
    expect(input.sequences[0]).toMatchObject({ loss_mask: [0, 1, 0], old_logprobs: [0, -1, -2] });
    await readGradInput(await json({ loss: 'sft', sequences: [{ tokens: [1, 2], loss_mask: [0, 1] }] }), 10);
    await readGradInput(
      await json({ loss: 'grpo', config: { kl_loss_coef: 0 }, sequences: [{ ...sequence, ref_logprobs: undefined }] }),
      10,
    );
  });
  test.each<[object, RegExp]>([
    [{ loss: 'ppo', sequences: [sequence] }, /loss is "ppo": expected "sft" or "grpo"/],
    [{ loss: 'grpo', sequences: [{ ...sequence, loss_mask: [0, 1] }] }, /sequences\[0\].loss_mask has 2 entries: expected 3/],
    [{ loss: 'grpo', sequences: [{ ...sequence, loss_mask: [0, 2, 1] }] }, /sequences\[0\].loss_mask\[1\] is 2/],
    [{ loss: 'grpo', sequences: [{ ...sequence, advantage: null }] }, /sequences\[0\].advantage is null/],
    [{ loss: 'grpo', sequences: [{ ...sequence, old_logprobs: undefined }] }, /sequences\[0\].old_logprobs is missing/],
    [{ loss: 'grpo', sequences: [{ ...sequence, ref_logprobs: undefined }] }, /sequences\[0\].ref_logprobs is missing/],
    [{ loss: 'grpo', sequences: [{ ...sequence, old_logprobs: [0, null, -1] }] }, /old_logprobs\[1\] is null/],
    [{ loss: 'sft', sequences: [{ ...sequence, loss_mask: [1, 0, 0] }] }, /selects no token/],
    [{ loss: 'sft', sequences: [{ ...sequence, mask: [] }] }, /unknown field sequences\[0\].mask/],
  ])('grad refuses %j', async (value, message) => {
    await expect(readGradInput(await json(value), 10)).rejects.toThrow(message);
  });

  test('generate', async () => {
    expect(await readGenerateInput(await json({ prompts: [[1]], max_new_tokens: 4, temperature: 0, seed: 7 }), 10)).toMatchObject({
      prompts: [[1]],
      max_new_tokens: 4,
      temperature: 0,
      seed: 7,
    });
    const request = { prompts: [[1]], max_new_tokens: 4, temperature: 1, seed: 1 };
    for (const [change, message] of [
      [{ max_new_tokens: 0 }, /max_new_tokens is 0/],
      [{ max_new_tokens: -2 }, /max_new_tokens is -2/],
      [{ temperature: -1 }, /temperature is -1/],
      [{ seed: 2 ** 32 }, /seed is 4294967296/],
      [{ top_p: 0 }, /top_p is 0/],
      [{ stop_token_ids: [10] }, /stop_token_ids\[0\] is 10/],
      [{ prompts: [[10]] }, /prompts\[0\]\[0\] is 10/],
    ] as const) {
      await expect(readGenerateInput(await json({ ...request, ...change }), 10)).rejects.toThrow(message);
    }
  });
});

describe('model folders', () => {
  const config = JSON.stringify({ vocab_size: 10 });
  test('a complete folder', async () => {
    const directory = await modelFolder('whole', { 'config.json': config, 'model.safetensors': safetensors(4), 'README.md': '#' });
    const model = await findModel(directory);
    expect(model.vocabSize).toBe(10);
    expect(Object.keys(model.files).sort()).toEqual(['config.json', 'model.safetensors']);
    await expect(findModel(directory, { tokenizer: true })).rejects.toThrow('it has no tokenizer.json');
  });
  test.each<[string, Record<string, string | Buffer>, RegExp]>([
    ['no config', { 'model.safetensors': safetensors(1) }, /has no config.json/],
    ['no weights', { 'config.json': config }, /has no model.safetensors/],
    ['truncated data', { 'config.json': config, 'model.safetensors': safetensors(4).subarray(0, -1) }, /is truncated: its header needs/],
    ['truncated header', { 'config.json': config, 'model.safetensors': safetensors(4).subarray(0, 20) }, /is truncated/],
    ['a header that is no object', { 'config.json': config, 'model.safetensors': withHeader('null') }, /is not a JSON object/],
    ['empty weights', { 'config.json': config, 'model.safetensors': '' }, /is truncated/],
    ['bad vocabulary', { 'config.json': '{"vocab_size": 0}', 'model.safetensors': safetensors(1) }, /vocab_size is 0/],
    ['broken config', { 'config.json': '{', 'model.safetensors': safetensors(1) }, /is not JSON/],
  ])('%s', async (name, files, message) => {
    await expect(findModel(await modelFolder(name, files))).rejects.toThrow(message);
  });

  test('links out of the folder are skipped, links inside the folder are read', async () => {
    const whole = { 'config.json': config, 'model.safetensors': safetensors(1) };
    const secret = join(await modelFolder('elsewhere', { 'secret.json': '{}' }), 'secret.json');
    const directory = await modelFolder('links', whole);
    await symlink(secret, join(directory, 'generation_config.json'));
    await symlink('config.json', join(directory, 'same.json'));
    await mkdir(join(directory, 'folder.json'));
    expect(Object.keys((await findModel(directory)).files).sort()).toEqual(['config.json', 'model.safetensors', 'same.json']);
    const linked = await modelFolder('linked', { 'model.safetensors': safetensors(1) });
    await symlink(join(directory, 'config.json'), join(linked, 'config.json'));
    await expect(findModel(linked)).rejects.toThrow('its config.json is not a regular file of the folder');
  });

  test('a snapshot in the cache of Hugging Face links to the blobs of its repository', async () => {
    await modelFolder('models--a--b/blobs', { c1: config, w1: safetensors(1) });
    const snapshot = await modelFolder('models--a--b/snapshots/0123', {});
    await symlink('../../blobs/c1', join(snapshot, 'config.json'));
    await symlink('../../blobs/w1', join(snapshot, 'model.safetensors'));
    expect(Object.keys((await findModel(snapshot)).files).sort()).toEqual(['config.json', 'model.safetensors']);
  });
});

describe('outputs', () => {
  test('either all files of a command appear, or no file', async () => {
    const directory = await modelFolder('all', {});
    await writeAll({ [join(directory, 'a')]: 'A', [join(directory, 'b')]: Buffer.from('B') });
    expect(await readFile(join(directory, 'b'), 'utf8')).toBe('B');
    await expect(writeAll({ [join(directory, 'c')]: 'C', [join(directory, 'missing', 'd')]: 'D' })).rejects.toThrow('could not write');
    expect((await readdir(directory)).sort()).toEqual(['a', 'b']);
  });

  test('an input that never ends is refused', async () => {
    const pipe = join(await modelFolder('pipes', {}), 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, '/dev/zero'])
      await expect(readText(path)).rejects.toThrow(`${path}: expected a file, but it is not a regular file`);
  });

  test('an existing output that is not a regular file is refused; a link to a file stays a link', async () => {
    await expect(checkParent('output', '/dev/null')).rejects.toThrow(
      '--output is "/dev/null": expected a file, but it is not a regular file',
    );
    const directory = await modelFolder('special', { target: 'old' });
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(writeAll({ [pipe]: 'text' })).rejects.toThrow('is not a regular file');
    expect((await lstat(pipe)).isFIFO()).toBe(true);
    await symlink('target', join(directory, 'link'));
    await writeAll({ [join(directory, 'link')]: 'new' });
    expect((await lstat(join(directory, 'link'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(directory, 'target'), 'utf8')).toBe('new');
    expect((await readdir(directory)).sort()).toEqual(['link', 'pipe', 'target']);
  });

  describe('the folder of a run', () => {
    const SETTINGS = { preset: 'nano', overrides: {} };
    const MODEL = { 'config.json': JSON.stringify({ vocab_size: 10 }), 'model.safetensors': safetensors(4) };
    const step = (n: number) => Buffer.from(`{"step":${n}}\n{"episode":"${n}a"}\n{"episode":"${n}b"}`);
    const lines = (out: string, name: string) => readFile(join(out, name), 'utf8');
    const notes: string[] = [];
    const options = { flag: '--resume', command: 'train', note: (text: string) => void notes.push(text) };

    async function newRun(name: string, files: Record<string, string> = {}) {
      const directory = await modelFolder(name, { ...MODEL, ...files });
      const model = await findModel(directory);
      const out = join(directory, 'run');
      const create = (force = false) => RunFolder.create(out, { command: 'train', settings: SETTINGS, model, force });
      return { directory, out, create };
    }
    /** Steps 1 and 2 with a checkpoint after each, then step 3, and half a line of a step that a kill cut off. */
    async function killedRun(name: string) {
      const { out, create } = await newRun(name);
      const run = await create();
      await run.receive('evaluation', Buffer.from('{"step":0}'));
      for (const n of [1, 2]) {
        await run.receive('step', step(n));
        await run.receive(`checkpoint-${n}.safetensors`, Buffer.from(`weights ${n}`));
      }
      await run.receive('step', step(3));
      await appendFile(join(out, 'metrics.jsonl'), '{"st');
      return out;
    }

    test('has every finished step at any time; it is created with the first result', async () => {
      const { directory, out, create } = await newRun('steps');
      const run = await create();
      expect(await readdir(directory)).not.toContain('run');
      await run.receive('step', step(1));
      expect(await lines(out, 'metrics.jsonl')).toBe('{"step":1}\n');
      expect(await lines(out, 'trajectories.jsonl')).toBe('{"episode":"1a"}\n{"episode":"1b"}\n');
      expect(await readStatus(out)).toMatchObject({ command: 'train', state: 'running', step: 1, settings: SETTINGS });
      expect((await readdir(out)).sort()).toEqual([
        'config.json',
        'evaluations.jsonl',
        'metrics.jsonl',
        'status.json',
        'trajectories.jsonl',
      ]);
      await run.stop('failed', 'the GPU is lost');
      expect(await readStatus(out)).toMatchObject({ state: 'failed', step: 1, message: 'the GPU is lost' });
    });

    test('keeps two checkpoints; when it is done it has the model and no checkpoint', async () => {
      const { out, create } = await newRun('done');
      const run = await create();
      for (const n of [1, 2, 3]) await run.receive(`checkpoint-${n}.safetensors`, Buffer.from(`weights ${n}`));
      const checkpoints = async () => (await readdir(out)).filter((name) => name.startsWith('checkpoint')).sort();
      expect(await checkpoints()).toEqual(['checkpoint-2.safetensors', 'checkpoint-3.safetensors']);
      await run.receive('model.safetensors', Buffer.from('trained'));
      await run.receive('finished', Buffer.from('{"steps":3}'));
      expect(await checkpoints()).toEqual([]);
      expect(await run.result()).toEqual({ out, steps: 3 });
      expect(run.done).toBe(true);
      await run.stop('failed', 'too late');
      expect(await readStatus(out)).toMatchObject({ state: 'done' });
      await expect(RunFolder.resume(out, options)).rejects.toThrow('it is done');
    });

    test('a killed run goes on from its newest checkpoint; the lines after it are kept apart', async () => {
      const out = await killedRun('killed');
      const { checkpoint, logs } = (await RunFolder.resume(out, options)).interrupted!;
      expect(checkpoint).toBe(join(out, 'checkpoint-2.safetensors'));
      expect(logs).toEqual({ metrics: [{ step: 1 }, { step: 2 }], evaluations: [{ step: 0 }] });
      expect(await lines(out, 'superseded-metrics.jsonl')).toBe('{"step":3}\n');
      expect(await lines(out, 'superseded-trajectories.jsonl')).toBe('{"episode":"3a"}\n{"episode":"3b"}\n');
      expect(await readStatus(out)).toMatchObject({ state: 'running', step: 2 });
    });

    test('a damaged checkpoint is named, and the one before is taken; without a good one the run does not go on', async () => {
      const out = await killedRun('damaged');
      await writeFile(join(out, 'checkpoint-2.safetensors'), 'weights 9');
      notes.length = 0;
      const run = await RunFolder.resume(out, options);
      expect(notes).toEqual([`mua: ${join(out, 'checkpoint-2.safetensors')} is damaged: continuing from an earlier checkpoint`]);
      expect(run.interrupted!.logs.metrics).toEqual([{ step: 1 }]);
      await rm(join(out, 'checkpoint-1.safetensors'));
      await expect(RunFolder.resume(out, options)).rejects.toThrow('it has no undamaged checkpoint');
    });

    test('a run of another command or of a live process, or no run at all, is refused', async () => {
      const out = await killedRun('refused');
      await expect(RunFolder.resume(out, { ...options, command: 'sft' })).rejects.toThrow('it is a run of mua train');
      const status = await readStatus(out);
      await writeFile(join(out, 'status.json'), JSON.stringify({ ...status, pid: process.ppid }));
      await expect(RunFolder.resume(out, options)).rejects.toThrow(`process ${process.ppid} still works on it`);
      await rm(join(out, 'status.json'));
      await expect(RunFolder.resume(out, options)).rejects.toThrow('it has no status.json');
    });

    test('a folder that is not empty is refused without --force; with it, the old results go and other files stay', async () => {
      const { out, create } = await newRun('force', { 'run/README.md': 'card', 'run/base.safetensors': 'not ours' });
      await expect(create()).rejects.toThrow(`--out is "${out}": the folder is not empty`);
      const first = await create(true);
      await first.receive('step', step(1));
      await first.receive('model.safetensors', Buffer.from('trained'));
      await first.receive('finished', Buffer.from('{}'));
      await (await create(true)).receive('step', step(2));
      expect(await lines(out, 'metrics.jsonl')).toBe('{"step":2}\n');
      expect((await readdir(out)).sort()).toEqual([
        'README.md',
        'base.safetensors',
        'config.json',
        'evaluations.jsonl',
        'metrics.jsonl',
        'status.json',
        'trajectories.jsonl',
      ]);
    });

    test('a step that cannot be written is an error, and adds no half line', async () => {
      const { out, create } = await newRun('full');
      const run = await create();
      await run.receive('step', step(1));
      await rm(join(out, 'trajectories.jsonl'));
      await mkdir(join(out, 'trajectories.jsonl'));
      await expect(run.receive('step', step(2))).rejects.toThrow(`could not write to ${out}: it is a folder`);
      expect(await lines(out, 'metrics.jsonl')).toBe('{"step":1}\n');
    });

    test('files of a run are no files of a model', async () => {
      const { directory } = await newRun('model', { 'status.json': '{}', 'result.json': '{}', 'checkpoint-2.safetensors': '' });
      expect(Object.keys((await findModel(directory)).files).sort()).toEqual(['config.json', 'model.safetensors']);
    });
  });

  describe('the folder of an evaluation', () => {
    const trial = (id: number, reward: number | null = 1) => Buffer.from(JSON.stringify({ id, reward }));
    const lines = (out: string, name: string) => readFile(join(out, name), 'utf8');
    const check = async () => {};
    /** Two customers, one trial without a score, and half a line that a kill cut off. */
    async function killed(name: string) {
      const out = join(await modelFolder(name, {}), 'out');
      const folder = await EvaluationFolder.create(out, { customers: 2 });
      await expect(readdir(out)).rejects.toThrow('ENOENT');
      expect(folder.continuation).toBeNull();
      for (const [id, reward] of [[1, 1], [2, null], [3, 0]] as const) await folder.receive(0, trial(id, reward)); // prettier-ignore
      await folder.receive(1, trial(4));
      await appendFile(join(out, 'trajectories-2.jsonl'), '{"id":5,"rew');
      return { out, folder };
    }

    test('a killed one goes on with the scored trials; the others are played again, and kept', async () => {
      const { out } = await killed('killed evaluation');
      const folder = await EvaluationFolder.resume(out, check);
      expect(await lines(out, 'trajectories-1.jsonl')).toBe('{"id":1,"reward":1}\n{"id":3,"reward":0}\n');
      expect(await lines(out, 'superseded-trajectories-1.jsonl')).toBe('{"id":2,"reward":null}\n');
      expect(await readFile(folder.log(1), 'utf8')).toBe('{"id":4,"reward":1}\n');
      await folder.receive(0, trial(2));
      await folder.finish({ pass_hat: [] });
      expect(await readStatus(out)).toMatchObject({
        state: 'done',
        sha256: { 'trajectories-1.jsonl': sha256(await readFile(folder.log(0))) },
      });
      await expect(EvaluationFolder.resume(out, check)).rejects.toThrow(`--resume is "${out}": it is done: nothing is left to do`);
      await expect(EvaluationFolder.create(out, { customers: 1 })).rejects.toThrow('the folder is not empty');
      await (await EvaluationFolder.create(out, { customers: 1 }, true)).receive(0, trial(9));
      expect((await readdir(out)).sort()).toEqual(['status.json', 'trajectories-1.jsonl']);
    });

    test('what fails to be written ends the evaluation, with the way to go on', async () => {
      const { out, folder } = await killed('full evaluation');
      await rm(folder.log(0));
      await mkdir(folder.log(0));
      await expect(folder.receive(0, trial(6))).rejects.toThrow(`could not write to ${out}: it is a folder`);
      await folder.stop('failed', 'the disk is full');
      expect(await readStatus(out)).toMatchObject({ state: 'failed', message: 'the disk is full' });
      expect(folder.continuation).toContain(`mua evaluate --resume ${out}`);
    });

    test('damage, another command and other weights are refused', async () => {
      const { out, folder } = await killed('damaged evaluation');
      await folder.stop('interrupted');
      const refuse = () => Promise.reject(new Error('other weights'));
      await expect(EvaluationFolder.resume(out, refuse)).rejects.toThrow('other weights');
      await writeFile(folder.log(0), '{"id":1,\n{"id":2}\n');
      await expect(EvaluationFolder.resume(out, check)).rejects.toThrow('trajectories-1.jsonl: line 1 is not JSON');
      await writeFile(join(out, 'status.json'), JSON.stringify({ ...(await readStatus(out)), command: 'train' }));
      await expect(EvaluationFolder.resume(out, check)).rejects.toThrow('it is a run of mua train: expected ./mua train --resume');
    });
  });

  test('a folder gets its name at the end; after a failure nothing is left', async () => {
    const directory = await modelFolder('outs', {});
    const out = join(directory, 'run');
    await writeFolder(out, async (temporary) => {
      await writeFile(join(temporary, 'metrics.jsonl'), '1');
      expect(await readdir(directory)).not.toContain('run');
    });
    expect(await readdir(out)).toEqual(['metrics.jsonl']);
    const fail = writeFolder(out, async (temporary) => {
      await writeFile(join(temporary, 'metrics.jsonl'), '2');
      throw new Error('no luck');
    });
    await expect(fail).rejects.toThrow('no luck');
    expect(await readFile(join(out, 'metrics.jsonl'), 'utf8')).toBe('1');
    await writeFolder(out, (temporary) => writeFile(join(temporary, 'metrics.jsonl'), '3'));
    expect(await readFile(join(out, 'metrics.jsonl'), 'utf8')).toBe('3');
    expect(await readdir(directory)).toEqual(['run']);
  });
});

describe('evaluate: selection of tasks', () => {
  test('ids of tasks as a JSON list, as tasks, or one id per line', async () => {
    const read = async (text: string) => readTaskIds(await json(text));
    expect(await read('["a", 3, {"id": "c", "more": 1}]')).toEqual(['a', '3', 'c']);
    expect(await read('a\n\n  b \r\n')).toEqual(['a', 'b']);
    await expect(read(' \n')).rejects.toThrow(/it is empty: expected task ids/);
    await expect(read('[{}]')).rejects.toThrow(/\[0\] is {}: expected a task id/);
    await expect(read('[')).rejects.toThrow(/is not JSON/);
  });

  test('flags that exclude each other are refused before any work', async () => {
    const data = await modelFolder('evaluate-data', tau2Mock);
    const evaluate = (...args: string[]) => main('evaluate', '--model', folder, ...args);
    const wrong: [RegExp, ...string[]][] = [
      [
        /--domain is "airline": without --rules and --data, expected bookings or chat or contacts or courses or desk or jobs or library or multiturn or plans or rentals or retail or rooms or telecom/,
        '--domain',
        'airline',
      ],
      [
        /--domain is "shop": expected bookings, chat, contacts, courses, desk, jobs, library, multiturn, plans, rentals, retail, rooms, telecom, airline, mock/,
        '--domain',
        'shop',
      ],
      [/--data is given: expected --rules tau1 or tau2 or bfcl or acebench with it/, '--domain', 'mock', '--data', data],
      [/--rules is given: expected --data DIR with it/, '--domain', 'mock', '--rules', 'tau2'],
      [/--domain is "mock": tau1 has retail, airline/, '--domain', 'mock', '--rules', 'tau1', '--data', data],
      [/--data is ".*nowhere": there is no such file or folder/, '--domain', 'mock', '--rules', 'tau2', '--data', join(folder, 'nowhere')],
      [
        /--level is "nano": expected full for the tasks of --data/,
        '--domain',
        'mock',
        '--rules',
        'tau2',
        '--data',
        data,
        '--level',
        'nano',
      ],
      [/--tasks is "0": expected a whole number from 1/, '--domain', 'mock', '--rules', 'tau2', '--data', data, '--tasks', '0'],
      [/--tasks is ".\/ids.json": there is no such file/, '--domain', 'mock', '--rules', 'tau2', '--data', data, '--tasks', './ids.json'],
      [
        /--split is "base": --tasks already names a file or split/,
        '--domain',
        'mock',
        '--rules',
        'tau2',
        '--data',
        data,
        '--split',
        'base',
        '--tasks',
        'base',
      ],
      [/--split is "base": expected train or heldout/, '--split', 'base'],
      [/--tasks is "test": expected a whole number from 1/, '--tasks', 'test'],
      [/--model is given: --resume takes the settings of the run/, '--resume', data],
      [/--output is ".*x": expected no --output with --out/, '--output', join(data, 'x'), '--out', join(data, 'y')],
      [/--tau2-results is given: expected one --user with it/, '--tau2-results', 'x', '--user', 'scripted', '--user', 'learned'],
    ];
    for (const [message, ...args] of wrong)
      expect(await evaluate(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) as string });
  });

  test('one server may play the customer, and its address may be stored', async () => {
    const evaluate = (...args: string[]) => main('evaluate', '--model', 'models/glimpse-retail', '--user-model', 'm', ...args);
    const two = await evaluate('--user', 'http://localhost:9', '--user', 'http://localhost:8');
    expect(two).toMatchObject({ code: 2, stderr: 'mua: --user names 2 servers: expected one at most\n' });
    const secret = await evaluate('--user', 'http://me:secret@localhost:9', '--out', join(folder, 'evaluated'));
    expect(secret.stderr).toMatch(/--user is "http:\/\/…@localhost:9\/v1": expected an address without user name and query/);
  });
});

describe('the flags of the customer', () => {
  const read = (...args: string[]) => readUser(readFlags(args, { ...USER_FLAGS, ...COST_FLAGS }) as unknown as { user: string });
  const server = ['--user', 'http://localhost:9', '--user-model', 'm'];

  test('prices and a budget are part of a customer behind an endpoint', async () => {
    const { user } = await read(...server, '--user-prompt-price', '0.5', '--user-budget', '3');
    expect(user).toEqual({ mode: 'endpoint', baseUrl: 'http://localhost:9/v1', model: 'm', promptPrice: 0.5, budget: 3 });
    expect((await read(...server)).user).toEqual({ mode: 'endpoint', baseUrl: 'http://localhost:9/v1', model: 'm' });
  });

  test.each([
    [['--judge-customer'], '--judge-customer is given: expected --user URL with it'],
    [['--user-budget', '3'], 'a price or --user-budget is given: expected --user URL with it'],
    [
      [...server, '--user-budget', '3', '--user-prompt-price', '0'],
      '--user-budget is 3: expected --user-prompt-price or --user-completion-price above 0 with it',
    ],
    [[...server, '--user-budget', '-1'], '--user-budget is "-1": expected a number from 0'],
    [[...server, '--user-completion-price', 'ten'], '--user-completion-price is "ten": expected a number from 0'],
  ])('%j is refused', async (args, message) => {
    const error = await Promise.resolve()
      .then(() => read(...args))
      .catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining(message) as string, exitCode: 2 });
  });

  test.each([
    [['--judge', 'rule', '--user', 'scripted'], '--judge and --user are given: expected one of them'],
    [['--judge', 'nobody'], '--judge is "nobody": expected rule, learned, hub:OWNER/NAME, folder:DIR or an http(s) URL'],
    [['--judge', 'http://127.0.0.1:9'], '--judge is "http://127.0.0.1:9/v1": could not list its models'],
    [['--judge', 'rule', '--user-budget', '3'], 'a price or --user-budget is given: expected --judge URL with it'],
    [['--judge', 'rule', '--resume', 'somewhere'], '--judge is given: --resume takes the settings of the run'],
  ])('train %j is refused', async (args, message) => {
    const { code, stderr } = await main(
      'train',
      ...(args.includes('--resume') ? [] : ['--preset', 'question', '--model', 'models/glimpse-retail', '--out', join(folder, 'judged')]),
      ...args,
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test.each(['--out=x', '--force', '--resume=x', '--user=scripted', '--user-budget=3', '--val-user=learned'])(
    'train --plan %s is refused',
    async (flag) => {
      const { code, stderr } = await main('train', '--plan', flag);
      const [name] = flag.split('=');
      expect([code, stderr]).toEqual([2, `mua: ${name} is given: --plan starts no run, and does not use it\n`]);
    },
  );

  test('the key does not follow a redirect of the list of models', async () => {
    vi.stubEnv('MUA_USER_KEY', 'sk-secret');
    const paths: string[] = [];
    const keys: unknown[] = [];
    const redirecting = createServer((asked, answer) => {
      paths.push(asked.url!);
      keys.push(asked.headers.authorization);
      answer.writeHead(302, { location: '/elsewhere' }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const { port } = redirecting.address() as AddressInfo;
    try {
      await expect(read('--user', `http://127.0.0.1:${port}`)).rejects.toThrow(/could not list its models \(.*redirect/);
      expect(new Set(paths)).toEqual(new Set(['/v1/models']));
      expect(keys[0]).toBe('Bearer sk-secret');
    } finally {
      vi.unstubAllEnvs();
      redirecting.close();
    }
  });
});

/** The status of an answer to a request that names another host. */
const statusFor = (origin: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(origin, { headers: { Host: host } }, (answer) => resolve(answer.resume().statusCode!))
      .on('error', reject)
      .end();
  });

describe('the local server', () => {
  test('serves the site with isolation headers, exchanges files under a secret path, and has no other path', async () => {
    const site = await modelFolder('site', { 'index.html': '<h1>hi</h1>' });
    await modelFolder('site/assets', { 'a.js': 'export {}' });
    await writeFile(join(folder, 'secret.txt'), 'secret');
    const files = new JobFiles();
    const server = await serveSite(site, { files });
    try {
      const home = await fetch(`${server.origin}/`);
      expect(await home.text()).toBe('<h1>hi</h1>');
      for (const [name, value] of Object.entries(HEADERS)) expect(home.headers.get(name), name).toBe(value);
      expect(home.headers.get('content-security-policy')).not.toMatch(/unsafe-inline|blob:|unsafe-eval(?<!wasm-unsafe-eval)/);
      expect((await fetch(`${server.origin}/assets/a.js`)).headers.get('content-type')).toBe('text/javascript');
      expect((await fetch(`${server.origin}/..%2fsecret.txt`)).status).toBe(404);
      for (const path of ['/%', '//']) expect((await fetch(`${server.origin}${path}`)).status).toBe(400);
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) expect((await fetch(`${server.origin}/`, { method })).status).toBe(405);
      expect((await fetch(`${server.origin}/`, { method: 'HEAD' })).status).toBe(200);
      for (const [host, status] of [
        ['localhost', 200],
        ['127.0.0.1', 200],
        ['[::1]', 200],
        ['evil.example', 403],
        ['127.0.0.1.evil.example', 403],
      ] as const)
        expect(await statusFor(server.origin, host), host).toBe(status);
      files.offer('in', { data: 'given' });
      const received: [string, string][] = [];
      files.accept('out/*', (body, name) => void received.push([name, body.toString()]));
      files.accept('broken', () => Promise.reject(new Error('the disk is full')));
      const at = (name: string) => `${server.origin}${server.exchange}${name}`;
      expect(await (await fetch(at('in'))).text()).toBe('given');
      expect((await fetch(`${server.origin}/in`)).status).toBe(404);
      expect((await fetch(at('out/x'), { method: 'PUT', body: 'made' })).status).toBe(204);
      expect(received).toEqual([['out/x', 'made']]);
      const broken = await fetch(at('broken'), { method: 'PUT', body: '' });
      expect([broken.status, await broken.text()]).toEqual([500, 'the disk is full']);
      expect((await fetch(at('other'), { method: 'PUT', body: '' })).status).toBe(404);
    } finally {
      await server.close();
    }
  });

  test('forwards requests to the customer endpoint with its key; a dead endpoint is named', async () => {
    const upstream = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(429, { 'Retry-After': '3', 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ url: request.url, key: request.headers.authorization, body }));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    const server = await serveSite(await modelFolder('site2', { 'index.html': '' }));
    try {
      const base = server.proxyUser({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k' });
      const reply = await fetch(`${base}/chat/completions`, { method: 'POST', body: '{"a":1}' });
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '3']);
      expect(await reply.json()).toEqual({ url: '/v1/chat/completions', key: 'Bearer k', body: '{"a":1}' });
      server.proxyUser({ baseUrl: `http://127.0.0.1:${port}/v1/?api-version=2` });
      expect(await (await fetch(`${base}/chat/completions`, { method: 'POST', body: '' })).json()).toMatchObject({
        url: '/v1/chat/completions?api-version=2',
      });
      upstream.closeAllConnections();
      await new Promise((resolve) => upstream.close(resolve));
      const dead = await fetch(`${base}/chat/completions`, { method: 'POST', body: '{}' });
      expect([dead.status, dead.headers.get('x-mua-unreachable')]).toEqual([502, `http://127.0.0.1:${port}/v1/chat/completions`]);
    } finally {
      await server.close();
    }
  });
});

test('an error is one line without control characters', () => {
  expect(oneLine('a\n  b\u001b[31mred\u0007\u009b2Jc\r')).toBe('a b[31mred2Jc');
});

describe('progress', () => {
  test('a bar on a terminal, rare lines elsewhere', () => {
    const written: string[] = [];
    const stream = (isTTY: boolean) => ({ isTTY, columns: 80, write: (text: string) => void written.push(text) });
    const bar = new ProgressBar(stream(true));
    bar.update(1, 4, 'step', { 'critic/score/mean': 0.25 });
    expect(written.join('')).toMatch(/█{6}░{18} 1\/4 step .*reward=0.250/);
    bar.clear();
    expect(written.at(-1)).toBe('\r\x1b[2K');
    written.length = 0;
    const lines = new ProgressBar(stream(false));
    lines.update(1, 4, 'step');
    lines.update(2, 4, 'step');
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(/^1\/4 step .*\n$/);
    // Before the first step is done, only an estimate says how long the rest takes.
    new ProgressBar(stream(false)).update(0, 4, 'rollout 1/32', undefined, 754);
    expect(written.at(-1)).toMatch(/^0\/4 rollout 1\/32 .* 12:34 left\n$/);
  });
  test('clock', () => expect([clock(5), clock(65), clock(3661)]).toEqual(['0:05', '1:05', '1:01:01']));
});

test('errors of the page keep their exit code', () => {
  expect(errorOfWork({ name: 'ConfigError', message: 'm' }).exitCode).toBe(2);
  expect(errorOfWork({ name: 'InputError', message: 'm' }).exitCode).toBe(2);
  expect(errorOfWork({ name: 'RangeError', message: 'm' }).exitCode).toBe(1);
});

describe('the program', () => {
  // The first process of a fresh clone builds the command line, and says so.
  beforeAll(() => mua('--version'));

  test('help on stdout, exit 0', async () => {
    const [bare, flags] = await Promise.all([mua(), mua('score', '--help')]);
    expect(bare).toMatchObject({ code: 0, stderr: '' });
    expect(bare.stdout).toContain('user-server');
    expect(flags.stdout).toContain('--input FILE.json');
  });
  test('wrong use: exit 2, one line on stderr, nothing on stdout', async () => {
    const out = join(folder, 'never');
    const runs = await Promise.all([
      mua('bogus'),
      mua('train', '--out', out, '--steps', '-1'),
      mua('score', '--model', join(folder, 'nowhere'), '--input', 'a', '--output', out),
      mua(
        'train',
        '--out',
        out,
        '--user',
        'ftp://name:s3cret@x/v1?key=s3cret',
        '--model',
        await modelFolder('user-model', {
          'config.json': '{"vocab_size":9}',
          'tokenizer.json': '{}',
          'tokenizer_config.json': '{}',
          'model.safetensors': safetensors(1),
        }),
      ),
    ]);
    for (const { code, stdout, stderr } of runs) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^mua: [^\n]+\n$/);
      expect(stderr).not.toContain('s3cret');
    }
    expect(await readdir(folder)).not.toContain('never');
  });
});

describe('replay and rescore', () => {
  const write = async (name: string, value: unknown) => {
    const path = join(folder, name);
    await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));
    return path;
  };
  const cases = {
    cases: [
      { id: 'a', calls: [cancelCall, { name: 'fly', arguments: {} }] },
      { id: 'b', calls: [] },
    ],
  };
  const results = [
    {
      task_id: 0,
      trial: 0,
      reward: 0,
      info: null,
      traj: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ function: { name: cancelCall.name, arguments: JSON.stringify(cancelCall.arguments) } }],
        },
        { role: 'tool', content: '{}' },
        { role: 'assistant', content: 'That is 10.5.' },
        { role: 'user', content: '###STOP###' },
      ],
    },
  ];
  let data: string;
  beforeAll(async () => {
    data = await modelFolder('benchmark', {});
    await modelFolder('benchmark/tau-bench/retail', tau1Retail);
    await modelFolder('benchmark/tau2-bench/mock', tau2Mock);
  });
  const tau1 = (command: string, input: string, ...rest: string[]) =>
    mua(command, '--domain', 'retail', '--rules', 'tau1', '--data', data, '--input', input, ...rest);

  test('replay writes observations, errors, hashes and changed rows', async () => {
    const [input, output] = [await write('cases.json', cases), join(folder, 'replayed.json')];
    expect(await tau1('replay', input, '--output', output)).toMatchObject({
      code: 0,
      stdout: `2 cases with 2 calls, of which 1 returned errors: ${output}\n`,
    });
    const {
      cases: [a, b],
    } = JSON.parse(await readFile(output, 'utf8')) as { cases: Record<string, unknown>[] };
    expect(a).toMatchObject({
      id: 'a',
      errors: [false, true],
      observations: [expect.stringContaining('"status": "cancelled"'), 'Unknown action fly'],
      user_state_sha256: null,
      changed: [{ table: 'orders', key: '#W1' }, { table: 'users' }],
    });
    expect(b).toMatchObject({ id: 'b', observations: [], changed: [], state_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const user = await mua(
      'replay',
      '--domain',
      'mock',
      '--rules',
      'tau2',
      '--data',
      data,
      '--input',
      await write('mock.json', { cases: [{ id: 1, calls: [{ name: 'check_notifications', arguments: {}, requestor: 'user' }] }] }),
      '--output',
      output,
    );
    expect(user.code).toBe(0);
    expect((JSON.parse(await readFile(output, 'utf8')) as typeof cases).cases[0]).toMatchObject({
      observations: ['[]'],
      user_state_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  }, 60_000);

  test('rescore reports the changes as lines, as JSON and as a file', async () => {
    const [input, output] = [await write('results.json', results), join(folder, 'rescored.json')];
    const [lines, json] = [await tau1('rescore', input, '--output', output), await tau1('rescore', input, '--json')];
    expect(lines.stdout).toMatch(
      /^1 conversations: reward 100.0 % \(recorded 0.0 %\)\nrewards: 0 the same, 1 different; 1 of 1 observations differ\n {2}task 0 trial 0: 0 → 1; observations of cancel_pending_order differ\n$/,
    );
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(await readFile(output, 'utf8')));
    expect(JSON.parse(json.stdout)).toMatchObject({ runs: [{ task_id: '0', reward: 1, recorded_reward: 0 }], summary: { different: 1 } });
  }, 60_000);

  test('wrong use and bad files: exit 2 and one line', async () => {
    const input = await write('cases.json', cases);
    const output = join(folder, 'none.json');
    const runs: [RegExp, ReturnType<typeof mua>][] = [
      [
        /--domain is "telecom": tau1 has retail, airline/,
        mua('replay', '--domain', 'telecom', '--rules', 'tau1', '--data', data, '--input', input, '--output', output),
      ],
      [
        /--data is ".*nowhere": there is no such file or folder/,
        mua('replay', '--domain', 'retail', '--rules', 'tau1', '--data', join(folder, 'nowhere'), '--input', input, '--output', output),
      ],
      [/the folder ".*nowhere" does not exist/, tau1('replay', input, '--output', join(folder, 'nowhere', 'x.json'))],
      [
        /there is no tau-bench airline data here/,
        mua('replay', '--domain', 'airline', '--rules', 'tau1', '--data', data, '--input', input, '--output', output),
      ],
      [/bad.json: cases\[0\].calls: /, tau1('replay', await write('bad.json', { cases: [{ id: 1 }] }), '--output', output)],
      [/cut.json: it is not JSON/, tau1('rescore', await write('cut.json', '[{"task_id": 0'))],
      [
        /--empty-output is given with --rules tau2/,
        mua('rescore', '--domain', 'mock', '--rules', 'tau2', '--data', data, '--input', input, '--empty-output'),
      ],
    ];
    for (const [message, run] of runs) {
      const { code, stdout, stderr } = await run;
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^mua: /);
    }
    expect(await readdir(folder)).not.toContain('none.json');
    const unknown = await tau1('rescore', await write('unknown.json', [{ ...results[0], task_id: 9 }]));
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("mua: the results are of task '9'") });
  }, 60_000);
});

test.each([
  [['train', '--preset', 'lora', '--out', 'x'], '--model is missing: expected a folder, as the model of preset lora is not bundled'],
  [['experiment'], 'FILE.toml is missing: expected ./mua experiment FILE.toml --out DIR'],
  [['experiment', 'x.toml'], '--out is missing: expected --out DIR'],
  [['experiment', 'x.toml', '--report', 'out'], '--report is given: expected no FILE.toml, no --out and no --world with it'],
  [['experiment', 'x.toml', 'y.toml', '--out', 'out'], "Unexpected argument 'y.toml'"],
])('%j is refused', async (args, message) => {
  const { code, stdout, stderr } = await main(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});
