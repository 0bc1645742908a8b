import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu, type View } from '../../src/engine/gpu.ts';
import { fromHalf, MAX_HALF, toHalf } from '../../src/base/half.ts';
import { KV_FORMATS, type KvFormat, kvRound } from '../../src/engine/kernels/kv-format.ts';
import { kvWrite } from '../../src/engine/kernels/kv-cache.ts';
import { pagedAttention, pagedAttentionReference, type PagedTile, pagedTile } from '../../src/engine/kernels/paged-attention.ts';
import { tuningFor } from '../../src/engine/tuning.ts';

type Shape = { heads: number; kvHeads: number; headDim: number };
type Tokens = { slot: number; position: number }[];

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

const PAGE = 8;
const PAGES_PER_SLOT = 12;
const PAGES = 40;
// Slots 0 and 1 share their first two pages. The pages are not in order.
const PAGE_TABLE = Uint32Array.from(
  [
    [7, 3, 20, 1, 9, 30, 31, 2, 12, 13, 14, 15],
    [7, 3, 5, 22, 21, 19, 18, 17, 16, 0, 4, 6],
    [39, 38, 37, 36, 35, 34, 33, 32, 29, 28, 27, 26],
  ].flat(),
);

const range = (slot: number, from: number, to: number): Tokens =>
  Array.from({ length: to - from }, (_, i) => ({ slot, position: from + i }));
/** A value that depends only on (page of the slot, position, column), so that every batch has the same cache and queries. */
const value = (a: number, b: number, salt: number): number => {
  const x = Math.sin(a * 12.9898 + b * 78.233 + salt * 37.719) * 43758.5453;
  return Math.fround((x - Math.floor(x)) * 3 - 1.5);
};
const upload = (label: string, data: ArrayBufferView<ArrayBuffer>): View => {
  const view = gpu.buffer(label, data.byteLength);
  gpu.write(view, data);
  return view;
};

/** What the cache holds, in the bits of the format and as numbers. */
const stored = (format: KvFormat, data: Float32Array<ArrayBuffer>) => {
  if (format === 'f32') return { bits: data, numbers: data };
  const bits = toHalf(data);
  return { bits, numbers: Float32Array.from(bits, fromHalf) };
};

function caches({ kvHeads, headDim }: Shape) {
  const width = kvHeads * headDim;
  const fill = (salt: number): Float32Array<ArrayBuffer> =>
    Float32Array.from({ length: PAGES * PAGE * width }, (_, i) => value(Math.floor(i / width), i % width, salt));
  return { kCache: fill(1), vCache: fill(2) };
}
function queries(tokens: Tokens, { heads, kvHeads, headDim }: Shape): Float32Array<ArrayBuffer> {
  const width = (heads + kvHeads) * headDim;
  return Float32Array.from({ length: tokens.length * width }, (_, i) => {
    const { slot, position } = tokens[Math.floor(i / width)]!;
    return value(slot * 1000 + position, i % width, 3);
  });
}

