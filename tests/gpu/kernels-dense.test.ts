import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu } from '../../src/engine/gpu.ts';
import { matrixOf } from '../../src/engine/matrix.ts';
import { addBias, addBiasReference, biasGradient, biasGradientReference, biasPartialBytes } from '../../src/engine/kernels/bias.ts';
import { copy, zero } from '../../src/engine/kernels/elementwise.ts';
import {
  bucketWords,
  embedding,
  embeddingBuckets,
  embeddingGradient,
  embeddingGradientReference,
  embeddingReference,
} from '../../src/engine/kernels/embedding.ts';
import { gatherRows, gatherRowsReference, scatterAddRows, scatterAddRowsReference } from '../../src/engine/kernels/gather-rows.ts';
import { qkNormRope, ropeTable } from '../../src/engine/kernels/qk-norm-rope.ts';
import { ropeFrequencies } from '../../src/engine/rope.ts';
import { qkNormRopeBackward, qkPartialBytes } from '../../src/engine/kernels/qk-norm-rope-backward.ts';
import { qkNormRopeBackwardReference, qkNormRopeReference } from '../../src/engine/kernels/qk-norm-rope-reference.ts';
import {
  rmsnorm,
  rmsnormBackward,
  rmsnormBackwardReference,
  rmsnormPartialBytes,
  rmsnormReference,
} from '../../src/engine/kernels/rmsnorm.ts';
import { swiglu, swigluBackward, swigluBackwardReference, swigluReference } from '../../src/engine/kernels/swiglu.ts';
import { download, expectClose, expectGradient, random, run, upload, uploadCounts, uploadWords } from '../support/kernels.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await Gpu.create();
});
afterAll(() => gpu.destroy());
const TOKENS = { of: 'tokens' } as const;
const sum = (a: Float64Array, b: Float64Array): Float64Array => a.map((v, i) => v + b[i]!);

describe.each([
  [1, 12],
  [71, 20],
])('%i rows of %i', (rows, width) => {
  const counts = { tokens: rows, rows: 0 };

  test.each([1, 64])('rmsnorm and its gradient, %i threads for a row', async (rowThreads) => {
    gpu.tuning = { ...gpu.tuning, rowThreads };
    const eps = 1e-6;
    const [x, weight, dy, before, dweight0] = [
      random(rows * width, 1),
      random(width, 2),
      random(rows * width, 3),
      random(rows * width, 4),
      random(width, 5),
    ];
    const expected = rmsnormReference(x, weight, eps);
    const gradient = rmsnormBackwardReference(x, weight, eps, dy);
    if (rows === 1) {
      expectGradient((at) => rmsnormReference(at, weight, eps).y, x, dy, gradient.dx, 'x');
      expectGradient((at) => rmsnormReference(x, at, eps).y, weight, dy, gradient.dweight, 'weight');
    }
    const t = {
      x: upload(gpu, x),
      weight: upload(gpu, weight),
      y: gpu.buffer('y', x.length * 4),
      rstd: gpu.buffer('rstd', rows * 4),
      dy: upload(gpu, dy),
      dx: upload(gpu, before),
      dweight: upload(gpu, dweight0),
      partial: gpu.buffer('partial', rmsnormPartialBytes(width)),
      counts: uploadCounts(gpu, counts),
    };
    await run(
      gpu,
      [...rmsnorm(gpu, t, { rows: TOKENS, width, eps }), ...rmsnormBackward(gpu, t, { rows: TOKENS, width, accumulateDx: true })],
      counts,
    );
    expectClose(await download(gpu, t.y, x.length), expected.y);
    expectClose(await download(gpu, t.rstd, rows), expected.rstd);
    expectClose(await download(gpu, t.dx, x.length), sum(before, gradient.dx));
    expectClose(await download(gpu, t.dweight, width), sum(dweight0, gradient.dweight));
    await run(gpu, rmsnormBackward(gpu, t, { rows: TOKENS, width }), counts);
    expectClose(await download(gpu, t.dx, x.length), gradient.dx);
  });

  test('swiglu and its gradient', async () => {
    const gateUp = random(rows * 2 * width, 1).map((v) => Math.fround(4 * v));
    const dact = random(rows * width, 2);
    const gradient = swigluBackwardReference(gateUp, width, dact);
    if (rows === 1) expectGradient((at) => swigluReference(at, width), gateUp, dact, gradient);
    const t = {
      gateUp: upload(gpu, gateUp),
      act: gpu.buffer('act', rows * width * 4),
      dact: upload(gpu, dact),
      dgateUp: gpu.buffer('d', rows * 2 * width * 4),
      counts: uploadCounts(gpu, counts),
    };
    await run(gpu, [...swiglu(gpu, t, { rows: TOKENS, width }), ...swigluBackward(gpu, t, { rows: TOKENS, width })], counts);
    expectClose(await download(gpu, t.act, rows * width), swigluReference(gateUp, width));
    expectClose(await download(gpu, t.dgateUp, gateUp.length), gradient);
  });

  test('bias and its gradient', async () => {
    const [y, bias, dbias0] = [random(rows * width, 1), random(width, 2), random(width, 3)];
    const t = {
      y: upload(gpu, y),
      bias: upload(gpu, bias),
      dy: upload(gpu, y),
      dbias: upload(gpu, dbias0),
      partial: gpu.buffer('p', biasPartialBytes(width)),
      counts: uploadCounts(gpu, counts),
    };
    await run(gpu, [...addBias(gpu, t, { rows: TOKENS, width }), ...biasGradient(gpu, t, { rows: TOKENS, width })], counts);
    expectClose(await download(gpu, t.y, y.length), addBiasReference(y, bias));
    expectClose(await download(gpu, t.dbias, width), sum(dbias0, biasGradientReference(y, width)));
  });

  test('elementwise operations stop at the last row', async () => {
    const [x, y] = [random((rows + 1) * width, 1), random((rows + 1) * width, 2)];
    const inRows = (f: (i: number) => number): Float64Array => y.map((v, i) => (i < rows * width ? f(i) : v));
    const sizes = { rows: TOKENS, width };
    const views = () => ({ x: upload(gpu, x), y: upload(gpu, y), counts: uploadCounts(gpu, counts) });
    const cases = [
      [copy, (i: number) => x[i]!],
      [zero, () => 0],
    ] as const;
    for (const [operation, value] of cases) {
      const t = views();
      await run(gpu, operation(gpu, t, sizes), counts);
      expectClose(await download(gpu, t.y, y.length), inRows(value), 1e-7);
    }
  });
});

