/** Paged attention of hardware GPUs: whole and in parts, with common prompts, on every adapter that the tests have. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu } from '../../src/engine/gpu.ts';
import type { ChunkAttentionTuning } from '../../src/engine/tuning.ts';
import { chunkTile } from '../../src/engine/kernels/paged-attention-chunks.ts';
import { runsOnLavapipeToo } from '../support/lavapipe.ts';
import { attend, difference, MIXED, type Shape, TRIES } from '../support/paged-attention.ts';

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

const CHUNKS: ChunkAttentionTuning = { kind: 'chunks', threads: 64, tokens: 2, quad: false, splitBelow: 0 };
const QUADS: ChunkAttentionTuning = { ...CHUNKS, threads: 32, quad: true };
describe('paged attention in chunks', () => {
  test.each<{ shape: Shape; tile: object }>([
    { shape: { heads: 4, kvHeads: 2, headDim: 8 }, tile: { heads: 2, tokens: 2 } },
    { shape: { heads: 3, kvHeads: 1, headDim: 16 }, tile: { heads: 3, tokens: 2 } },
    { shape: { heads: 2, kvHeads: 1, headDim: 64 }, tile: { heads: 2, tokens: 2 } },
  ])('equals float64, whole and in parts: $shape', async ({ shape, tile }) => {
    expect(chunkTile(CHUNKS, shape)).toMatchObject(tile);
    if (shape.headDim !== 16 && runsOnLavapipeToo(gpu)) return;
    for (const tuning of gpu.info.subgroupSize > 0 ? [CHUNKS, QUADS] : [CHUNKS])
      for (const tokens of [MIXED, TRIES]) {
        const whole = await attend(gpu, tokens, shape, tuning, 'f16');
        expect(difference(whole.out, whole.expected)).toBeLessThan(2e-6);
        const parts = await attend(gpu, tokens, shape, { ...tuning, splitBelow: 1000 }, 'f16');
        expect(new Uint32Array(parts.out.buffer)).toEqual(new Uint32Array(whole.out.buffer));
      }
  });

  test('keeps the workgroup memory of a large head_dim within what every device has', () => {
    expect(chunkTile({ ...CHUNKS, tokens: 8 }, { heads: 16, kvHeads: 8, headDim: 128 })).toMatchObject({ heads: 2, tokens: 8 });
    expect(chunkTile({ ...CHUNKS, tokens: 8 }, { heads: 8, kvHeads: 4, headDim: 256 })).toMatchObject({ heads: 2, tokens: 4 });
  });
});

test('a token has the same bits alone, in a prefill and in a larger batch', async () => {
  const shape = { heads: 4, kvHeads: 2, headDim: 16 };
  const width = shape.heads * shape.headDim;
  for (const tuning of [CHUNKS, { ...CHUNKS, splitBelow: 8 }]) {
    const tokens = [...MIXED, ...TRIES];
    const { out } = await attend(gpu, tokens, shape, tuning);
    const bits = new Uint32Array(out.buffer);
    for (const i of [0, 5, 10, 11, 12, 13, 16, 20, 21, 22, 23, 24, 25, 27]) {
      const alone = await attend(gpu, [tokens[i]!], shape, tuning);
      expect(new Uint32Array(alone.out.buffer), `token ${i}, splitBelow ${tuning.splitBelow}`).toEqual(
        bits.slice(i * width, (i + 1) * width),
      );
    }
  }
});
