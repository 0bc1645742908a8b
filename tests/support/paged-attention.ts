/** A paged KV cache with known values, for the tests of paged attention. */
import { Gpu, type View } from '../../src/engine/gpu.ts';
import { fromHalf, toHalf } from '../../src/base/half.ts';
import type { KvFormat } from '../../src/engine/kernels/kv-format.ts';
import { pagedAttention, pagedAttentionReference, pagedPartBytes } from '../../src/engine/kernels/paged-attention.ts';
import type { PagedAttentionTuning } from '../../src/engine/tuning.ts';

export type Shape = { heads: number; kvHeads: number; headDim: number };
export type Tokens = { slot: number; position: number }[];

export const PAGE = 8;
export const PAGES_PER_SLOT = 12;
const PAGES = 40;
// Slots 0 and 1 share their first eight pages, which are a whole chunk of 64 positions. The pages are not in order.
export const PAGE_TABLE = Uint32Array.from(
  [
    [7, 3, 20, 1, 9, 30, 31, 2, 12, 13, 14, 15],
    [7, 3, 20, 1, 9, 30, 31, 2, 16, 0, 4, 6],
    [39, 38, 37, 36, 35, 34, 33, 32, 29, 28, 27, 26],
  ].flat(),
);

export const range = (slot: number, from: number, to: number): Tokens =>
  Array.from({ length: to - from }, (_, i) => ({ slot, position: from + i }));
/** A value that depends only on (page of the slot, position, column), so that every batch has the same cache and queries. */
export const value = (a: number, b: number, salt: number): number => {
  const x = Math.sin(a * 12.9898 + b * 78.233 + salt * 37.719) * 43758.5453;
  return Math.fround((x - Math.floor(x)) * 3 - 1.5);
};
export const upload = (gpu: Gpu, label: string, data: ArrayBufferView<ArrayBuffer>): View => {
  const view = gpu.buffer(label, data.byteLength);
  gpu.write(view, data);
  return view;
};

/** What the cache holds, in the bits of the format and as numbers. */
export const stored = (format: KvFormat, data: Float32Array<ArrayBuffer>) => {
  if (format === 'f32') return { bits: data, numbers: data };
  const bits = toHalf(data);
  return { bits, numbers: Float32Array.from(bits, fromHalf) };
};

export function caches({ kvHeads, headDim }: Shape) {
  const width = kvHeads * headDim;
  const fill = (salt: number): Float32Array<ArrayBuffer> =>
    Float32Array.from({ length: PAGES * PAGE * width }, (_, i) => value(Math.floor(i / width), i % width, salt));
  return { kCache: fill(1), vCache: fill(2) };
}
export function queries(tokens: Tokens, { heads, kvHeads, headDim }: Shape): Float32Array<ArrayBuffer> {
  const width = (heads + kvHeads) * headDim;
  return Float32Array.from({ length: tokens.length * width }, (_, i) => {
    const { slot, position } = tokens[Math.floor(i / width)]!;
    return value(slot * 1000 + position, i % width, 3);
  });
}

export async function attend(
  gpu: Gpu,
  tokens: Tokens,
  shape: Shape,
  tuning: PagedAttentionTuning = gpu.tuning.pagedAttention,
  format: KvFormat = 'f32',
): Promise<{ out: Float32Array; expected: Float64Array }> {
  const filled = caches(shape);
  const cache = { k: stored(format, filled.kCache), v: stored(format, filled.vCache) };
  const qk = queries(tokens, shape);
  const slotOf = Uint32Array.from(tokens, (t) => t.slot);
  const positions = Uint32Array.from(tokens, (t) => t.position);
  const t = {
    qk: upload(gpu, 'qk', qk),
    slotOf: upload(gpu, 'slots', slotOf),
    positions: upload(gpu, 'positions', positions),
    pageTable: upload(gpu, 'page table', PAGE_TABLE),
    kCache: upload(gpu, 'k', cache.k.bits),
    vCache: upload(gpu, 'v', cache.v.bits),
    out: gpu.buffer('out', tokens.length * shape.heads * shape.headDim * 4),
    counts: gpu.uniform('counts', [tokens.length, 0, 0, 0]),
  };
  const p = { tokens: { of: 'tokens' as const }, ...shape, pageSize: PAGE, pagesPerSlot: PAGES_PER_SLOT, format };
  const bytes = pagedPartBytes(tuning, p, tokens.length);
  const program = pagedAttention(gpu, { ...t, ...(bytes > 0 && { parts: gpu.buffer('parts', bytes) }) }, p, tuning);
  await gpu.ready();
  const longest = Math.max(...tokens.map(({ position }) => position)) + 1;
  gpu.run(program, { tokens: tokens.length, rows: 0, longest });
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
export const difference = (actual: Float32Array, expected: Float64Array): number =>
  expected.reduce((worst, x, i) => Math.max(worst, Math.abs(x - actual[i]!)), 0);

// A prefill that is not a multiple of the tile, decodes of slots with common pages, a new turn, the first and the last position.
export const MIXED: Tokens = [
  ...range(0, 0, 11),
  ...range(1, 40, 41),
  ...range(0, 33, 34),
  ...range(1, 12, 13),
  ...range(2, 60, 66),
  ...range(1, 0, 1),
  ...range(0, 95, 96),
];

// Two and three tries whose next tokens share a prompt of 64 tokens, and one more sequence.
export const TRIES: Tokens = [...range(0, 80, 81), ...range(1, 90, 91), ...range(0, 95, 96), ...range(2, 70, 71), ...range(1, 64, 67)];
