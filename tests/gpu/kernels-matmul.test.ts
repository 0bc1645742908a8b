import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu, type View } from '../../src/engine/gpu.ts';
import { registerMatmul } from '../../src/engine/kernels/matmul-register.ts';
import { sharedMatmul } from '../../src/engine/kernels/matmul-shared.ts';
import type { MatmulKind } from '../../src/engine/kernels/matmul-text.ts';
import {
  matmul,
  matmulReference,
  matmulStrides,
  nnPartialBytes,
  tnPartialBytes,
  type MatmulForm,
} from '../../src/engine/kernels/matmul.ts';
import { decodeWeights, encodeWeights, WEIGHT_FORMATS, type WeightFormat } from '../../src/engine/kernels/weight-format.ts';
import { MATMUL_VARIANTS, type MatmulTile, type MatmulTuning, MEASURED_TILES } from '../../src/engine/tuning.ts';
import { download, expectClose, random, run, upload, uploadCounts } from '../support/kernels.ts';

let gpu: Gpu;
beforeAll(async () => {
  gpu = await Gpu.create();
});
afterAll(() => gpu.destroy());

/** The tiles that `autotune.ts` measures and that are in no variant. */
const MEASURED = (['shared 32x32', 'shared 128x64', 'shared 128x128', 'shared 64x64 double', 'shared 128x64 double'] as const).map(
  (name): [string, MatmulTuning] => {
    const tile = MEASURED_TILES[name];
    return [name, { rows: [{ upTo: Infinity, tile }], tn: tile }];
  },
);
const USED = Object.entries(MATMUL_VARIANTS);
const VARIANTS: [string, MatmulTuning][] = [...USED, ...MEASURED];
// [rows, n, k]. nt and tn allow any n, and nn allows any k.
const SHAPES: Record<MatmulForm, [number, number, number][]> = {
  nt: [
    [1, 30, 20],
    [7, 64, 4],
    [8, 70, 36],
    [33, 50, 36],
    [65, 68, 20],
  ],
  nn: [
    [1, 20, 30],
    [8, 36, 18],
    [33, 36, 50],
    [65, 68, 33],
  ],
  tn: [
    [1, 30, 20],
    [8, 50, 36],
    [33, 50, 36],
    [65, 70, 68],
  ],
};

interface Case {
  form: MatmulForm;
  rows: number;
  n: number;
  k: number;
}
function operands({ form, rows, n, k }: Case) {
  const { lda, ldb, ldc } = matmulStrides({ form, n, k, rows: { of: 'rows' } });
  const a = random(rows * lda, 1);
  if (form === 'nn') a.forEach((_, i) => (a[i] = i % lda < k ? a[i]! : 0)); // as the head kernels fill the padding
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
      // Test accumulation. The padding of c is zero, as after a previous matmul.
      const columns = form === 'tn' ? k : n;
      const before = random(outRows * ldc, 3).map((v, i) => (i % ldc < columns ? v : 0));
      expectClose(
        await multiply(item, tuned, before),
        matmulReference(a, b, rows, { ...item, accumulate: true }, before),
        1e-6,
        `+= ${JSON.stringify(item)}`,
      );
    }
  });

  test('a row has the same bits in every tile, for any number of rows', async () => {
    if (name === 'quad' && gpu.info.subgroupSize < 4) return;
    const all = await multiply({ form: 'nt', rows: 65, n: 50, k: 36 }, tuned);
    for (const rows of [1, 2, 4, 5, 8, 9, 16, 17, 32, 33]) {
      const some = await multiply({ form: 'nt', rows, n: 50, k: 36 }, tuned);
      expect([...some], `${rows} rows`).toEqual([...all.subarray(0, some.length)]);
    }
  });
});

