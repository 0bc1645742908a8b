import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu } from '../../src/engine/gpu.ts';
import { fromHalf, MAX_HALF, toHalf } from '../../src/base/half.ts';
import { KV_FORMATS, kvRound } from '../../src/engine/kernels/kv-format.ts';
import { kvWrite } from '../../src/engine/kernels/kv-cache.ts';
import { keyTile } from '../../src/engine/kernels/paged-attention-keys.ts';
import type { KeyAttentionTuning } from '../../src/engine/tuning.ts';
import {
  attend,
  caches,
  difference,
  MIXED,
  PAGE,
  PAGE_TABLE,
  PAGES_PER_SLOT,
  queries,
  range,
  type Shape,
  stored,
  type Tokens,
  TRIES,
  upload,
  value,
} from '../support/paged-attention.ts';

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

describe('paged attention equals float64', () => {
  test.each<Shape>([
    { heads: 2, kvHeads: 2, headDim: 8 },
    { heads: 4, kvHeads: 2, headDim: 16 },
    { heads: 7, kvHeads: 1, headDim: 32 },
    { heads: 2, kvHeads: 1, headDim: 64 },
    { heads: 2, kvHeads: 1, headDim: 128 },
  ])('$heads heads, $kvHeads kv heads, head_dim $headDim', async (shape) => {
    for (const format of KV_FORMATS) {
      const { out, expected } = await attend(gpu, MIXED, shape, undefined, format);
      expect(difference(out, expected), format).toBeLessThan(2e-6);
    }
  });

  test.each<KeyAttentionTuning>([
    { kind: 'keys', threads: 16, floats: 64, quad: false },
    { kind: 'keys', threads: 32, floats: 64, quad: true },
  ])('with the keys divided among $threads threads, quad $quad', async (tuning) => {
    if (tuning.quad && gpu.info.subgroupSize === 0) return;
    const shape = { heads: 4, kvHeads: 2, headDim: 16 };
    expect(keyTile(tuning, shape)).toMatchObject({ heads: 2, tokens: 2 });
    const { out, expected } = await attend(gpu, MIXED, shape, tuning);
    expect(difference(out, expected)).toBeLessThan(2e-6);
  });
});

test('a token has the same bits alone, in a prefill and in a larger batch', async () => {
  const shape = { heads: 4, kvHeads: 2, headDim: 16 };
  const width = shape.heads * shape.headDim;
  const tokens = [...MIXED, ...TRIES];
  const { out } = await attend(gpu, tokens, shape);
  {
    const bits = new Uint32Array(out.buffer);
    for (const i of [0, 5, 10, 11, 12, 13, 16, 20, 21, 22, 23, 24, 25, 27]) {
      const alone = await attend(gpu, [tokens[i]!], shape);
      expect(new Uint32Array(alone.out.buffer), `token ${i}`).toEqual(bits.slice(i * width, (i + 1) * width));
    }
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
    qk: upload(gpu, 'qk', qk),
    qkv: upload(gpu, 'qkv', qkv),
    slotOf: upload(
      gpu,
      'slots',
      Uint32Array.from(tokens, (x) => x.slot),
    ),
    positions: upload(
      gpu,
      'positions',
      Uint32Array.from(tokens, (x) => x.position),
    ),
    pageTable: upload(gpu, 'page table', PAGE_TABLE),
    kCache: upload(gpu, 'k', stored(format, before.kCache).bits),
    vCache: upload(gpu, 'v', stored(format, before.vCache).bits),
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
  const t = { qk: upload(gpu, 'qk', qk), qkv: upload(gpu, 'qkv', qkv), counts: gpu.uniform('counts', [rows, 0, 0, 0]) };
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
