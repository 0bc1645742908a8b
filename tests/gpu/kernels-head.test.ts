import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu } from '../../src/engine/gpu.ts';
import { adamw, adamwReference, adamwSettings, decayMask, gradNorm, NORM_PARTIAL_BYTES } from '../../src/engine/kernels/adamw.ts';
import {
  statisticsPartialBytes,
  lossSettings,
  rowLossGradient,
  rowLossGradientReference,
  rowStatistics,
  rowStatisticsReference,
} from '../../src/engine/kernels/token-loss.ts';
import {
  download,
  expectClose,
  expectGradient,
  random,
  run,
  upload,
  uploadCounts,
  uploadUniform,
  uploadWords,
} from '../support/kernels.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await Gpu.create();
});
afterAll(() => gpu.destroy());

// f = in.x·logprob² + settings[5]·entropy·in.y + in.z·logprob: depends on all inputs, one setting and both statistics.
const LOSS = `fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f {
  return vec2f(2f * inputs.x * logprob + inputs.z, settings[5] * inputs.y);
}`;

describe.each([
  [270, 3, 13],
  [13, 8, 1],
  [5003, 4, 6],
])('vocabulary %i, rows %i…%i', (vocab, base, total) => {
  const counts = { tokens: 0, rows: total };
  // A chunk of at most 8 rows from `base`. With one row in total and base 8, the kernels must write nothing.
  const count = Math.max(0, Math.min(8, total - base));
  const ldc = Math.ceil(vocab / 4) * 4;
  const temperature = 0.7;
  const logits = random(8 * ldc, 1).map((v, i) => (i % ldc < vocab ? Math.fround(v * (Math.floor(i / ldc) === 0 ? 100 : 6)) : 0)); // exp of row 0 overflows
  const rows = Math.max(total, base + 8);
  // Row r has 1, 2 or 3 terms; two terms of a row may have the same target.
  const terms = Array.from({ length: rows }, (_, r) => Array.from({ length: 1 + (r % 3) }, (_, i) => (r * 37 + 5 * (i % 2)) % vocab));
  terms[base]![0] = vocab - 1;
  const firstTerms = [0, ...terms.map((_, r) => terms.slice(0, r + 1).flat().length)];
  const targets = terms.flat();
  const inputs = random(targets.length * 4, 2);
  const row = (r: number): Float64Array => logits.subarray(r * ldc, r * ldc + vocab);
  const logprob = (values: Float64Array, target: number): number =>
    values[target]! / temperature - rowStatisticsReference(values, temperature)[0];

  test('statistics and the gradient of a loss', async () => {
    const t = {
      logits: upload(gpu, logits),
      firstTerms: uploadWords(gpu, firstTerms),
      targets: uploadWords(gpu, targets),
      settings: uploadUniform(gpu, lossSettings(temperature, [0, 0, 0, 0, 0, 0.3])),
      partial: gpu.buffer('partial', statisticsPartialBytes(8, vocab)),
      stats: gpu.buffer('stats', rows * 8),
      logprobs: gpu.buffer('logprobs', targets.length * 4),
      inputs: upload(gpu, inputs),
      counts: uploadCounts(gpu, counts),
    };
    const sizes = { rows: { of: 'rows', base, max: 8 }, vocab } as const;
    await run(gpu, rowStatistics(gpu, t, sizes), counts);
    const expectedStats = new Float64Array(rows * 2);
    const expectedLogprobs = new Float64Array(targets.length);
    for (let r = 0; r < count; r++) {
      expectedStats.set(rowStatisticsReference(row(r), temperature), (base + r) * 2);
      terms[base + r]!.forEach((target, i) => (expectedLogprobs[firstTerms[base + r]! + i] = logprob(row(r), target)));
    }
    expectClose(await download(gpu, t.stats, rows * 2), expectedStats, 1e-6);
    expectClose(await download(gpu, t.logprobs, targets.length), expectedLogprobs, 1e-6);

    await run(gpu, rowLossGradient(gpu, t, { ...sizes, wgsl: LOSS }), counts);
    const expected = Float64Array.from(logits);
    for (let r = 0; r < count; r++) {
      const at = base + r;
      const own = terms[at]!.map((target, i) => {
        const [x, y, z, weight] = inputs.subarray((firstTerms[at]! + i) * 4) as unknown as [number, number, number, number];
        return { target, x, y, z, weight };
      });
      const derivatives = own.map(({ target, x, y, z, weight }) => ({
        target,
        derivative: [weight * (2 * x * logprob(row(r), target) + z), weight * 0.3 * y] as const,
      }));
      const gradient = rowLossGradientReference(row(r), temperature, derivatives);
      if (vocab < 300 && r < 2) {
        const value = (values: Float64Array): Float64Array => {
          const [, entropy] = rowStatisticsReference(values, temperature);
          const losses = own.map(({ target, x, y, z, weight }) => {
            const logp = logprob(values, target);
            return weight * (x * logp * logp + 0.3 * y * entropy + z * logp);
          });
          return Float64Array.of(losses.reduce((sum, loss) => sum + loss, 0));
        };
        expectGradient(value, row(r), Float64Array.of(1), gradient);
      }
      expected.set(gradient, r * ldc);
      expected.fill(0, r * ldc + vocab, (r + 1) * ldc);
    }
    const got = await download(gpu, t.logits, logits.length);
    // An f32 near 143 has a rounding error of 1e-5, and so has its exponential.
    for (let r = 0; r < 8; r++)
      expectClose(got.subarray(r * ldc, (r + 1) * ldc), expected.subarray(r * ldc, (r + 1) * ldc), r === 0 ? 1e-5 : 3e-6, `row ${r}`);
  });
});