describe('a weight gradient in parts', () => {
  const tiles = (['shared 64x64', 'shared 128x64 double', 'register 8x2'] as const).map((name) => MEASURED_TILES[name]);
  const sized = (n: number, k: number, rows: number) => {
    const sizes = { form: 'tn', n, k, lda: n + 8, aAt: 4, ldb: k + 4, bAt: 4, accumulate: true } as const;
    const before = random(n * k, 3);
    const [a, b] = [random(rows * sizes.lda, 1), random(rows * sizes.ldb, 2)];
    return { sizes, before, a, b, expected: matmulReference(a, b, rows, sizes, before) };
  };
  const multiplied = async ({ sizes, before, a, b }: ReturnType<typeof sized>, tuned: MatmulTuning, rows: number) => {
    const counts = { tokens: 0, rows };
    const c = upload(gpu, before);
    const partial = gpu.buffer('partial', tnPartialBytes(tuned));
    const program = matmul(
      gpu,
      { a: upload(gpu, a), b: upload(gpu, b), c, counts: uploadCounts(gpu, counts), partial },
      { ...sizes, rows: { of: 'rows' } },
      tuned,
    );
    await run(gpu, program, counts);
    return { program, values: await download(gpu, c, before.length) };
  };

  test.each(tiles)('$kind $rows × $columns, buffers $buffers: matches the reference, twice with the same bits', async (tile) => {
    // Parts without rows, parts of unequal length, one tile, and as many tiles as wanted workgroups.
    for (const [n, k, rows, parts] of [
      [20, 16, 5, 16],
      [48, 32, 131, 16],
      [132, 20, 67, 2],
      [12, 8, 0, 16],
    ] as const) {
      const tileRows = tile.kind === 'shared' ? tile.rows : 32;
      const tnWorkgroups = parts === 2 ? 2 * Math.ceil(n / tileRows) : 40;
      const tuned = { rows: [], tn: tile, tnWorkgroups };
      const item = sized(n, k, rows);
      const { program, values } = await multiplied(item, tuned, rows);
      expect(program).toHaveLength(2);
      if (rows > 0) expect(program[0]!.workgroups({ tokens: 0, rows })[2]).toBe(parts);
      expectClose(values, item.expected, 1e-6, `${n} × ${k}, ${rows} rows`);
      expect([...(await multiplied(item, tuned, rows)).values]).toEqual([...values]);
    }
  });

  test('has no parts where there are enough workgroups, without scratch, or where it does not accumulate', () => {
    const tuned = { rows: [], tn: MEASURED_TILES['shared 64x64'], tnWorkgroups: 4 };
    const [a, b, c, partial] = Array.from({ length: 4 }, () => gpu.buffer('any', 2 ** 20)) as [View, View, View, View];
    const counts = uploadCounts(gpu, { tokens: 0, rows: 8 });
    const dispatches = (n: number, scratch: View | undefined, accumulate: boolean) =>
      matmul(gpu, { a, b, c, counts, partial: scratch }, { form: 'tn', rows: { of: 'rows' }, n, k: 64, accumulate }, tuned).length;
    expect([dispatches(192, partial, true), dispatches(256, partial, true)]).toEqual([2, 1]);
    expect([dispatches(64, undefined, true), dispatches(64, partial, false)]).toEqual([1, 1]);
    expect(tnPartialBytes(tuned)).toBe(4 * 8 * 64 * 64);
    expect(tnPartialBytes({ rows: [], tn: tuned.tn })).toBe(0);
  });
});

test('in blocks: the kernel for few elements has the bits of the tiles, and matches the reference', async () => {
  const blocks = { block: 64, elements: 200, lanes: 16 };
  for (const name of ['register 4x1', 'shared 64x64', 'shared 64x64 double'] as const) {
    const tile = MEASURED_TILES[name];
    const tuned = { rows: [{ upTo: Infinity, tile }], tn: tile, blocks };
    // Less than a block, a block that is not full, and more blocks than lanes. 30 columns are not a multiple of 4.
    for (const k of [36, 200, 1092]) {
      const item = { form: 'nt', rows: 9, n: 30, k } as const;
      const { a, b } = operands(item);
      const all = await multiply(item, tuned);
      expectClose(all, matmulReference(a, b, 9, item), 1e-6, `${name}, ${k}`);
      expect([...(await multiply(item, { ...tuned, blocks: { ...blocks, elements: 0 } }))], `${name}, ${k}`).toEqual([...all]);
      for (const rows of [1, 5, 6]) expect([...(await multiply({ ...item, rows }, tuned))]).toEqual([...all.subarray(0, rows * 32)]);
    }
  }
  const used = MATMUL_VARIANTS.shared;
  const [a, b, c] = Array.from({ length: 3 }, () => gpu.buffer('any', 2 ** 20)) as [View, View, View];
  const counts = uploadCounts(gpu, { tokens: 0, rows: 1 });
  const program = matmul(gpu, { a, b, c, counts }, { form: 'nt', rows: { of: 'rows' }, n: 1024, k: 64 }, used);
  const run = (rows: number) => program.filter(({ workgroups }) => workgroups({ tokens: 0, rows })[0] > 0).map(({ label }) => label);
  expect([run(8), run(9)]).toEqual([['matmul nt split 16 in blocks of 64'], ['matmul nt register 4x1 in blocks of 64']]);
});

