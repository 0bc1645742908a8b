/** Commands with a model on the GPU of Node: adapters, gradients, plans, a benchmark. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../../../src/engine/config.ts';
import { initialLora, loraLayout, loraTensors } from '../../../src/engine/lora.ts';
import { loraOptions, saveAdapter } from '../../../src/exchange/adapter-folder.ts';
import { readSafetensors } from '../../../src/exchange/safetensors.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { tau2Mock } from '../../support/benchmark-data.ts';
import { startMua } from '../../support/mua.ts';
import { TINY } from '../../support/tiny-config.ts';
import { writeTinyModel } from '../../support/tiny-model.ts';

let folder: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-commands-'));
  model = join(folder, 'model');
  await writeTinyModel(model);
});
afterAll(() => rm(folder, { recursive: true }));

const mua = (...args: string[]) => startMua(args, { MUA_ON: 'node', LP_NUM_THREADS: '2' }).done;
const at = (name: string) => join(folder, name);
const read = async (name: string) => JSON.parse(await readFile(at(name), 'utf8'));
const write = async (name: string, value: unknown) => {
  await writeFile(at(name), JSON.stringify(value));
  return at(name);
};
const expectDone = ({ code, stderr }: { code: number | null; stderr: string }) => expect(code, stderr).toBe(0);

async function score(directory: string, sequences: number[][]): Promise<{ logprobs: number[][]; entropies: number[][] }> {
  expectDone(await mua('score', '--model', directory, '--input', await write('score.json', { sequences }), '--output', at('scores.json')));
  return read('scores.json');
}

test('a LoRA adapter over stored precisions: scores and gradients of PyTorch', async () => {
  const fixture = fileURLToPath(new URL('../../reference/fixtures/lora', import.meta.url));
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
