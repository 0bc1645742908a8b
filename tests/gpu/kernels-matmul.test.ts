import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu } from '../../src/engine/gpu.ts';
import { matmul, matmulReference, matmulStrides, type MatmulForm } from '../../src/engine/kernels/matmul.ts';
import { MATMUL_VARIANTS, type MatmulTuning, tuning } from '../../src/engine/tuning.ts';
import { download, expectClose, random, run, upload, uploadCounts } from '../support/kernels.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await Gpu.create();
});
afterAll(() => gpu.destroy());

// A small tile keeps the compilation of the workgroup-memory kernel short on CPU adapters; its text is the same.
const SHARED: MatmulTuning = {
  rows: [{ upTo: Infinity, tile: { kind: 'shared', rows: 16, columns: 16, depth: 8, threadRows: 4, threadColumns: 4 } }],
  tn: { kind: 'shared', rows: 16, columns: 16, depth: 8, threadRows: 4, threadColumns: 4 },
};
const VARIANTS: [string, MatmulTuning][] = [['quad', MATMUL_VARIANTS.quad], ['register', MATMUL_VARIANTS.register], ['shared', SHARED]];
// rows, n, k: nt and tn allow any n, nn any k.
const SHAPES: Record<MatmulForm, [number, number, number][]> = {
  nt: [[1, 30, 20], [7, 64, 4], [37, 50, 36]],
  nn: [[1, 20, 30], [37, 36, 50]],
  tn: [[1, 30, 20], [37, 50, 36]],
};

interface Case { form: MatmulForm; rows: number; n: number; k: number }
function operands({ form, rows, n, k }: Case) {
  const { lda, ldb, ldc } = matmulStrides({ form, n, k, rows: { of: 'rows' } });
  const a = random(rows * lda, 1);
  if (form === 'nn') a.forEach((_, i) => (a[i] = i % lda < k ? a[i]! : 0)); // as the head kernels leave their pad
  const b = random((form === 'nt' ? n : form === 'nn' ? k : rows) * ldb, 2);
  return { a, b, ldc, outRows: form === 'tn' ? n : rows };
}
async function multiply(item: Case, tuned: MatmulTuning, accumulate?: Float64Array): Promise<Float32Array> {
  const { form, rows, n, k } = item;
  const { a, b, ldc, outRows } = operands(item);
  const c = accumulate ? upload(gpu, accumulate) : upload(gpu, new Float64Array(outRows * ldc).fill(7));
  const counts = { tokens: 3, rows };
  const views = { a: upload(gpu, a), b: upload(gpu, b), c, counts: uploadCounts(gpu, counts) };
  await run(gpu, matmul(gpu, views, { form, rows: { of: 'rows' }, n, k, accumulate: accumulate !== undefined }, tuned), counts);
  return download(gpu, c, outRows * ldc);
}

describe.each(VARIANTS)('%s tiles', (name, tuned) => {
  test.each(['nt', 'nn', 'tn'] as const)('%s matches the reference', async (form) => {
    if (name === 'quad' && gpu.info.subgroupSize < 4) return;
    for (const [rows, n, k] of SHAPES[form]) {
      const item = { form, rows, n, k };
      const { a, b, ldc, outRows } = operands(item);
      expectClose(await multiply(item, tuned), matmulReference(a, b, rows, item), 1e-6, JSON.stringify(item));
      // Accumulation, with a zero pad as a previous product leaves it.
      const columns = form === 'tn' ? k : n;
      const before = random(outRows * ldc, 3).map((v, i) => (i % ldc < columns ? v : 0));
      expectClose(await multiply(item, tuned, before), matmulReference(a, b, rows, { ...item, accumulate: true }, before), 1e-6, `+= ${JSON.stringify(item)}`);
    }
  });

  test('a row has the same bits whatever the number of rows', async () => {
    if (name === 'quad' && gpu.info.subgroupSize < 4) return;
    const all = await multiply({ form: 'nt', rows: 37, n: 50, k: 36 }, tuned);
    for (const rows of [1, 5, 9, 17]) {
      const some = await multiply({ form: 'nt', rows, n: 50, k: 36 }, tuned);
      expect([...some], `${rows} rows`).toEqual([...all.subarray(0, some.length)]);
    }
  });
});

test('row ranges: a chunk takes its own rows and leaves the rest', async () => {
  const [n, k, total] = [12, 8, 21];
  const counts = { tokens: 0, rows: total };
  const [a, b] = [random(8 * k, 1), random(n * k, 2)];
  const c = upload(gpu, new Float64Array(8 * n).fill(7));
  const views = { a: upload(gpu, a), b: upload(gpu, b), c, counts: uploadCounts(gpu, counts) };
  // Rows 16…23 of 21: five are left.
  await run(gpu, matmul(gpu, views, { form: 'nt', rows: { of: 'rows', base: 16, max: 8 }, n, k }), counts);
  const expected = new Float64Array(8 * n).fill(7);
  expected.set(matmulReference(a.subarray(0, 5 * k), b, 5, { form: 'nt', n, k }));
  expectClose(await download(gpu, c, 8 * n), expected, 1e-6);
});

test('a weight gradient over no rows writes zeros, and adds nothing', async () => {
  const counts = { tokens: 0, rows: 0 };
  for (const accumulate of [false, true]) {
    const c = upload(gpu, new Float64Array(64).fill(7));
    const views = { a: upload(gpu, random(64)), b: upload(gpu, random(64)), c, counts: uploadCounts(gpu, counts) };
    await run(gpu, matmul(gpu, views, { form: 'tn', rows: { of: 'rows' }, n: 8, k: 8, accumulate }), counts);
    expect(new Set(await download(gpu, c, 64))).toEqual(new Set([accumulate ? 7 : 0]));
  }
});

test('sizes that cannot work are refused by name', () => {
  const view = gpu.buffer('x', 256);
  const views = { a: view, b: view, c: gpu.buffer('y', 256), counts: view };
  expect(() => matmul(gpu, views, { form: 'nt', rows: { of: 'rows' }, n: 4, k: 6 })).toThrow('matmul nt k 6: expected a multiple of 4');
  expect(() => matmul(gpu, views, { form: 'nn', rows: { of: 'rows' }, n: 6, k: 4 })).toThrow('matmul nn n 6: expected a multiple of 4');
  expect(() => matmul(gpu, views, { form: 'nt', rows: { of: 'rows' }, n: 4, k: 4, lda: 5 })).toThrow('matmul nt lda 5: expected a positive multiple of 4');
});

test('the default suits the adapter', () => {
  const chosen = tuning(gpu.info).matmul;
  expect(chosen).toBe(MATMUL_VARIANTS[gpu.info.software ? (gpu.info.subgroupSize >= 4 ? 'quad' : 'register') : 'shared']);
});
