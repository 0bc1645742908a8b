/** The command line with its browser, on a tiny model: round trips, faults, interruption. */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import { findChromium } from '../../src/cli/browser.ts';
import { parseConfig } from '../../src/engine/config.ts';
import { initialLora, loraLayout, loraTensors } from '../../src/engine/lora.ts';
import { loraOptions, saveAdapter } from '../../src/exchange/adapter-folder.ts';
import { readSafetensors } from '../../src/exchange/safetensors.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { tau2Mock } from '../support/benchmark-data.ts';
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

test('a LoRA adapter over stored precisions: scores and gradients of PyTorch', async () => {
  const fixture = fileURLToPath(new URL('../reference/fixtures/lora', import.meta.url));
  const model = at('based');
  await mkdir(model);
  for (const name of ['config.json', 'model.safetensors']) await copyFile(join(fixture, name), join(model, name));
  const { sequences, formats } = JSON.parse(await readFile(join(fixture, 'figures.json'), 'utf8')) as {
    sequences: { tokens: number[]; loss_mask: number[] }[];
    formats: Record<string, { loss: number; logprobs: number[][]; base_logprobs: number[][] }>;
  };
  const input = await write('lora-score.json', { sequences: sequences.map(({ tokens }) => tokens) });
  for (const [precision, lora] of [
    ['bf16', ['--lora', fixture]],
    ['int4', []],
  ] as const) {
    expectDone(await mua('score', '--model', model, ...lora, '--precision', precision, '--input', input, '--output', at('lora.json')));
    const { logprobs } = (await read('lora.json')) as { logprobs: number[][] };
    const expected = formats[precision]![lora.length > 0 ? 'logprobs' : 'base_logprobs'];
    const errors = expected.flatMap((row, i) => row.slice(1).map((value, t) => Math.abs(value - logprobs[i]![t]!)));
    expect(Math.max(...errors), precision).toBeLessThan(2e-4);
  }
  const request = await write('lora-grad.json', { loss: 'sft', sequences });
  const files = ['--input', request, '--output', at('lora.safetensors'), '--report', at('lora-report.json')];
  expectDone(await mua('grad', '--model', model, '--lora', fixture, '--precision', 'int4', ...files));
  expect((await read('lora-report.json')).loss).toBeCloseTo(formats.int4!.loss, 4);
  const tensors = async (path: string) => readSafetensors(new Uint8Array(await readFile(path)));
  const [got, expected] = await Promise.all([tensors(at('lora.safetensors')), tensors(join(fixture, 'gradients-int4.safetensors'))]);
  expect([...got.keys()].sort()).toEqual([...expected.keys()].sort());
  const norm = (values: Float32Array) => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
  for (const [name, { shape, data }] of expected) {
    expect(got.get(name)!.shape, name).toEqual(shape);
    expect(norm(data.map((x, i) => x - got.get(name)!.data[i]!)) / norm(data), name).toBeLessThan(1e-4);
  }
  // Without an adapter, all weights have gradients. They are computed at the rounded weights.
  expectDone(await mua('grad', '--model', model, '--precision', 'int4', ...files));
  expect([...(await tensors(at('lora.safetensors'))).keys()]).toContain('model.layers.0.mlp.up_proj.weight');
  const missing = await mua('score', '--model', model, '--lora', model, '--input', input, '--output', at('lora.json'));
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('it has no adapter_config.json, as PEFT writes it')]);
});

test('evaluate with an adapter, and with the model that export merges from it: the same conversations', async () => {
  const source = 'models/nano-retail';
  const config = parseConfig(JSON.parse(await readFile(join(source, 'config.json'), 'utf8')));
  const lora = { r: 4, lora_alpha: 8, target_modules: ['q_proj', 'down_proj'], use_rslora: false } as const;
  const layout = loraLayout(loraTensors(config, loraOptions(lora)));
  const tensors = initialLora(layout, loraOptions(lora), 3);
  for (const [name, { data }] of tensors)
    if (name.endsWith('lora_B.weight')) data.forEach((_, i) => (data[i] = 0.2 * Math.sin(i + name.length)));
  await mkdir(at('adapter'));
  for (const [name, bytes] of Object.entries(saveAdapter(lora, tensors, 'nano-retail'))) await writeFile(join(at('adapter'), name), bytes);
  expectDone(await mua('export', '--format', 'hf', '--model', source, '--lora', at('adapter'), '--out', at('merged')));
  const play = async (name: string, ...model: string[]) => {
    expectDone(await mua('evaluate', ...model, '--tasks', '4', '--seed', '7', '--temperature', '0', '--output', at(name)));
    const played = (await readFile(at(name), 'utf8')).trim().split('\n');
    const sampled = played.map((line) => (JSON.parse(line) as Trajectory).nodes.filter(({ mask }) => mask.includes(1)));
    // Greedy words can stay the same while their log-probabilities change.
    const first = sampled.map(([node]) => node!.logprobs.reduce<number>((sum, logprob) => sum + (logprob ?? 0), 0));
    return { tokens: sampled.map((nodes) => nodes.map(({ tokens }) => tokens)), first };
  };
  const adapted = await play('adapted.jsonl', '--model', source, '--lora', at('adapter'));
  const merged = await play('merged.jsonl', '--model', at('merged'));
  const base = await play('base.jsonl', '--model', source);
  expect(adapted.tokens).toEqual(merged.tokens);
  const apart = (other: typeof base) => Math.max(...adapted.first.map((value, i) => Math.abs(value - other.first[i]!)));
  expect(apart(merged)).toBeLessThan(1e-3);
  expect(apart(base)).toBeGreaterThan(3e-3);
});