async function attend(
  tokens: Tokens,
  shape: Shape,
  tile?: PagedTile,
  format: KvFormat = 'f32',
): Promise<{ out: Float32Array; expected: Float64Array }> {
  const filled = caches(shape);
  const cache = { k: stored(format, filled.kCache), v: stored(format, filled.vCache) };
  const qk = queries(tokens, shape);
  const slotOf = Uint32Array.from(tokens, (t) => t.slot);
  const positions = Uint32Array.from(tokens, (t) => t.position);
  const t = {
    qk: upload('qk', qk),
    slotOf: upload('slots', slotOf),
    positions: upload('positions', positions),
    pageTable: upload('page table', PAGE_TABLE),
    kCache: upload('k', cache.k.bits),
    vCache: upload('v', cache.v.bits),
    out: gpu.buffer('out', tokens.length * shape.heads * shape.headDim * 4),
    counts: gpu.uniform('counts', [tokens.length, 0, 0, 0]),
  };
  const p = { tokens: { of: 'tokens' as const }, ...shape, pageSize: PAGE, pagesPerSlot: PAGES_PER_SLOT, format };
  const program = pagedAttention(gpu, t, p, tile ?? pagedTile(gpu.tuning.pagedAttention, shape));
  await gpu.ready();
  gpu.run(program, { tokens: tokens.length, rows: 0 });
  const out = new Float32Array(await gpu.read(t.out, tokens.length * shape.heads * shape.headDim * 4));
  const f64 = {
    qk: Float64Array.from(qk),
    slotOf,
    positions,
    pageTable: PAGE_TABLE,
    kCache: Float64Array.from(cache.k.numbers),
    vCache: Float64Array.from(cache.v.numbers),
  };
  const expected = pagedAttentionReference(f64, p);
  for (const view of Object.values(t)) gpu.destroyBuffer(view);
  return { out, expected };
}
const difference = (actual: Float32Array, expected: Float64Array): number =>
  expected.reduce((worst, x, i) => Math.max(worst, Math.abs(x - actual[i]!)), 0);

// A prefill that is not a multiple of the tile, decodes of slots with common pages, a new turn, the first and the last position.
const MIXED: Tokens = [
  ...range(0, 0, 11),
  ...range(1, 40, 41),
  ...range(0, 33, 34),
  ...range(1, 12, 13),
  ...range(2, 60, 66),
  ...range(1, 0, 1),
  ...range(0, 95, 96),
];

describe('paged attention equals float64', () => {
  test.each<Shape>([
    { heads: 2, kvHeads: 2, headDim: 8 },
    { heads: 4, kvHeads: 2, headDim: 16 },
    { heads: 7, kvHeads: 1, headDim: 32 },
    { heads: 2, kvHeads: 1, headDim: 64 },
    { heads: 2, kvHeads: 1, headDim: 128 },
  ])('$heads heads, $kvHeads kv heads, head_dim $headDim', async (shape) => {
    for (const format of KV_FORMATS) {
      const { out, expected } = await attend(MIXED, shape, undefined, format);
      expect(difference(out, expected), format).toBeLessThan(2e-6);
    }
  });

  describe.each([
    { subgroupSize: 0, threads: 16 },
    { subgroupSize: 32, threads: 32 },
  ])('in the tiles of a hardware GPU, subgroups of $subgroupSize', ({ subgroupSize, threads }) => {
    test.each<Shape & Pick<PagedTile, 'tokens'>>([
      { heads: 4, kvHeads: 2, headDim: 16, tokens: 2 },
      { heads: 2, kvHeads: 1, headDim: 128, tokens: 1 },
    ])('head_dim $headDim', async ({ tokens, ...shape }) => {
      if (subgroupSize > 0 && gpu.info.subgroupSize === 0) return;
      const tile = pagedTile(tuningFor({ software: false, subgroupSize }).pagedAttention, shape);
      expect(tile).toMatchObject({ threads, tokens, quad: subgroupSize > 0 });
      const { out, expected } = await attend(MIXED, shape, tile);
      expect(difference(out, expected)).toBeLessThan(2e-6);
    });
  });
});

test('a token has the same bits alone, in a prefill and in a larger batch', async () => {
  const shape = { heads: 4, kvHeads: 2, headDim: 16 };
  const width = shape.heads * shape.headDim;
  const { out } = await attend(MIXED, shape);
  const bits = new Uint32Array(out.buffer);
  for (const i of [0, 5, 10, 11, 12, 13, 16, 20, 21]) {
    const alone = await attend([MIXED[i]!], shape);
    expect(new Uint32Array(alone.out.buffer), `token ${i}`).toEqual(bits.slice(i * width, (i + 1) * width));
  }
});