test('a temperature of zero is refused', () => {
  expect(() => lossSettings(0)).toThrow('lossSettings temperature 0: expected > 0');
});

describe('AdamW', () => {
  const floats = 4 * 1500;
  const params = { lr: 1e-2, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.1, grad_clip: 1 };
  // The second tensor does not decay. The third tensor ends inside a block.
  const segments = [
    { offset: 0, size: 2048, decay: true },
    { offset: 2048, size: 100, decay: false },
    { offset: 2176, size: floats - 2176, decay: true },
  ];
  const decays = (i: number): boolean => segments.some(({ offset, size, decay }) => decay && i >= offset && i < offset + size);

  async function step(gradient: Float64Array, clip: number, decay_all_parameters = false) {
    const state = {
      params: random(floats, 1),
      grads: gradient,
      m: random(floats, 3).map((v) => Math.fround(v / 10)),
      v: random(floats, 4).map((v) => Math.fround(v * v)),
    };
    const counts = { tokens: 0, rows: 0 };
    const p = { ...params, grad_clip: clip, decay_all_parameters };
    const t = {
      params: upload(gpu, state.params),
      grads: upload(gpu, state.grads),
      m: upload(gpu, state.m),
      v: upload(gpu, state.v),
      decay: upload(gpu, decayMask(segments, floats)),
      norm: gpu.buffer('norm', 16),
      partial: gpu.buffer('partial', NORM_PARTIAL_BYTES),
      settings: uploadUniform(gpu, adamwSettings(p, 3)),
      counts: uploadCounts(gpu, counts),
    };
    await run(gpu, [...gradNorm(gpu, [{ grads: t.grads, floats }], t), ...adamw(gpu, t, { floats })], counts);
    const got = {
      params: await download(gpu, t.params, floats),
      m: await download(gpu, t.m, floats),
      v: await download(gpu, t.v, floats),
      grads: await download(gpu, t.grads, floats),
    };
    const norm = await download(gpu, t.norm, 3);
    const before = { params: state.params.slice(), m: state.m.slice(), v: state.v.slice() };
    return { got, norm, before, state, expectedNorm: adamwReference(state, p, 3, decays) };
  }

  test.each([0, 1])('a step with clip %d equals the reference', async (clip) => {
    const { got, norm, state, expectedNorm, before } = await step(random(floats, 2), clip);
    expect(Math.abs(norm[0]! / expectedNorm - 1)).toBeLessThan(1e-6);
    expectClose(got.params, state.params, 1e-6);
    expectClose(got.m, state.m, 1e-6);
    expectClose(got.v, state.v, 1e-6);
    expect(got.grads.every((g) => g === 0)).toBe(true);
    expect(got.params.some((x, i) => x !== before.params[i])).toBe(true);
  });

  test('decay of all parameters also decays the parameters that the mask excludes', async () => {
    const [some, all] = [await step(random(floats, 2), 1), await step(random(floats, 2), 1, true)];
    expectClose(all.got.params, all.state.params, 1e-6);
    all.got.params.forEach((x, i) => {
      const expected = some.got.params[i]! - (decays(i) ? 0 : params.lr * params.weight_decay * some.before.params[i]!);
      expect(Math.abs(x - expected), `parameter ${i}`).toBeLessThan(1e-6);
    });
  });

  test.each([NaN, Infinity])('a gradient of %d changes nothing and is cleared', async (bad) => {
    const gradient = random(floats, 2);
    gradient[4321] = bad;
    const { got, norm, before } = await step(gradient, 1);
    expect(norm[2]).toBe(0);
    expectClose(got.params, before.params, 0);
    expectClose(got.m, before.m, 0);
    expectClose(got.v, before.v, 0);
    expect(got.grads.every((g) => g === 0)).toBe(true);
  });

  test('tensors must start on the block grid', () => {
    expect(() => decayMask([{ offset: 100, size: 4, decay: true }], 256)).toThrow('decayMask offset 100: expected a multiple of 64');
  });
});