test('an input gradient in parts matches the reference, and a row has the same bits for any number of rows', async () => {
  for (const name of ['shared 64x64', 'shared 128x64 double', 'register 8x2'] as const) {
    const tile = MEASURED_TILES[name];
    const tuned = { rows: [{ upTo: Infinity, tile }], tn: tile, tnWorkgroups: 5 };
    // Sums of whole vec4s and not, and a sum with fewer vec4s than parts.
    for (const [n, k] of [
      [20, 131],
      [36, 64],
      [4, 10],
    ] as const) {
      const item = { form: 'nn', rows: 70, n, k } as const;
      const { a, b } = operands(item);
      const before = random(70 * n, 3);
      const parts = async (rows: number, accumulate: boolean) => {
        const counts = { tokens: 3, rows };
        const c = upload(gpu, before);
        const partial = gpu.buffer('partial', nnPartialBytes(tuned, 70, n));
        const views = { a: upload(gpu, a), b: upload(gpu, b), c, counts: uploadCounts(gpu, counts), partial };
        const program = matmul(gpu, views, { form: 'nn', rows: { of: 'rows' }, n, k, accumulate }, tuned);
        expect(program[0]!.workgroups(counts)[2], name).toBe(5);
        await run(gpu, program, counts);
        return download(gpu, c, rows * n);
      };
      const all = await parts(70, false);
      expectClose(all, matmulReference(a, b, 70, item), 1e-6, `${name}, ${n} × ${k}`);
      expectClose(await parts(70, true), matmulReference(a, b, 70, { ...item, accumulate: true }, before), 1e-6, `${name} +=`);
      for (const rows of [1, 33]) expect([...(await parts(rows, false))]).toEqual([...all.subarray(0, rows * n)]);
    }
  }
  expect(nnPartialBytes(MATMUL_VARIANTS.register, 70, 20)).toBe(0);
});

test('all variants give the same bits', async () => {
  for (const form of ['nt', 'nn', 'tn'] as const) {
    const item = { form, rows: 65, n: 36, k: 36 };
    const [first, ...others] = await Promise.all(
      VARIANTS.filter(([name]) => name !== 'quad' || gpu.info.subgroupSize >= 4).map(([, tuned]) => multiply(item, tuned)),
    );
    for (const other of others) expect([...other], form).toEqual([...first!]);
  }
});

const stored = (format: WeightFormat, data: Float64Array) => {
  const { values, scales } = encodeWeights(format, Float32Array.from(data));
  const view = (of: ArrayBufferView<ArrayBuffer>) => {
    const buffer = gpu.buffer('stored', of.byteLength);
    gpu.write(buffer, of);
    return buffer;
  };
  return {
    weight: { format, values: view(values), ...(scales && { scales: view(scales) }) },
    decoded: Float64Array.from(decodeWeights(format, { values, ...(scales && { scales }) })),
  };
};

/** The WGSL of a tile's own loop. A kernel's text before it loads weights and stores results. */
const loopOf = (tile: MatmulTile, kind: MatmulKind): string => {
  const { wgsl } = tile.kind === 'register' ? registerMatmul(kind, tile) : sharedMatmul(kind, tile);
  return wgsl.slice(wgsl.indexOf('fn store('));
};