describe.each([true, false])('q/k rotation with norm %s', (norm) => {
  const sizes = { heads: 4, kvHeads: 2, headDim: 16, eps: 1e-6, norm, theta: 10_000 };
  test.each([1, 45])('%i tokens', async (tokens) => {
    const { heads, kvHeads, headDim, theta } = sizes;
    const counts = { tokens, rows: 0 };
    const positions = Array.from({ length: tokens }, (_, t) => (t * 7 + 3) % 61);
    const qkv = random(tokens * (heads + 2 * kvHeads) * headDim, 1);
    const [qWeight, kWeight, dq0, dk0] = [random(headDim, 2), random(headDim, 3), random(headDim, 4), random(headDim, 5)];
    const dqk = random(tokens * (heads + kvHeads) * headDim, 6);
    const before = random(qkv.length, 7);
    const forward = (x: Float64Array, q = qWeight, k = kWeight): Float64Array => qkNormRopeReference(x, positions, q, k, sizes);
    const gradient = qkNormRopeBackwardReference(qkv, positions, qWeight, kWeight, dqk, sizes);
    if (tokens === 1) {
      expectGradient((x) => forward(x), qkv, dqk, gradient.dqkv, 'qkv');
      expectGradient((q) => forward(qkv, q), qWeight, dqk, gradient.dqWeight, 'q gain');
      expectGradient((k) => forward(qkv, qWeight, k), kWeight, dqk, gradient.dkWeight, 'k gain');
    }
    const t = {
      qkv: upload(gpu, qkv),
      qk: gpu.buffer('qk', dqk.length * 4),
      positions: uploadWords(gpu, positions),
      rope: upload(gpu, ropeTable(61, ropeFrequencies({ head_dim: headDim, rope_theta: theta }))),
      dqk: upload(gpu, dqk),
      dqkv: upload(gpu, before),
      counts: uploadCounts(gpu, counts),
      ...(norm && {
        qWeight: upload(gpu, qWeight),
        kWeight: upload(gpu, kWeight),
        rstd: gpu.buffer('rstd', tokens * (heads + kvHeads) * 4),
        dqWeight: upload(gpu, dq0),
        dkWeight: upload(gpu, dk0),
        partial: gpu.buffer('partial', qkPartialBytes(headDim)),
      }),
    };
    await run(
      gpu,
      [...qkNormRope(gpu, t, { ...sizes, tokens: TOKENS }), ...qkNormRopeBackward(gpu, t, { ...sizes, tokens: TOKENS })],
      counts,
    );
    expectClose(await download(gpu, t.qk, dqk.length), forward(qkv));
    const isV = (i: number): boolean => i % ((heads + 2 * kvHeads) * headDim) >= (heads + kvHeads) * headDim;
    expectClose(
      await download(gpu, t.dqkv, qkv.length),
      gradient.dqkv.map((v, i) => (isV(i) ? before[i]! : v)),
    );
    if (norm) {
      expectClose(await download(gpu, t.dqWeight!, headDim), sum(dq0, gradient.dqWeight));
      expectClose(await download(gpu, t.dkWeight!, headDim), sum(dk0, gradient.dkWeight));
    }
  });
});