test.each(KV_FORMATS)('in %s, new keys and values go to their pages, and nothing else changes', async (format) => {
  const shape = { heads: 4, kvHeads: 2, headDim: 8 };
  const kv = shape.kvHeads * shape.headDim;
  const q = shape.heads * shape.headDim;
  const tokens: Tokens = [...range(0, 14, 19), ...range(2, 95, 97)]; // the last token is behind the slot's pages
  const before = caches(shape);
  const qk = queries(tokens, shape);
  const qkv = Float32Array.from({ length: tokens.length * (q + 2 * kv) }, (_, i) => value(i, 0, 4));
  const t = {
    qk: upload('qk', qk),
    qkv: upload('qkv', qkv),
    slotOf: upload(
      'slots',
      Uint32Array.from(tokens, (x) => x.slot),
    ),
    positions: upload(
      'positions',
      Uint32Array.from(tokens, (x) => x.position),
    ),
    pageTable: upload('page table', PAGE_TABLE),
    kCache: upload('k', stored(format, before.kCache).bits),
    vCache: upload('v', stored(format, before.vCache).bits),
    counts: gpu.uniform('counts', [tokens.length, 0, 0, 0]),
  };
  const program = kvWrite(gpu, t, { tokens: { of: 'tokens' }, ...shape, pageSize: PAGE, pagesPerSlot: PAGES_PER_SLOT, format });
  await gpu.ready();
  gpu.run(program, { tokens: tokens.length, rows: 0 });
  tokens.slice(0, -1).forEach(({ slot, position }, i) => {
    const at = (PAGE_TABLE[slot * PAGES_PER_SLOT + Math.floor(position / PAGE)]! * PAGE + (position % PAGE)) * kv;
    before.kCache.set(qk.subarray(i * (q + kv) + q, (i + 1) * (q + kv)), at);
    before.vCache.set(qkv.subarray(i * (q + 2 * kv) + q + kv, (i + 1) * (q + 2 * kv)), at);
  });
  for (const [view, data] of [
    [t.kCache, before.kCache],
    [t.vCache, before.vCache],
  ] as const) {
    const { bits } = stored(format, data);
    expect(new Uint8Array(await gpu.read(view, bits.byteLength))).toEqual(new Uint8Array(bits.buffer));
  }
});

test('training rounds keys and values to what the cache holds, and nothing else', async () => {
  const [heads, kvHeads, headDim, rows] = [3, 1, 8, 5];
  const [q, kv] = [heads * headDim, kvHeads * headDim];
  const fill = (width: number, salt: number) =>
    Float32Array.from({ length: rows * width }, (_, i) => value(i, 0, salt) * 10 ** ((i % 12) - 6)); // some are more than f16 can hold
  const [qk, qkv] = [fill(q + kv, 5), fill(q + 2 * kv, 6)];
  const t = { qk: upload('qk', qk), qkv: upload('qkv', qkv), counts: gpu.uniform('counts', [rows, 0, 0, 0]) };
  expect(kvRound(gpu, t, { tokens: { of: 'tokens' }, heads, kvHeads, headDim }, 'f32')).toEqual([]);
  const program = kvRound(gpu, t, { tokens: { of: 'tokens' }, heads, kvHeads, headDim }, 'f16');
  await gpu.ready();
  gpu.run(program, { tokens: rows, rows: 0 });
  const half = (x: number): number => fromHalf(toHalf(Float32Array.of(Math.max(-MAX_HALF, Math.min(x, MAX_HALF))))[0]!);
  const expected = (data: Float32Array<ArrayBuffer>, width: number, from: number) =>
    Float64Array.from(data, (x, i) => (i % width < from ? x : half(x)));
  // WGSL leaves it open how the smallest numbers, multiples of 2^-24, are rounded.
  expect(difference(new Float32Array(await gpu.read(t.qk, qk.byteLength)), expected(qk, q + kv, q))).toBeLessThanOrEqual(2 ** -24);
  expect(difference(new Float32Array(await gpu.read(t.qkv, qkv.byteLength)), expected(qkv, q + 2 * kv, q + kv))).toBeLessThanOrEqual(
    2 ** -24,
  );
});
