/** LoRA and stored weight formats against PyTorch in float64 (tests/reference/lora.py). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type EngineOptions } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { paddedRank } from '../../src/engine/lora.ts';
import type { WeightFormat } from '../../src/engine/kernels/weight-format.ts';
import type { Engine, TensorMap } from '../../src/engine/types.ts';
import { loraOptions, mergeAdapter, adapterFile } from '../../src/exchange/adapter-folder.ts';
import { readSafetensors } from '../../src/exchange/safetensors.ts';
import { sftLoss } from '../../src/training/grpo-loss.ts';
import { loadLoraFixture, type LoraFixture } from '../support/fixtures.ts';

let gpu: Gpu;
const errors: string[] = [];
beforeAll(async () => {
  gpu = await Gpu.create();
  gpu.device.addEventListener('uncapturederror', ({ error }) => errors.push(error.message));
});
afterAll(() => {
  expect(errors).toEqual([]);
  gpu.destroy();
});

const FORMATS = ['f32', 'bf16', 'int8', 'int4'] as const;
const ADAM = { lr: 1e-2, beta1: 0.9, beta2: 0.99, eps: 1e-8, weight_decay: 0.01, grad_clip: 1 };

/** ‖got − expected‖ / ‖expected‖ of the tensor with the largest difference. */
function worst(got: TensorMap, expected: TensorMap): number {
  expect([...got.keys()].sort()).toEqual([...expected.keys()].sort());
  return Math.max(
    ...[...expected].map(([name, { shape, data }]) => {
      expect(got.get(name)!.shape).toEqual(shape);
      const norm = (of: Float32Array) => Math.sqrt(of.reduce((sum, x) => sum + x * x, 0));
      return norm(data.map((x, i) => x - got.get(name)!.data[i]!)) / norm(data);
    }),
  );
}