// A software adapter compiles a large tile for seconds. The tests above run each tile over f32. This test shows that the loop of a tile is
// the same for all formats and for adapters, so the tests below run them only in the tiles of the variants.
test.each(Object.entries(MEASURED_TILES))('%s: the loop has the same text for each format, and with adapters', (_, tile) => {
  for (const form of ['nt', 'nn', 'tn'] as const) {
    const plain = loopOf(tile, { form, format: 'f32', adapter: false });
    for (const format of WEIGHT_FORMATS) expect(loopOf(tile, { form, format, adapter: false })).toBe(plain);
    const adapted = loopOf(tile, { form, format: 'int8', adapter: true });
    expect(adapted.replace('adapted(row, (dims.c_at + column4) * 4u, v)', 'v')).toBe(plain);
  }
});

describe.each(USED)('stored weights, %s tiles', (name, tuned) => {
  test.each(WEIGHT_FORMATS)('%s', async (format) => {
    if (name === 'quad' && gpu.info.subgroupSize < 4) return;
    for (const form of ['nt', 'nn'] as const)
      for (const rows of [1, 3, 35]) {
        const [n, k] = form === 'nt' ? [50, 64] : [64, 50];
        const item = { form, rows, n, k };
        const { a, b, ldc } = operands(item);
        const { weight, decoded } = stored(format, b);
        const counts = { tokens: 0, rows };
        const c = gpu.buffer('c', rows * ldc * 4);
        const views = { a: upload(gpu, a), b: weight, c, counts: uploadCounts(gpu, counts) };
        await run(gpu, matmul(gpu, views, { ...item, rows: { of: 'rows' } }, tuned), counts);
        expectClose(await download(gpu, c, rows * ldc), matmulReference(a, decoded, rows, item), 1e-6, JSON.stringify(item));
      }
  });
});

describe.each(VARIANTS)('parts of wider tensors, %s tiles', (name, tuned) => {
  test('columns from the middle of wider tensors, and a factor', async () => {
    if (name === 'quad' && gpu.info.subgroupSize < 4) return;
    const [rows, n, k] = [35, 20, 24];
    const counts = { tokens: 0, rows };
    for (const form of ['nt', 'nn', 'tn'] as const) {
      const sizes = { form, n, k, lda: 40, ldb: 44, ldc: 36, aAt: 12, bAt: 8, cAt: 4, scale: 0.75, accumulate: true };
      const [aRows, bRows, cRows] = form === 'nt' ? [rows, n, rows] : form === 'nn' ? [rows, k, rows] : [rows, rows, n];
      const [a, b, before] = [random(aRows * 40, 1), random(bRows * 44, 2), random(cRows * 36, 3)];
      const c = upload(gpu, before);
      const views = { a: upload(gpu, a), b: upload(gpu, b), c, counts: uploadCounts(gpu, counts) };
      await run(gpu, matmul(gpu, views, { ...sizes, rows: { of: 'rows' } }, tuned), counts);
      expectClose(await download(gpu, c, before.length), matmulReference(a, b, rows, sizes, before), 1e-6, form);
    }
  });
});

describe.each(USED)('adapters in the epilogue, %s tiles', (name, tuned) => {
  test.each(['f32', 'int8'] as const)('over %s: float64, and the bits of products of their own', async (format) => {
    if (name.startsWith('quad') && gpu.info.subgroupSize < 4) return;
    // The second part has gaps on both sides; the adapter's rank is no multiple of 8.
    const [n, k, rank] = [68, 64, 12];
    const bs = [
      { first: 0, rows: 20 },
      { first: 28, rows: 16 },
      { first: 48, rows: 20 },
    ];
    const space = 64 * Math.ceil((20 * rank) / 64);
    for (const count of [1, 2, 3])
      for (const rows of [1, 6, 37]) {
        const parts = bs.slice(0, count).map((part, p) => ({ ...part, at: p * space }));
        const [a, before] = [random(rows * k, 1), random(rows * n, 3)];
        const [down, lora] = [random(rows * count * rank, 4), random(count * space, 5)];
        const { weight, decoded } = stored(format, random(n * k, 2));
        const counts = { tokens: 0, rows };
        const views = { a: upload(gpu, a), b: weight, counts: uploadCounts(gpu, counts) };
        const sizes = { form: 'nt' as const, rows: { of: 'rows' } as const, n, k, accumulate: true };
        const loraViews = { down: upload(gpu, down), b: upload(gpu, lora) };
        const [fused, single] = [upload(gpu, before), upload(gpu, before)];
        await run(gpu, matmul(gpu, { ...views, c: fused, adapter: { rank, parts, ...loraViews } }, sizes, tuned), counts);
        const products = parts.map(({ at, first, rows: own }, p) => ({
          b: lora.subarray(at, at + own * rank),
          sizes: { form: 'nt' as const, n: own, k: rank, aAt: p * rank, lda: count * rank, cAt: first, ldc: n, accumulate: true },
        }));
        const program = products.flatMap(({ b, sizes: own }) =>
          matmul(gpu, { a: loraViews.down, b: upload(gpu, b), c: single, counts: views.counts }, { ...own, rows: { of: 'rows' } }, tuned),
        );
        await run(gpu, [...matmul(gpu, { ...views, c: single }, sizes, tuned), ...program], counts);
        const got = await download(gpu, fused, rows * n);
        expect([...got], `${count} parts, ${rows} rows`).toEqual([...(await download(gpu, single, rows * n))]);
        const base = matmulReference(a, decoded, rows, { ...sizes }, before);
        const expected = products.reduce((c, { b, sizes: own }) => matmulReference(down, b, rows, own, c), base);
        expectClose(got, expected, 1e-6, `${count} parts, ${rows} rows`);
      }
  });
});

