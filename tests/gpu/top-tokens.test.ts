/** The k most likely tokens against float64: the kernel alone, and in the engine's scoring. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { statisticsPartialBytes, lossSettings, rowStatistics } from '../../src/engine/kernels/token-loss.ts';
import { topBytes, topPartialBytes, topTokens, topTokensReference } from '../../src/engine/kernels/top-tokens.ts';
import { loadFixture } from '../support/fixtures.ts';
import { random, run, upload, uploadCounts, uploadUniform, uploadWords } from '../support/kernels.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await Gpu.create();
});
afterAll(() => gpu.destroy());

// A vocabulary that is not a multiple of 4, a vocabulary of size k, and a vocabulary with many threads per row.
describe.each([
  [270, 3, 13, 5],
  [5, 0, 4, 5],
  [5003, 4, 6, 5],
  [1300, 0, 3, 1],
])('vocabulary %i, rows %i…%i, k %i', (vocab, base, total, k) => {
  test('finds the most likely tokens; ties go to the lower id', async () => {
    const counts = { tokens: 0, rows: total };
    const count = Math.min(8, total - base);
    const ldc = Math.ceil(vocab / 4) * 4;
    const temperature = 0.7;
    // Padding columns hold large values that must not be chosen. Row 1 has few distinct values, so that there are ties.
    const logits = random(8 * ldc, 1).map((v, i) => {
      if (i % ldc >= vocab) return 1e6;
      return Math.floor(i / ldc) === 1 ? Math.round(v * 3) : Math.fround(v * 6);
    });
    const rows = { of: 'rows', base, max: 8 } as const;
    const tensors = {
      logits: upload(gpu, logits),
      firstTerms: uploadWords(
        gpu,
        Array.from({ length: total + 1 }, (_, r) => r),
      ),
      targets: uploadWords(
        gpu,
        Array.from({ length: total }, () => 0),
      ),
      logprobs: gpu.buffer('logprobs', total * 4),
      settings: uploadUniform(gpu, lossSettings(temperature)),
      partial: gpu.buffer('partial', statisticsPartialBytes(8, vocab)),
      stats: gpu.buffer('stats', total * 8),
      counts: uploadCounts(gpu, counts),
    };
    const top = gpu.buffer('top', total * topBytes(k));
    const partial = gpu.buffer('top partial', topPartialBytes(8, vocab, k));
    await run(
      gpu,
      [...rowStatistics(gpu, tensors, { rows, vocab }), ...topTokens(gpu, { ...tensors, partial, top }, { rows, vocab, k })],
      counts,
    );
    const pairs = await gpu.read(top, total * topBytes(k));
    const [ids, logprobs] = [new Uint32Array(pairs), new Float32Array(pairs)];
    for (let r = 0; r < count; r++) {
      const expected = topTokensReference(logits.subarray(r * ldc, r * ldc + vocab), temperature, k);
      const at = (base + r) * k;
      expect(
        expected.map((_, i) => ids[2 * (at + i)]),
        `ids of row ${r}`,
      ).toEqual(expected.map(({ id }) => id));
      expected.forEach(({ logprob }, i) =>
        expect(Math.abs(logprobs[2 * (at + i) + 1]! - logprob), `log-probability ${i} of row ${r}`).toBeLessThan(1e-5),
      );
    }
    expect(
      [...ids.subarray(0, 2 * base * k)].every((word) => word === 0),
      'rows before the chunk are untouched',
    ).toBe(true);
  });
});

test('k above the size of the vocabulary is refused', () => {
  const view = gpu.buffer('any', 256);
  const tensors = { logits: view, settings: view, stats: view, partial: view, top: view, counts: view };
  expect(() => topTokens(gpu, tensors, { rows: { of: 'rows' }, vocab: 4, k: 5 })).toThrow(
    "k 5: expected an integer from 1 to the vocabulary's 4",
  );
});

test('scoring with the most likely tokens gives the same scores, and the same log-probability for a token among them', async () => {
  const { config, weights, figures } = await loadFixture('qwen3');
  const engine = await createEngine(gpu, config, weights, { maxModelLen: 128, slots: 1, maxTokens: 256 });
  try {
    const batch = figures.sequences.map(({ tokens }) => ({ tokens, lossMask: tokens.map(() => 1), weight: 1 }));
    const plain = await engine.score(batch);
    const { top, ...scores } = await engine.score(batch, { topLogprobs: 20 });
    expect(scores).toEqual(plain);
    let among = 0;
    batch.forEach(({ tokens }, s) => {
      const { ids, logprobs, k } = top![s]!;
      for (let t = 1; t < tokens.length; t++) {
        const likeliest = [...logprobs.subarray(t * k, (t + 1) * k)];
        expect(likeliest).toEqual(likeliest.toSorted((a, b) => b - a));
        expect(likeliest[0]).toBeLessThanOrEqual(0);
        const place = [...ids.subarray(t * k, (t + 1) * k)].indexOf(tokens[t]!);
        if (place < 0) expect(plain.logprobs[s]![t]!).toBeLessThanOrEqual(likeliest.at(-1)! + 1e-5);
        else {
          among += 1;
          expect(Math.abs(logprobs[t * k + place]! - plain.logprobs[s]![t]!)).toBeLessThan(1e-5);
        }
      }
    });
    expect(among).toBeGreaterThan(0);
    expect(plain.top).toBeUndefined();
  } finally {
    engine.destroy();
  }
});
