/** Attention that is cut into ranges of tokens: several dispatches, and the same bits as one dispatch. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gpu, type View } from '../../src/engine/gpu.ts';
import { attention } from '../../src/engine/kernels/attention.ts';
import { attentionBackward } from '../../src/engine/kernels/attention-backward.ts';
import { pagedAttention, pagedPartBytes } from '../../src/engine/kernels/paged-attention.ts';
import type { AttentionTuning, PagedAttentionTuning } from '../../src/engine/tuning.ts';
import { download, random, run, upload } from '../support/kernels.ts';

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

const TOKENS = 203;
const SHAPE = { tokens: { of: 'tokens' }, heads: 4, kvHeads: 2, headDim: 16 } as const;
const COUNTS = { tokens: TOKENS, rows: 0, longest: 113 };
/** Two trees: 130 tokens with two branches behind the 40th token, and one sequence. */
const ENDS = Uint32Array.from({ length: TOKENS }, (_, t) => (t < 40 ? 130 : t < 90 ? 90 : t < 130 ? 130 : TOKENS));
/** Work that is so small that a range has one tile, or a few. */
const FEW = { capacity: 256, longest: 130 };

// Threads with few values compile fast.
const PACKED: Record<string, AttentionTuning | null> = { block: null, quad: { threads: 4, floats: 64 } };
const CHUNKS: PagedAttentionTuning = { kind: 'chunks', threads: 64, tokens: 2, quad: false, splitBelow: 0 };
const PAGED: Record<string, PagedAttentionTuning> = {
  keys: { kind: 'keys', threads: 16, floats: 64, quad: false },
  chunks: CHUNKS,
  'chunks in parts': { ...CHUNKS, splitBelow: 1000 },
};
/** Each name with each limit of work. */
const cases = (tunings: object): [string, number][] =>
  Object.keys(tunings).flatMap((name) => [1, 2e6].map((work): [string, number] => [name, work]));

test.each(cases(PACKED))('packed attention (%s) in ranges of at most %d operations, forward and backward', async (name, mostWork) => {
  const tuning = PACKED[name]!;
  if (tuning && gpu.info.subgroupSize < 4) return;
  const width = { q: 64, qk: 96, qkv: 128 };
  const tensors = {
    qk: upload(gpu, random(TOKENS * width.qk, 1)),
    qkv: upload(gpu, random(TOKENS * width.qkv, 2)),
    ends: upload(gpu, ENDS),
  };
  const [dout, counts] = [upload(gpu, random(TOKENS * width.q, 3)), gpu.uniform('counts', [TOKENS, 0, 0, 0])];
  const results = [];
  for (const bounds of [{}, { ...FEW, mostWork }]) {
    const empty = (columns: number): View => gpu.buffer('result', TOKENS * columns * 4);
    const [out, lse, delta, dqk, dqkv] = [width.q, 4, 4, width.qk, width.qkv].map(empty) as [View, View, View, View, View];
    const t = { ...tensors, out, lse, dout, delta, dqk, dqkv, counts };
    const program = [attention(gpu, t, { ...SHAPE, ...bounds }, tuning), attentionBackward(gpu, t, { ...SHAPE, ...bounds }, tuning)];
    if ('mostWork' in bounds) for (const [i, least] of [1, 2].entries()) expect(program[i]!.length).toBeGreaterThan(least);
    else expect(program.map((dispatches) => dispatches.length)).toEqual([1, 2]);
    await run(gpu, program.flat(), COUNTS);
    results.push(await Promise.all([out, lse, dqk, dqkv].map((view) => download(gpu, view, view.size / 4))));
  }
  expect(results[1]).toEqual(results[0]);
  expect(results[0]![0]!.every((value) => value !== 0)).toBe(true);
});

test.each(cases(PAGED))('paged attention (%s) in ranges of at most %d operations', async (name, mostWork) => {
  const tuning = PAGED[name]!;
  const paged = { ...SHAPE, pageSize: 16, pagesPerSlot: 14, format: 'f32' } as const;
  // The first slot has 101 tokens. So a tile of several tokens belongs to two slots.
  const slotOf = Uint32Array.from({ length: TOKENS }, (_, t) => (t < 101 ? 0 : 1));
  const t = {
    qk: upload(gpu, random(TOKENS * 96, 4)),
    slotOf: upload(gpu, slotOf),
    positions: upload(
      gpu,
      Uint32Array.from({ length: TOKENS }, (_, token) => (token < 101 ? token : token - 90)),
    ),
    pageTable: upload(
      gpu,
      Uint32Array.from({ length: 28 }, (_, page) => (page * 5) % 28),
    ),
    kCache: upload(gpu, random(28 * 16 * 32, 5)),
    vCache: upload(gpu, random(28 * 16 * 32, 6)),
    counts: gpu.uniform('counts', [TOKENS, 0, 0, 0]),
    parts: name === 'chunks in parts' ? gpu.buffer('parts', pagedPartBytes(tuning, paged, TOKENS)) : undefined,
  };
  const results = [];
  for (const bounds of [{}, { capacity: 256, mostWork }]) {
    const out = gpu.buffer('result', TOKENS * 64 * 4);
    const program = pagedAttention(gpu, { ...t, out }, { ...paged, ...bounds }, tuning);
    if ('mostWork' in bounds) expect(program.length).toBeGreaterThan(3);
    await run(gpu, program, COUNTS);
    results.push(await download(gpu, out, TOKENS * 64));
  }
  expect(results[1]).toEqual(results[0]);
  expect(results[0]!.every((value) => value !== 0)).toBe(true);
});