test('plan: bytes by part; an adapter needs less optimizer than all weights', async () => {
  const plan = async (...flags: string[]) => {
    const outcome = await mua('plan', '--json', '--model', model, '--slots', '2', '--max-model-len', '64', ...flags);
    expectDone(outcome);
    return JSON.parse(outcome.stdout) as Record<string, number>;
  };
  const [full, lora] = [await plan(), await plan('--lora-rank', '4')];
  for (const { weights, sampler, training, optimizer, total } of [full, lora] as Record<string, number>[])
    expect(weights! + sampler! + training! + optimizer!).toBe(total);
  const parameters = [...(await writeTinyModel(at('planned'))).values()].reduce((sum, { data }) => sum + data.length, 0);
  expect(full.optimizer).toBeGreaterThan(3 * 4 * parameters);
  expect(lora.optimizer).toBeLessThan(full.optimizer!);
  const rounded = await plan('--kv-cache-dtype', 'f16', '--shared-tokens', '32');
  // The KV cache has keys and values of 2 · 64 tokens in f32, or of 96 tokens in f16.
  const { num_hidden_layers, num_key_value_heads, head_dim } = TINY;
  expect(full.sampler! - rounded.sampler!).toBe(2 * num_hidden_layers * num_key_value_heads * head_dim * (2 * 64 * 4 - 96 * 2));
});

test('grad: the loss is that of score, and its gradient predicts the loss beside it', async () => {
  const tokens = [7, 3, 30, 11, 2, 19];
  const request = await write('grad.json', { loss: 'sft', sequences: [{ tokens, loss_mask: [0, 0, 1, 1, 1, 1] }] });
  const outcome = await mua(
    'grad',
    '--json',
    '--model',
    model,
    '--input',
    request,
    '--output',
    at('g.safetensors'),
    '--report',
    at('report.json'),
  );
  expectDone(outcome);
  const report = await read('report.json');
  expect(JSON.parse(outcome.stdout)).toMatchObject({ loss: report.loss });
  const mean = async (directory: string) => {
    const { logprobs } = await score(directory, [tokens]);
    return -logprobs[0]!.slice(1).reduce((sum, l) => sum + l, 0) / 4;
  };
  const gradients = readSafetensors(new Uint8Array(await readFile(at('g.safetensors'))));
  const norm = Math.sqrt([...gradients.values()].reduce((sum, { data }) => data.reduce((s, g) => s + g * g, sum), 0));
  // A step of length h against the gradient lowers the loss by h‖g‖, minus a term of order h² from the curvature.
  const h = 0.002;
  const weights = await writeTinyModel(at('moved'), (w) => {
    for (const [name, { data }] of w) gradients.get(name)!.data.forEach((g, i) => (data[i]! -= (h * g) / norm));
  });
  expect([...weights.keys()].sort()).toEqual([...gradients.keys()].sort());
  expect(report.loss).toBeCloseTo(await mean(model), 5);
  expect((report.loss - (await mean(at('moved')))) / (h * norm)).toBeCloseTo(1, 1);
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

test('evaluate on an imported benchmark: its tasks, its rewards, its results read back; bad splits are told by name', async () => {
  const data = await mkdtemp(join(folder, 'mock-'));
  for (const [name, text] of Object.entries(tau2Mock)) await writeFile(join(data, name), text);
  const benchmark = ['--domain', 'mock', '--rules', 'tau2', '--data', data];
  const results = at('results.json');
  const evaluate = (...more: string[]) =>
    mua('evaluate', '--json', '--model', 'models/nano-retail', ...benchmark, '--set', 'response_length_one_turn=16', ...more);
  const outcome = await evaluate('--tasks', 'base', '--trials', '2', '--tau2-results', results, '--output', at('trajectories.jsonl'));
  expectDone(outcome);
  expect(JSON.parse(outcome.stdout)).toMatchObject({
    tasks: 1,
    trials: 2,
    noop_tasks: 0,
    noop_skipped: 0,
    tcr: { value: expect.any(Number) as unknown },
    pass_hat: [{ k: 1 }, { k: 2 }],
  });
  const { simulations, tasks } = await read('results.json');
  expect([simulations.length, tasks.length, simulations[0].task_id, simulations[0].messages[0].role]).toEqual([2, 1, 'done', 'assistant']);
  const rescored = await mua('rescore', '--json', ...benchmark, '--input', results);
  expectDone(rescored);
  expect(JSON.parse(rescored.stdout)).toMatchObject({ summary: { runs: 2, same: 2, different: 0, observations_different: 0 } });
  const unknown = await evaluate('--tasks', 'test');
  expect([unknown.code, unknown.stdout]).toEqual([2, '']);
  expect(unknown.stderr).toContain("the mock data has no 'test'; it has base (1)");
});
