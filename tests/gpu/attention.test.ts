import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gpu, type View } from '../../src/engine/gpu.ts';
import { attention, attentionReference, type AttentionTensors } from '../../src/engine/kernels/attention.ts';
import { attentionBackward, attentionBackwardReference } from '../../src/engine/kernels/attention-backward.ts';
import type { AttentionTuning } from '../../src/engine/tuning.ts';
import { runsOnLavapipeToo } from '../support/lavapipe.ts';

type Shape = { heads: number; kvHeads: number; headDim: number };
/** A node of a prefix tree: its number of tokens, then its children. */
type Tree = [number, ...Tree[]];

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) * 3 - 1.5;
  };
}
const floats = (n: number, next: () => number): Float32Array<ArrayBuffer> => Float32Array.from({ length: n }, next);

/** `sequences`: the packed tokens from each root to each leaf. */
function layOut(forest: Tree[]): { ends: Uint32Array<ArrayBuffer>; tokens: number; sequences: number[][] } {
  const ends: number[] = [];
  const sequences: number[][] = [];
  const place = ([length, ...children]: Tree, before: number[]): void => {
    const own = Array.from({ length }, (_, i) => ends.length + i);
    ends.push(...own);
    for (const child of children) place(child, [...before, ...own]);
    for (const t of own) ends[t] = ends.length;
    if (children.length === 0) sequences.push([...before, ...own]);
  };
  for (const tree of forest) place(tree, []);
  return { ends: Uint32Array.from(ends), tokens: ends.length, sequences };
}

/** The buffer behind the batch holds NaN, so that a read behind the batch would change the result. */
const SPARE = 9;

function upload(label: string, data: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>, spare = 0): View {
  const view = gpu.buffer(label, data.byteLength + spare * 4);
  gpu.write(view, data);
  if (spare) gpu.write(view, new Float32Array(spare).fill(NaN), data.byteLength);
  return view;
}

function inputs(forest: Tree[], { heads, kvHeads, headDim }: Shape) {
  const { ends, tokens, sequences } = layOut(forest);
  const next = random(tokens + heads * 100 + headDim);
  const widths = { qk: (heads + kvHeads) * headDim, qkv: (heads + 2 * kvHeads) * headDim, out: heads * headDim };
  return {
    ends,
    tokens,
    sequences,
    widths,
    qk: floats(tokens * widths.qk, next),
    qkv: floats(tokens * widths.qkv, next),
    dout: floats(tokens * widths.out, next),
  };
}

async function runOnGpu(forest: Tree[], shape: Shape, tuning?: AttentionTuning | null) {
  const x = inputs(forest, shape);
  const size = (width: number): number => (x.tokens + SPARE) * width * 4;
  const common: AttentionTensors = {
    qk: upload('qk', x.qk, SPARE * x.widths.qk),
    qkv: upload('qkv', x.qkv, SPARE * x.widths.qkv),
    ends: upload('ends', x.ends),
    out: gpu.buffer('out', size(x.widths.out)),
    lse: gpu.buffer('lse', size(shape.heads)),
    counts: gpu.uniform('counts', [x.tokens, 0, 0, 0]),
  };
  const t = {
    ...common,
    dout: upload('dout', x.dout, SPARE * x.widths.out),
    delta: gpu.buffer('delta', size(shape.heads)),
    dqk: gpu.buffer('dqk', size(x.widths.qk)),
    dqkv: gpu.buffer('dqkv', size(x.widths.qkv)),
  };
  const p = { tokens: { of: 'tokens' as const }, ...shape };
  const program = [...attention(gpu, t, p, tuning), ...attentionBackward(gpu, t, p, tuning)];
  await gpu.ready();
  gpu.run(program, { tokens: x.tokens, rows: 0 });
  const read = async (view: View): Promise<Float32Array> => new Float32Array(await gpu.read(view));
  const result = { out: await read(t.out), lse: await read(t.lse), dqk: await read(t.dqk), dqkv: await read(t.dqkv) };
  for (const view of Object.values(t)) gpu.destroyBuffer(view);
  return { x, result };
}