test('the norm of a head is exact to the last bit', async () => {
  const [tokens, headDim] = [500, 16];
  const counts = { tokens, rows: 0 };
  // Each head has two values of at most 11 bits. So the mean of the squares is exact, and only the root can err.
  const value = (head: number): number => 1024 + head;
  const qkv = new Float64Array(tokens * 3 * headDim);
  for (let head = 0; head < 2 * tokens; head++) qkv.set([value(head), 512], (Math.floor(head / 2) * 3 + (head % 2)) * headDim);
  const ones = new Float64Array(headDim).fill(1);
  const t = {
    qkv: upload(gpu, qkv),
    qk: gpu.buffer('qk', tokens * 2 * headDim * 4),
    positions: uploadWords(gpu, Array<number>(tokens).fill(0)),
    rope: upload(gpu, ropeTable(1, ropeFrequencies({ head_dim: headDim, rope_theta: 1e6 }))),
    counts: uploadCounts(gpu, counts),
    qWeight: upload(gpu, ones),
    kWeight: upload(gpu, ones),
    rstd: gpu.buffer('rstd', tokens * 2 * 4),
  };
  await run(gpu, qkNormRope(gpu, t, { tokens: TOKENS, heads: 1, kvHeads: 1, headDim, eps: 0, norm: true }), counts);
  const rstd = await download(gpu, t.rstd, 2 * tokens);
  const errors = rstd.map((r, head) => Math.abs(r * Math.sqrt((value(head) ** 2 + 512 ** 2) / headDim) - 1));
  expect(Math.max(...errors)).toBeLessThan(2 ** -24 * 1.01); // half of a last bit; 1 / sqrt(x) errs by 1.4 times as much
});

test('embedding and its gradient by buckets: two runs give the same bits', async () => {
  const [width, vocab, capacity] = [12, 31, 64];
  const ids = Array.from({ length: 45 }, (_, t) => (t % 3 === 0 ? 7 : (t * t) % vocab)); // token 7 is frequent
  const counts = { tokens: ids.length, rows: 0 };
  const [table, dx, before] = [random(vocab * width, 1), random(ids.length * width, 2), random(vocab * width, 3)];
  const gradients: Float32Array[] = [];
  for (let trial = 0; trial < 2; trial++) {
    const t = {
      table: matrixOf(upload(gpu, table), vocab, width),
      ids: uploadWords(gpu, ids),
      x: gpu.buffer('x', dx.length * 4),
      dx: upload(gpu, dx),
      buckets: upload(gpu, embeddingBuckets(ids, capacity, new Uint32Array(bucketWords(capacity)).fill(9))),
      dtable: upload(gpu, before),
      counts: uploadCounts(gpu, counts),
    };
    await run(
      gpu,
      [...embedding(gpu, t, { rows: TOKENS, width }), ...embeddingGradient(gpu, t, { rows: TOKENS, width, capacity })],
      counts,
    );
    expectClose(await download(gpu, t.x, dx.length), embeddingReference(table, ids, width), 0);
    gradients.push(await download(gpu, t.dtable, table.length));
  }
  expectClose(gradients[0]!, sum(before, embeddingGradientReference(dx, ids, width, vocab)));
  expect(gradients[1]).toEqual(gradients[0]);
  expect(() => embeddingBuckets([1, 2, 3], 2)).toThrow('3 tokens, expected at most the capacity 2');
});

test('rows are gathered for the head and scattered back, chunk by chunk', async () => {
  const [width, total] = [8, 19];
  const index = [0, 3, 4, 9, 10, 11, 15, 18, 2, 7, 17];
  const counts = { tokens: total, rows: index.length };
  const [x, dout, before] = [random(total * width, 1), random(8 * width, 2), random(total * width, 3)];
  const chunk = { rows: { of: 'rows', base: 4, max: 4 }, width } as const;
  const t = {
    x: upload(gpu, x),
    index: uploadWords(gpu, index),
    out: gpu.buffer('out', 8 * width * 4),
    dout: upload(gpu, dout),
    dx: upload(gpu, before),
    counts: uploadCounts(gpu, counts),
  };
  await run(gpu, [...gatherRows(gpu, t, chunk), ...scatterAddRows(gpu, t, chunk)], counts);
  const part = index.slice(4, 8);
  expectClose(await download(gpu, t.out, 4 * width), gatherRowsReference(x, part, width), 0);
  expectClose(await download(gpu, t.dx, x.length), scatterAddRowsReference(before, dout.subarray(0, 4 * width), part, width), 1e-7);
});
