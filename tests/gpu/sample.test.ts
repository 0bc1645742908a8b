import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu, type View } from '../../src/engine/gpu.ts';
import { defineKernel } from '../../src/engine/kernel.ts';
import { randomBits, randomKey, RANDOM_WGSL } from '../../src/engine/kernels/random.ts';
import { NO_TOKEN, packSampleRows, sample, type SampleRow, sampleScratch } from '../../src/engine/kernels/sample.ts';
import { keptIds, sampleReference } from '../../src/engine/kernels/sample-reference.ts';

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

const PLAIN: SampleRow = { temperature: 1, topP: 1, topK: 0, seed: 7, stream: 0 };
const upload = (label: string, data: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>): View => {
  const view = gpu.buffer(label, data.byteLength);
  gpu.write(view, data);
  return view;
};

interface Draw {
  token: number;
  logprob: number;
}

/** Samples rows of logits `steps` times. `positions` are the positions of the last known tokens. */
async function draw(
  logits: number[][],
  rows: SampleRow[],
  positions: number[],
  options: { steps?: number; truncate?: boolean; chunk?: number } = {},
) {
  const { steps = 1, truncate = false, chunk = rows.length } = options;
  const vocab = logits[0]!.length;
  const stride = Math.ceil(vocab / 4) * 4 + 4;
  const packed = (from: number): Float32Array<ArrayBuffer> => {
    const data = new Float32Array(chunk * stride).fill(1e9); // values behind the vocabulary must not matter
    logits.slice(from, from + chunk).forEach((row, r) => data.set(row, r * stride));
    return data;
  };
  const t = {
    params: upload('params', packSampleRows(rows)),
    positions: upload('positions', Uint32Array.from(positions)),
    tokens: gpu.buffer('tokens', rows.length * 4),
    results: gpu.buffer('results', steps * rows.length * 8),
    scratch: sampleScratch(gpu, chunk, vocab),
    counts: gpu.uniform('counts', [0, rows.length, 0, 0]),
  };
  const program = Array.from({ length: steps }, (_, step) =>
    Array.from({ length: Math.ceil(rows.length / chunk) }, (_, c) =>
      sample(
        gpu,
        { ...t, logits: upload('logits', packed(c * chunk)) },
        {
          rows: { of: 'rows', base: c * chunk, max: chunk },
          vocab,
          stride,
          step,
          resultRows: rows.length,
          truncate,
        },
      ),
    ).flat(),
  ).flat();
  await gpu.ready();
  gpu.run(program, { tokens: 0, rows: rows.length });
  const words = await gpu.read(t.results, steps * rows.length * 8);
  const ids = new Uint32Array(words);
  const floats = new Float32Array(words);
  const results: Draw[][] = Array.from({ length: steps }, (_, s) =>
    rows.map((_, r) => ({ token: ids[2 * (s * rows.length + r)]!, logprob: floats[2 * (s * rows.length + r) + 1]! })),
  );
  return {
    results,
    tokens: [...new Uint32Array(await gpu.read(t.tokens, rows.length * 4))],
    positions: [...new Uint32Array(await gpu.read(t.positions, rows.length * 4))],
  };
}

function normal(n: number, seed: number, scale = 2): number[] {
  const bits = (i: number): number => (randomBits(randomKey(seed, 99, 0), i) + 0.5) / 2 ** 32;
  return Array.from({ length: n }, (_, i) =>
    Math.fround(scale * Math.sqrt(-2 * Math.log(bits(2 * i))) * Math.cos(2 * Math.PI * bits(2 * i + 1))),
  );
}
/** Rounding in f32 may change a near tie: at most one token of 200 may differ, but each log-probability must be right. */
function expectLike(actual: Draw[], expected: Draw[], logits: number[][], rows: SampleRow[]): void {
  const same = actual.filter((a, i) => a.token === expected[i]!.token).length;
  expect(same).toBeGreaterThanOrEqual(Math.floor(actual.length * 0.995));
  actual.forEach((a, i) => {
    const scale = rows[i]!.temperature > 0 ? 1 / rows[i]!.temperature : 1;
    const top = Math.max(...logits[i]!) * scale;
    const lse = top + Math.log(logits[i]!.reduce((sum, x) => sum + Math.exp(x * scale - top), 0));
    expect(Math.abs(a.logprob - (logits[i]![a.token]! * scale - lse))).toBeLessThan(1e-5 * Math.max(1, Math.abs(top)));
  });
}