function reference(x: ReturnType<typeof inputs>, shape: Shape) {
  const t = { qk: Float64Array.from(x.qk), qkv: Float64Array.from(x.qkv), ends: x.ends, dout: Float64Array.from(x.dout) };
  return { ...attentionReference(t, shape), ...attentionBackwardReference(t, shape) };
}

/** Largest difference relative to the largest expected value. Entries behind `expected` must be zero (not written). */
function difference(actual: Float32Array, expected: Float64Array): number {
  let largest = 0;
  let scale = 1;
  for (let i = 0; i < actual.length; i++) {
    if (Number.isNaN(actual[i]!)) return NaN;
    largest = Math.max(largest, Math.abs(actual[i]! - (expected[i] ?? 0)));
    scale = Math.max(scale, Math.abs(expected[i] ?? 0));
  }
  return largest / scale;
}

const PACKED: Tree[] = [[1], [19, [7], [1, [3], [9, [2], [17]]], [13]], [37], [3, [5], [2]], [6], [11]];

/** Several blocks of 32 items, and subtrees that end between and inside of them. */
const LONG: Tree[] = [[1], [19, [7], [1, [3], [9]]], [45, [9], [3, [5], [18]]], [40]];

/** Lavapipe compiles a kernel with workgroup memory for up to half a minute. These kernels run on SwiftShader only. */
const slowToCompile = ({ headDim }: Shape, tuning: AttentionTuning | null | undefined): boolean =>
  gpu.info.description.includes('llvmpipe') && (tuning === null || headDim > 64);

/** A kernel in quads for one small head_dim runs on SwiftShader too. The kernels for the others differ in the lengths of loops only. */
const leftToLavapipe = ({ headDim }: Shape, tuning: AttentionTuning | null | undefined): boolean =>
  runsOnLavapipeToo(gpu) && tuning === undefined && headDim <= 64 && headDim !== 24;

describe.each([
  { name: 'in quads', tuning: undefined },
  { name: 'in workgroup memory, without subgroups', tuning: null },
])('packed attention equals float64, forward and backward, $name', ({ tuning }) => {
  test.each<Shape>([
    { heads: 2, kvHeads: 2, headDim: 8 },
    { heads: 4, kvHeads: 2, headDim: 16 },
    { heads: 6, kvHeads: 3, headDim: 24 },
    { heads: 7, kvHeads: 1, headDim: 32 },
    { heads: 2, kvHeads: 1, headDim: 40 },
    { heads: 3, kvHeads: 1, headDim: 64 },
    { heads: 2, kvHeads: 2, headDim: 128 },
    { heads: 2, kvHeads: 1, headDim: 136 },
  ])('$heads heads, $kvHeads kv heads, head_dim $headDim', async (shape) => {
    if (slowToCompile(shape, tuning) || leftToLavapipe(shape, tuning)) return;
    for (const forest of [PACKED, LONG]) {
      const { x, result } = await runOnGpu(forest, shape, tuning);
      const expected = reference(x, shape);
      for (const name of ['out', 'lse', 'dqk', 'dqkv'] as const) expect(difference(result[name], expected[name]), name).toBeLessThan(2e-6);
    }
  });

  test('the same input gives the same bits', async () => {
    const shape = { heads: 4, kvHeads: 2, headDim: 16 };
    if (slowToCompile(shape, tuning)) return;
    const [first, second] = [await runOnGpu(PACKED, shape, tuning), await runOnGpu(PACKED, shape, tuning)];
    for (const name of ['out', 'lse', 'dqk', 'dqkv'] as const)
      expect(new Uint32Array(second.result[name].buffer)).toEqual(new Uint32Array(first.result[name].buffer));
  });

  test('large scores do not overflow', async () => {
    const shape = { heads: 1, kvHeads: 1, headDim: 16 };
    if (slowToCompile(shape, tuning)) return;
    const x = inputs([[40]], shape);
    for (let i = 0; i < x.qk.length; i++) x.qk[i]! *= 60;
    const t = {
      qk: upload('qk', x.qk),
      qkv: upload('qkv', x.qkv),
      ends: upload('ends', x.ends),
      out: gpu.buffer('out', x.tokens * 64),
      lse: gpu.buffer('lse', x.tokens * 4),
      counts: gpu.uniform('counts', [x.tokens, 0, 0, 0]),
    };
    const program = attention(gpu, t, { tokens: { of: 'tokens' }, ...shape }, tuning);
    await gpu.ready();
    gpu.run(program, { tokens: x.tokens, rows: 0 });
    const expected = reference(x, shape);
    expect(difference(new Float32Array(await gpu.read(t.lse, x.tokens * 4)), expected.lse)).toBeLessThan(2e-6);
    expect(difference(new Float32Array(await gpu.read(t.out, x.tokens * 64)), expected.out)).toBeLessThan(2e-3); // scores of 1e4 carry 1e-3 of rounding
  });
});