describe.each(['lora', 'lora-qwen2'])('%s', (name) => {
  let fixture: LoraFixture;
  beforeAll(async () => {
    fixture = await loadLoraFixture(name);
  });
  const open = (options: EngineOptions = {}): Promise<Engine> =>
    createEngine(gpu, fixture.config, fixture.weights, { maxModelLen: 128, slots: 4, maxTokens: 256, ...options });
  const withLora = (precision: WeightFormat, options: EngineOptions = {}): Promise<Engine> =>
    open({ precision, lora: loraOptions(fixture.adapter.config), adapters: fixture.adapter.tensors, ...options });
  const all = () => fixture.figures.sequences.map(({ tokens }) => ({ tokens, lossMask: tokens.map(() => 1), weight: 1 }));
  const batch = () => {
    const total = fixture.figures.sequences.reduce((sum, { loss_mask }) => sum + loss_mask.reduce((a, b) => a + b, 0), 0);
    return fixture.figures.sequences.map(({ tokens, loss_mask }) => ({ tokens, lossMask: loss_mask, weight: 1 / total }));
  };
  const furthest = (got: Float32Array[], expected: number[][]) =>
    Math.max(...expected.flatMap((row, i) => row.map((value, t) => Math.abs(value - got[i]![t]!))));

  test.each(FORMATS)('log-probs in %s, with and without adapters, matrices in one piece and in several', async (format) => {
    const { logprobs, base_logprobs } = fixture.figures.formats[format];
    for (const bindingBytes of [undefined, 2048]) {
      const engine = await withLora(format, { ...(bindingBytes && { bindingBytes }) });
      expect(furthest((await engine.score(all())).logprobs, logprobs)).toBeLessThan(2e-4);
      engine.destroy();
      const base = await open({ precision: format, ...(bindingBytes && { bindingBytes }) });
      expect(furthest((await base.score(all())).logprobs, base_logprobs)).toBeLessThan(2e-4);
      base.destroy();
    }
  });

  test.each(['f32', 'int4'] as const)('gradients of the adapters over %s', async (format) => {
    for (const options of [{}, { bindingBytes: 2048 }, { activationBytes: 1 }]) {
      const engine = await withLora(format, options);
      await engine.accumulate(batch(), sftLoss);
      const gradients = readSafetensors(adapterFile(fixture.adapter.config, await engine.gradients()));
      expect(worst(gradients, fixture.gradients[format])).toBeLessThan(1e-4);
      engine.destroy();
    }
  });

  test('the adapters merged into the weights give the same log-probs', async () => {
    const merged = mergeAdapter(fixture.weights, fixture.adapter);
    const engine = await createEngine(gpu, fixture.config, merged, { maxModelLen: 128, slots: 4, maxTokens: 256 });
    expect(furthest((await engine.score(all())).logprobs, fixture.figures.formats.f32.logprobs)).toBeLessThan(2e-4);
    engine.destroy();
  });

  test('generation has the log-probs of scoring, in every format', async () => {
    for (const format of FORMATS) {
      const engine = await withLora(format);
      const prompt = fixture.figures.sequences[0]!.tokens.slice(0, 12);
      const sequence = await engine.sampler.open({ seed: 4, stream: 1 });
      engine.sampler.append(sequence, prompt);
      const { tokens, logprobs } = await engine.sampler.generate(sequence, { maxNewTokens: 30, temperature: 1, stopTokenIds: [] });
      const scored = await engine.score([
        { tokens: [...prompt, ...tokens], lossMask: [...prompt.map(() => 0), ...tokens.map(() => 1)], weight: 1 },
      ]);
      logprobs.forEach((value, i) => expect(scored.logprobs[0]![12 + i]!, `${format} ${i}`).toBeCloseTo(value, 4));
      engine.destroy();
    }
  });

  test('a KV cache in f16: generation has the log-probs of scoring, and training rounds alike', async () => {
    const prompt = fixture.figures.sequences[0]!.tokens.slice(0, 12);
    const gradients: TensorMap[] = [];
    for (const options of [{ kvFormat: 'f16' }, { kvFormat: 'f16', activationBytes: 1 }, {}] as const) {
      const engine = await withLora('f32', options);
      const sequence = await engine.sampler.open({ seed: 4, stream: 1 });
      engine.sampler.append(sequence, prompt);
      const { tokens, logprobs } = await engine.sampler.generate(sequence, { maxNewTokens: 30, temperature: 1, stopTokenIds: [] });
      const [scored] = (
        await engine.score([{ tokens: [...prompt, ...tokens], lossMask: [...prompt.map(() => 0), ...tokens.map(() => 1)], weight: 1 }])
      ).logprobs;
      logprobs.forEach((value, i) => expect(scored![12 + i]!, String(i)).toBeCloseTo(value, 4));
      const trained = await engine.accumulate(batch(), sftLoss);
      expect(trained.logprobs).toEqual((await engine.score(batch())).logprobs);
      gradients.push(await engine.gradients());
      engine.destroy();
    }
    const [rounded, recomputed, exact] = gradients as [TensorMap, TensorMap, TensorMap];
    expect(recomputed).toEqual(rounded);
    expect(worst(rounded, exact)).toBeLessThan(5e-3);
    expect(worst(rounded, exact)).toBeGreaterThan(1e-6);
  });

  test('training moves the adapters only, keeps the padding at zero, and the reference stays', async () => {
    const engine = await open({ precision: 'bf16', lora: loraOptions(fixture.adapter.config), loraSeed: 5 });
    const before = await engine.score(all());
    expect(furthest(before.logprobs, fixture.figures.formats.bf16.base_logprobs)).toBeLessThan(2e-4);
    await engine.snapshotReference();
    const losses: number[] = [];
    for (let step = 0; step < 8; step++) {
      const { logprobs } = await engine.accumulate(batch(), sftLoss);
      losses.push(
        -batch().reduce((sum, { lossMask, weight }, i) => sum + lossMask.reduce((own, m, t) => own + m * weight * logprobs[i]![t]!, 0), 0),
      );
      await engine.step(ADAM);
    }
    expect(losses.at(-1)).toBeLessThan(losses[0]! - 0.5);
    const reference = await engine.score(all(), { weights: 'reference' });
    expect(reference.logprobs).toEqual(before.logprobs);
    const { r } = fixture.adapter.config;
    const rank = paddedRank(r);
    for (const [tensor, { shape, data }] of await engine.weights())
      data.forEach((value, i) => {
        const at = tensor.endsWith('lora_A.weight') ? Math.floor(i / shape[1]!) : i % rank;
        if (at >= r) expect(value).toBe(0);
      });
    engine.destroy();
  });

  test('the reference of a trained adapter is a copy of it', async () => {
    const engine = await withLora('f32');
    await engine.snapshotReference();
    const before = await engine.score(all());
    await engine.accumulate(batch(), sftLoss);
    await engine.step(ADAM);
    expect((await engine.score(all(), { weights: 'reference' })).logprobs).toEqual(before.logprobs);
    expect((await engine.score(all())).logprobs).not.toEqual(before.logprobs);
    engine.destroy();
  });

  test('frozen weights are not trained, and a value that is not finite is named', async () => {
    const engine = await open({ precision: 'int8' });
    await expect(engine.accumulate(batch(), sftLoss)).rejects.toThrow(
      'the weights are in int8 and not trained: expected precision f32, or LoRA',
    );
    await expect(engine.weights()).rejects.toThrow('not trained');
    engine.destroy();
    const name = 'model.layers.1.self_attn.k_proj.weight';
    for (const format of FORMATS) {
      const { shape, data } = fixture.weights.get(name)!;
      const broken: TensorMap = new Map(fixture.weights).set(name, { shape, data: data.map((value, i) => (i === 70 ? NaN : value)) });
      await expect(createEngine(gpu, fixture.config, broken, { precision: format })).rejects.toThrow(`tensor ${name}: `);
    }
  });
});
