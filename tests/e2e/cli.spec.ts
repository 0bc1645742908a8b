/** The command line with its browser, on a tiny model: scores, faults, interruption, measurements. */
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { findChromium } from '../../src/cli/browser.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { mua, startMua } from '../support/mua.ts';
import { OpenEnvClient } from '../support/openenv-client.ts';
import { TINY } from '../support/tiny-config.ts';
import { writeTinyModel } from '../support/tiny-model.ts';
import { test } from './test.ts';

let folder: string;
let model: string;
test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-e2e-'));
  model = join(folder, 'model');
  await writeTinyModel(model);
});
test.afterAll(() => rm(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
const read = async (name: string) => JSON.parse(await readFile(at(name), 'utf8'));
const write = async (name: string, value: unknown) => {
  await writeFile(at(name), JSON.stringify(value));
  return at(name);
};
/** What a command wrote beside its progress, whose lines end with the time, such as `starting the browser 0:01`. */
const withoutProgress = (stderr: string) => stderr.replace(/^.* \d+:\d\d\n/gm, '');
const expectDone = ({ code, stderr }: { code: number | null; stderr: string }) => expect(code, stderr).toBe(0);

async function score(directory: string, sequences: number[][]): Promise<{ logprobs: number[][]; entropies: number[][] }> {
  expectDone(await mua('score', '--model', directory, '--input', await write('score.json', { sequences }), '--output', at('scores.json')));
  return read('scores.json');
}

test('score: one entry less than tokens, a distribution at every place', async () => {
  const everyNext = Array.from({ length: TINY.vocab_size }, (_, id) => [3, 1, id]);
  const { logprobs, entropies } = await score(model, [...everyNext, [5]]);
  expect(logprobs.at(-1)).toEqual([]);
  const last = everyNext.map((_, i) => logprobs[i]![1]!);
  expect(last.reduce((sum, l) => sum + Math.exp(l), 0)).toBeCloseTo(1, 5);
  expect(last.reduce((sum, l) => sum - l * Math.exp(l), 0)).toBeCloseTo(entropies[0]![1]!, 4);
  expect(Math.max(...last) - Math.min(...last)).toBeGreaterThan(0.5);
});

test('generate: deterministic, and its log-probs are those that score finds', async () => {
  const request = await write('generate.json', { prompts: [[1, 2, 3], [4], [5, 6]], max_new_tokens: 12, temperature: 1, seed: 3 });
  const runs = [];
  for (const out of ['g1.json', 'g2.json']) {
    expectDone(await mua('generate', '--model', model, '--input', request, '--output', at(out)));
    runs.push(await read(out));
  }
  expect(runs[1]).toEqual(runs[0]);
  const { completions } = runs[0] as { completions: { tokens: number[]; logprobs: number[] }[] };
  const prompts = [[1, 2, 3], [4], [5, 6]];
  expect(completions.map((c) => c.tokens.length)).toEqual([12, 12, 12]);
  const { logprobs } = await score(
    model,
    completions.map((c, i) => [...prompts[i]!, ...c.tokens]),
  );
  for (const [i, c] of completions.entries()) {
    c.logprobs.forEach((value, t) => expect(value).toBeCloseTo(logprobs[i]![prompts[i]!.length - 1 + t]!, 4));
  }
});

test('faults: one clear line, nothing written', async () => {
  const before = (await readdir(folder)).sort();
  const input = await write('in.json', { sequences: [[1, 2]] });
  const beyond = await write('beyond.json', { sequences: [[1, TINY.vocab_size]] });
  await writeTinyModel(at('nan'), (weights) => (weights.get('model.norm.weight')!.data[3] = NaN));
  await writeTinyModel(at('cut'));
  await truncate(join(at('cut'), 'model.safetensors'), 3000);
  await writeTinyModel(at('odd'), (weights) => weights.delete('model.norm.weight'));
  const cases: [string[], number, RegExp][] = [
    [['score', '--model', at('cut'), '--input', input], 2, /truncated/],
    [['score', '--model', model, '--input', beyond], 2, /sequences\[0\]\[1\] is 37: expected a token id from 0 to 36/],
    [['score', '--model', at('nan'), '--input', input], 2, /model\.norm\.weight/],
    [['score', '--model', at('odd'), '--input', input], 2, /model\.norm\.weight/],
    [['train', '--model', model, '--preset', 'tiny'], 2, /tokenizer/],
  ];
  for (const [args, expected, message] of cases) {
    const { code, stdout, stderr } = await mua(...args, args[0] === 'train' ? '--out' : '--output', at('never'));
    expect({ code, stdout }, stderr).toEqual({ code: expected, stdout: '' });
    expect(withoutProgress(stderr)).toMatch(/^mua: [^\n]+\n$/);
    expect(stderr).toMatch(message);
  }
  const after = (await readdir(folder)).filter((name) => !['in.json', 'beyond.json', 'nan', 'cut', 'odd'].includes(name));
  expect(after.sort()).toEqual(before);
});

test('a browser without a GPU is reported with what to do', async () => {
  const input = await write('in.json', { sequences: [[1, 2]] });
  const { done } = startMua(['score', '--model', model, '--input', input, '--output', at('never')], {
    MUA_CHROMIUM_ARGS: '--disable-gpu --disable-software-rasterizer',
  });
  const { code, stderr } = await done;
  expect(code).toBe(1);
  expect(withoutProgress(stderr)).toMatch(/^mua: .*WebGPU.*MUA_CHROMIUM/);
});

test('Ctrl-C closes the browser, leaves nothing, exits 130', async () => {
  // This browser writes its process id to a file when it starts.
  const [browser, started] = [at('browser.sh'), at('browser.pid')];
  await writeFile(browser, `#!/bin/sh\necho $$ > '${started}'\nexec '${findChromium()}' "$@"\n`, { mode: 0o755 });
  const input = await write('long.json', { prompts: [[1]], max_new_tokens: 4000, temperature: 1, seed: 1 });
  const { child, done } = startMua(['generate', '--model', model, '--input', input, '--output', at('interrupted.json')], {
    MUA_CHROMIUM: browser,
  });
  const id = async () => Number(await readFile(started, 'utf8').catch(() => '0'));
  await expect.poll(id).toBeGreaterThan(0);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await done;
  expect({ code, stdout }, stderr).toEqual({ code: 130, stdout: '' });
  expect((await readdir(folder)).filter((name) => name.includes('interrupted'))).toEqual([]);
  const running = async () => {
    try {
      return process.kill(await id(), 0);
    } catch {
      return false;
    }
  };
  await expect.poll(running).toBe(false);
});

test('bench: chosen workloads with their share of the roofline, and the picture', async () => {
  const outcome = await mua('bench', '--json', '--workloads', 'decode-nano-8, train-nano', '--svg', at('roofline.svg'));
  expectDone(outcome);
  const { adapter, ceilings, workloads } = JSON.parse(outcome.stdout);
  expect(adapter.state).toBe('ready');
  expect(workloads.map(({ name }: { name: string }) => name)).toEqual(['train-nano', 'decode-nano-8']);
  for (const { ms, all_ms, tokens, tokens_per_s, flops, bytes, gflops, share } of workloads) {
    expect(ms).toBe(Math.min(...all_ms));
    expect(tokens_per_s).toBeCloseTo((1000 * tokens) / ms);
    expect(share).toBeCloseTo(gflops / Math.min(ceilings.gflops, (flops / bytes) * ceilings.gb_per_s));
    expect(share).toBeGreaterThan(0.01);
    // The ceiling is measured with other shapes. A matmul of this shape can be a little faster.
    expect(share).toBeLessThan(1.5);
  }
  expect((await readFile(at('roofline.svg'), 'utf8')).match(/<circle/g)).toHaveLength(2);
  const unknown = await mua('bench', '--workloads', 'train-mega');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('workload "train-mega": expected names among train-nano');
});

/** The folder of the model that `learned` names. */
const CUSTOMER = 'folder:models/customers/nano-customer@fp32';

test('env-serve --user learned: the same agent, task and seed give the conversation that an evaluation has with the model in a folder', async () => {
  const output = at('learned.jsonl');
  const evaluated = ['--domain', 'retail', '--level', 'nano', '--tasks', '4', '--trials', '1', '--user', CUSTOMER, '--output', output];
  expectDone(await mua('evaluate', '--json', '--model', 'models/nano-retail', ...evaluated));
  const trajectories = (await readFile(output, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Trajectory);
  expect(trajectories).toHaveLength(4);
  const { child, line, done } = startMua(['env-serve', '--port', '0', '--json', '--quiet', '--user', 'learned']);
  try {
    const { url } = JSON.parse(await line()) as { url: string };
    for (const { task, nodes, seed, userSeed = seed, reward, leaf } of trajectories) {
      const client = await OpenEnvClient.connect(url);
      const heard: string[] = [];
      let result = await client.reset({ seed: userSeed, task_id: task.id });
      const opening = (result.observation.messages as { role: string; content: string }[]).filter(({ role }) => role === 'user');
      heard.push(...opening.map(({ content }) => content));
      for (const { role, text } of nodes) {
        if (role !== 'assistant' || result.done) continue;
        result = await client.step({ content: text.replace('<|im_end|>', '') });
        if (result.observation.role === 'user') heard.push(result.observation.content as string);
      }
      expect(heard, task.id).toEqual(nodes.filter(({ role }) => role === 'user').map(({ text }) => text));
      // If no limit ended the conversation of the evaluation, the reward is the same too.
      if (nodes.find(({ id }) => id === leaf)?.role === 'user') expect(result.reward, task.id).toBe(reward);
      await client.close();
    }
  } finally {
    child.kill('SIGINT');
    await done;
  }
});