describe('the float64 reference', () => {
  const shape = { heads: 2, kvHeads: 1, headDim: 4 };

  test('shared prefixes give the same outputs as separate sequences, and the sum of their gradients', () => {
    const x = inputs([[5, [3], [1, [2], [6]], [4]]], shape);
    const shared = reference(x, shape);
    const sums = { dqk: new Float64Array(shared.dqk.length), dqkv: new Float64Array(shared.dqkv.length) };
    const counted = new Set<number>();
    x.sequences.forEach((sequence) => {
      const rows = (data: Float32Array, width: number): Float32Array<ArrayBuffer> =>
        Float32Array.from(sequence.flatMap((row) => [...data.subarray(row * width, (row + 1) * width)]));
      const alone = {
        ...x,
        ...layOut([[sequence.length]]),
        qk: rows(x.qk, x.widths.qk),
        qkv: rows(x.qkv, x.widths.qkv),
        dout: rows(x.dout, x.widths.out),
      };
      // The loss of a shared token counts once.
      sequence.forEach((row, i) => counted.has(row) && alone.dout.fill(0, i * x.widths.out, (i + 1) * x.widths.out));
      for (const row of sequence) counted.add(row);
      const result = reference(alone, shape);
      sequence.forEach((row, i) => {
        for (let c = 0; c < x.widths.out; c++)
          expect(result.out[i * x.widths.out + c]).toBeCloseTo(shared.out[row * x.widths.out + c]!, 12);
        for (const name of ['dqk', 'dqkv'] as const) {
          const width = name === 'dqk' ? x.widths.qk : x.widths.qkv;
          for (let c = 0; c < width; c++) sums[name][row * width + c]! += result[name][i * width + c]!;
        }
      });
    });
    for (const name of ['dqk', 'dqkv'] as const) sums[name].forEach((value, i) => expect(value).toBeCloseTo(shared[name][i]!, 12));
  });

  test('its gradient agrees with finite differences', () => {
    const x = inputs([[3, [2], [1, [2], [1]]]], shape);
    const t = { qk: Float64Array.from(x.qk), qkv: Float64Array.from(x.qkv), ends: x.ends, dout: Float64Array.from(x.dout) };
    const gradient = attentionBackwardReference(t, shape);
    const loss = (): number => attentionReference(t, shape).out.reduce((sum, value, i) => sum + value * t.dout[i]!, 0);
    const step = 1e-5;
    for (const [data, analytic] of [
      [t.qk, gradient.dqk],
      [t.qkv, gradient.dqkv],
    ] as const) {
      for (let i = 0; i < data.length; i++) {
        const value = data[i]!;
        data[i] = value + step;
        const above = loss();
        data[i] = value - step;
        const below = loss();
        data[i] = value;
        expect(analytic[i]).toBeCloseTo((above - below) / (2 * step), 7);
      }
    }
  });
});