test('random bits equal those of the CPU version', async () => {
  const out = gpu.buffer('bits', 256 * 4);
  const kernel = defineKernel({
    label: 'random bits',
    writes: { out: 'u32' },
    body: /* wgsl */ `${RANDOM_WGSL}
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) i: vec3u) {
      out[i.x] = random_bits(random_key(0xfffffff0u + i.x / 64u, i.x * 77u, 3u * i.x), i.x * 100003u);
    }`,
  });
  const program = [gpu.dispatch(kernel, { out }, () => [4])];
  await gpu.ready();
  gpu.run(program, { tokens: 0, rows: 0 });
  const expected = Uint32Array.from({ length: 256 }, (_, i) =>
    randomBits(randomKey((0xfffffff0 + Math.floor(i / 64)) >>> 0, i * 77, 3 * i), (i * 100003) >>> 0),
  );
  expect(new Uint32Array(await gpu.read(out, 1024))).toEqual(expected);
});

describe.each([false, true])('sampling, truncation program %s', (truncate) => {
  test('tokens and log-probabilities equal those of the CPU version, over several steps on the GPU', async () => {
    const vocab = 270; // not a multiple of 4
    const rows = Array.from({ length: 40 }, (_, i): SampleRow => ({
      temperature: [1, 0.5, 1.7, 0][i % 4]!,
      topP: truncate ? [1, 0.9, 0.5][i % 3]! : 1,
      topK: truncate ? [0, 5, 40, 1][(i >> 1) % 4]! : 0,
      seed: 1000 + i,
      stream: i % 3,
    }));
    const logits = rows.map((_, i) => normal(vocab, i));
    const at = rows.map((_, i) => 10 * i);
    const steps = 3;
    const { results, tokens, positions } = await draw(logits, rows, at, { steps, truncate, chunk: 16 });
    for (let step = 0; step < steps; step++) {
      const expected = rows.map((row, i) => sampleReference(logits[i]!, row, at[i]! + step + 1));
      expectLike(results[step]!, expected, logits, rows);
    }
    expect(tokens).toEqual(results[steps - 1]!.map((r) => r.token));
    expect(positions).toEqual(at.map((p) => p + steps));
  });

  test('greedy ties go to the lowest id', async () => {
    const logits = [normal(270, 1), normal(270, 2), normal(270, 3)];
    for (const [row, ids] of [
      [0, [269, 268]],
      [1, [64, 3, 200]],
      [2, [4, 5, 6, 7]],
    ] as const)
      ids.forEach((id) => (logits[row]![id] = 20));
    const { results } = await draw(
      logits,
      logits.map(() => ({ ...PLAIN, temperature: 0 })),
      [0, 0, 0],
      { truncate },
    );
    expect(results[0]!.map((r) => r.token)).toEqual([268, 3, 4]);
  });

  test('a row does not depend on other rows', async () => {
    const logits = Array.from({ length: 5 }, (_, i) => normal(50, i));
    const rows = logits.map((_, i) => ({ ...PLAIN, seed: i, topP: truncate ? 0.8 : 1 }));
    const together = await draw(logits, rows, [1, 2, 3, 4, 5], { truncate });
    const alone = await draw([logits[3]!], [rows[3]!], [4], { truncate });
    expect(alone.results[0]![0]).toEqual(together.results[0]![3]);
  });
});