test('row ranges: a chunk writes its own rows only', async () => {
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

test('a weight gradient over zero rows writes zeros, or adds zero', async () => {
  const counts = { tokens: 0, rows: 0 };
  for (const accumulate of [false, true]) {
    const c = upload(gpu, new Float64Array(64).fill(7));
    const views = { a: upload(gpu, random(64)), b: upload(gpu, random(64)), c, counts: uploadCounts(gpu, counts) };
    await run(gpu, matmul(gpu, views, { form: 'tn', rows: { of: 'rows' }, n: 8, k: 8, accumulate }), counts);
    expect(new Set(await download(gpu, c, 64))).toEqual(new Set([accumulate ? 7 : 0]));
  }
});

test('invalid sizes are refused by name', () => {
  const view = gpu.buffer('x', 256);
  const views = { a: view, b: view, c: gpu.buffer('y', 256), counts: view };
  expect(() => matmul(gpu, views, { form: 'nt', rows: { of: 'rows' }, n: 4, k: 6 })).toThrow('matmul nt k 6: expected a multiple of 4');
  expect(() => matmul(gpu, views, { form: 'nn', rows: { of: 'rows' }, n: 6, k: 4 })).toThrow('matmul nn n 6: expected a multiple of 4');
  expect(() => matmul(gpu, views, { form: 'nt', rows: { of: 'rows' }, n: 4, k: 4, lda: 5 })).toThrow(
    'matmul nt lda 5: expected a positive multiple of 4',
  );
  expect(() => matmul(gpu, views, { form: 'nt', rows: { of: 'rows' }, n: 4, k: 4, cAt: 2 })).toThrow(
    'matmul nt cAt 2: expected a multiple of 4',
  );
  const int8 = { format: 'int8', values: view, scales: view } as const;
  const adapter = (rank: number, first = 0) => ({ rank, down: view, b: view, parts: [{ at: 0, first, rows: 4 }] });
  const square = { rows: { of: 'rows' } as const, n: 4, k: 4 };
  const refused = (form: MatmulForm, rank: number, first?: number) => () =>
    matmul(gpu, { ...views, adapter: adapter(rank, first) }, { ...square, form });
  expect(refused('nn', 4)).toThrow('matmul nn adapter: expected the form nt');
  expect(refused('nt', 6)).toThrow('matmul adapter rank 6: expected a multiple of 4');
  expect(refused('nt', 4, 2)).toThrow('matmul adapter first 2: expected a multiple of 4');
  expect(() => matmul(gpu, { ...views, b: int8 }, { form: 'nt', rows: { of: 'rows' }, n: 4, k: 16 })).toThrow(
    'matmul nt ldb 16: expected a multiple of 32 for int8',
  );
});

test('the default tile depends on the adapter', () => {
  const chosen = gpu.tuning.matmul;
  const { software, subgroupSize } = gpu.info;
  const name = subgroupSize >= 8 ? 'quads' : subgroupSize >= 4 ? 'quad' : 'register';
  expect(chosen).toBe(MATMUL_VARIANTS[software ? name : 'shared']);
});