test.each([false, true])(
  'a row with a NaN or infinite logit gets no token, and the other rows get theirs; truncation %s',
  async (truncate) => {
    const rows = Array.from({ length: 5 }, (_, i) => ({ ...PLAIN, seed: i, topP: truncate ? 0.8 : 1 }));
    const logits = rows.map((_, i) => normal(270, i));
    const sane = await draw(logits, rows, [1, 2, 3, 4, 5], { truncate });
    logits[1]!.fill(NaN);
    logits[2]![269] = NaN;
    logits[3]![0] = Infinity;
    const { results, tokens, positions } = await draw(logits, rows, [1, 2, 3, 4, 5], { truncate });
    expect(results[0]!.map(({ token }) => token === NO_TOKEN)).toEqual([false, true, true, true, false]);
    for (const row of [0, 4]) expect(results[0]![row]).toEqual(sane.results[0]![row]);
    // The next decode step reads these ids: they must be inside of the vocabulary.
    expect(tokens.slice(1, 4)).toEqual([0, 0, 0]);
    expect(positions).toEqual([2, 3, 4, 5, 6]);
  },
);

test('draws follow softmax(logits / τ): chi-square', async () => {
  const logits = [2, 1, 0.5, 0, -0.5, -1, 1.5].map(Math.fround);
  const temperature = 0.8;
  const count = 4000;
  const { results } = await draw(
    Array<number[]>(count).fill(logits),
    Array.from({ length: count }, (_, stream) => ({ ...PLAIN, temperature, stream })),
    Array<number>(count).fill(5),
  );
  const weights = logits.map((x) => Math.exp(x / temperature));
  const total = weights.reduce((a, b) => a + b);
  const seen = logits.map((_, id) => results[0]!.filter((r) => r.token === id).length);
  const chiSquare = seen.reduce((sum, n, id) => sum + (n - (count * weights[id]!) / total) ** 2 / ((count * weights[id]!) / total), 0);
  expect(chiSquare).toBeLessThan(22.5); // 6 degrees of freedom, p = 0.001; the draws are fixed by their seed
});

test.each<[string, Partial<SampleRow>]>([
  ['top-k', { topK: 4 }],
  ['top-p', { topP: 0.85 }],
  ['top-k and top-p', { topK: 6, topP: 0.7 }],
  ['top-k with a tie at the threshold', { topK: 2 }],
  ['a top-p that keeps one', { topP: 1e-6 }],
])('%s keeps exactly the expected set of ids', async (_, options) => {
  const logits = [0.3, 1.2, -0.4, 1.2, 0.9, 1.5, 0.1, -2, 0.7].map(Math.fround);
  const row = { ...PLAIN, temperature: 2, ...options };
  const count = 400;
  const { results } = await draw(
    Array<number[]>(count).fill(logits),
    Array.from({ length: count }, (_, stream) => ({ ...row, stream })),
    Array<number>(count).fill(0),
    { truncate: true },
  );
  expect([...new Set(results[0]!.map((r) => r.token))].sort((a, b) => a - b)).toEqual(keptIds(logits, row));
});

test('the kept set in examples that are computed by hand', () => {
  const logits = [0, Math.log(4), Math.log(2), Math.log(3)]; // probabilities 0.1, 0.4, 0.2, 0.3
  expect(keptIds(logits, { ...PLAIN, topK: 2 })).toEqual([1, 3]);
  expect(keptIds(logits, { ...PLAIN, topP: 0.69 })).toEqual([1, 3]);
  expect(keptIds(logits, { ...PLAIN, topP: 0.71 })).toEqual([1, 2, 3]);
  expect(keptIds(logits, { ...PLAIN, topK: 3, topP: 0.5 })).toEqual([1, 3]); // 0.4 of 0.9 is not half
});

test('the vocabulary of Qwen3, 151,936 ids', async () => {
  const vocab = 151_936;
  const logits = [normal(vocab, 5), normal(vocab, 6), normal(vocab, 7)];
  const rows: SampleRow[] = [PLAIN, { ...PLAIN, temperature: 0 }, { ...PLAIN, topK: 20, topP: 0.95 }];
  const { results } = await draw(logits, rows, [100, 100, 100], { truncate: true });
  rows.forEach((row, i) => {
    const expected = sampleReference(logits[i]!, row, 101);
    expect(results[0]![i]!.token).toBe(expected.token);
    expect(Math.abs(results[0]![i]!.logprob - expected.logprob)).toBeLessThan(2e-5);
  });
});
