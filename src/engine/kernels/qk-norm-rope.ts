/**
 * RMS norm of each q and k head (only in Qwen3), then rotary position embedding (RoPE, Su et al. 2021). The pairs are
 * those of Hugging Face's rotate_half: element i rotates together with element i + head_dim/2.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { checkMultiple, itemGroups, itemMain } from './threads.ts';

export interface QkSizes {
  tokens: Rows;
  heads: number;
  kvHeads: number;
  /** A multiple of 8. */
  headDim: number;
  /** The epsilon of the norm. Not used without the norm. */
  eps: number;
  norm: boolean;
}

/** A table [maxPositions][headDim/2][cos, sin] of the angles position · frequency, computed in f64. @param frequencies see `ropeFrequencies` */
export function ropeTable(maxPositions: number, frequencies: Float64Array): Float32Array<ArrayBuffer> {
  const half = frequencies.length;
  const table = new Float32Array(maxPositions * 2 * half);
  for (const [i, frequency] of frequencies.entries()) {
    for (let position = 0; position < maxPositions; position++) {
      table[(position * half + i) * 2] = Math.cos(position * frequency);
      table[(position * half + i) * 2 + 1] = Math.sin(position * frequency);
    }
  }
  return table;
}

/** @throws RangeError for sizes that the kernels cannot use. */
export function checkQkSizes({ heads, kvHeads, headDim }: QkSizes): void {
  checkMultiple('qkNormRope headDim', headDim, 8);
  checkMultiple('qkNormRope heads', heads, 1);
  checkMultiple('qkNormRope kvHeads', kvHeads, 1);
}

/** `width` is the number of vec4s of a head. */
export const QK_DIMS = { rows: 'Rows', heads: 'u32', kv_heads: 'u32', width: 'u32', eps: 'f32' } as const;
export const qkDims = ({ tokens, heads, kvHeads, headDim, eps }: QkSizes) => ({
  rows: tokens,
  heads,
  kv_heads: kvHeads,
  width: headDim / 4,
  eps,
});

/** WGSL: the sizes of a token's data. `pairs` is the number of pairs of vec4s (lo, hi) in a head that rotate together. */
export const QK_SIZES_WGSL = `let heads = dims.heads; let all = heads + dims.kv_heads; let width = dims.width; let pairs = width / 2u;
  let qkv_width = (all + dims.kv_heads) * width;`;
/** WGSL functions that return four cosines or four sines of the RoPE table. `at` is the index of the first vec4 to read. */
export const ROTATION_WGSL = `
fn cosines(at: u32) -> vec4f { let u = rope[at]; let v = rope[at + 1u]; return vec4f(u.xz, v.xz); }
fn sines(at: u32) -> vec4f { let u = rope[at]; let v = rope[at + 1u]; return vec4f(u.yw, v.yw); }`;
/** A WGSL function that returns vec4 `c` of the norm's gain for q or for k. */
export const GAIN_WGSL = `
fn gain(is_q: bool, c: u32) -> vec4f { if (is_q) { return qWeight[c]; } return kWeight[c]; }`;

/**
 * WGSL: 1 / √x within half a last bit, where `1 / sqrt(x)` errs by 1.4 times as much. An error here scales all scores of a head, and a sharp softmax
 * magnifies it. The guess has 12 bits, so the error of its square is computed almost exactly, by products of 12-bit parts.
 */
const INVERSE_SQRT_WGSL = `
fn high_bits(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }
fn exact_inverse_sqrt(x: f32) -> f32 {
  let guess = high_bits(1f / sqrt(x));
  let square = guess * guess;
  let square_high = high_bits(square);
  let x_high = high_bits(x);
  let error = ((1f - square_high * x_high) - square_high * (x - x_high)) - (square - square_high) * x;
  return guess + guess * error * (0.5f + 0.375f * error);
}`;

export interface QkTensors {
  /** [tokens, (heads + 2·kvHeads)·headDim], the projections before norm and RoPE. */
  qkv: View;
  /** [headDim], the norm's gains. Required with `norm`. */
  qWeight?: View;
  kWeight?: View;
  /** [tokens, heads + kvHeads], 1 / RMS of each head. Required with `norm`. */
  rstd?: View;
  /** [tokens] u32 */
  positions: View;
  /** The content of `ropeTable`. */
  rope: View;
  counts: View;
}

/** @throws TypeError if a tensor of the norm is missing. */
export function normTensors({ qWeight, kWeight, rstd }: QkTensors): { qWeight: View; kWeight: View; rstd: View } {
  if (!qWeight || !kWeight || !rstd) throw new TypeError('qkNormRope with norm: expected qWeight, kWeight and rstd');
  return { qWeight, kWeight, rstd };
}

/** Computes qk [tokens, (heads + kvHeads)·headDim] from the q and k columns of qkv. */
export function qkNormRope(gpu: Gpu, t: QkTensors & { qk: View }, sizes: QkSizes): Dispatch[] {
  checkQkSizes(sizes);
  const { tokens, heads, kvHeads } = sizes;
  /** WGSL: the entry point. `norm` computes the norm, if the model has one. `read` gives vec4 c of a head, normed or not. */
  const main = (norm: string, read: (c: string) => string): string =>
    `${ROTATION_WGSL}${itemMain(
      gpu.tuning,
      'row_count() * (dims.heads + dims.kv_heads)',
      `${QK_SIZES_WGSL}
  let token = i / all; let head = i % all;
  let begin = token * qkv_width + head * width;
  let to = i * width;
  let angle = positions[token] * width;
  ${norm}
  for (var c = 0u; c < pairs; c++) {
    let lo = ${read('c')}; let hi = ${read('pairs + c')};
    let cosine = cosines(angle + 2u * c); let sine = sines(angle + 2u * c);
    qk[to + c] = lo * cosine - hi * sine;
    qk[to + pairs + c] = hi * cosine + lo * sine;
  }`,
    )}`;
  const reads = { qkv: 'vec4f', positions: 'u32', rope: 'vec4f' } as const;
  const groups = itemGroups(gpu.tuning, (run) => rowCount(tokens, run) * (heads + kvHeads));
  const bound = { ...t, dims: qkDims(sizes) };
  if (!sizes.norm) {
    const kernel = defineKernel({
      label: 'qk rope',
      dims: QK_DIMS,
      reads,
      writes: { qk: 'vec4f' },
      body: main('', (c) => `qkv[begin + ${c}]`),
    });
    return [gpu.dispatch(kernel, bound, groups)];
  }
  const kernel = defineKernel({
    label: 'qk norm rope',
    dims: QK_DIMS,
    reads: { ...reads, qWeight: 'vec4f', kWeight: 'vec4f' },
    writes: { qk: 'vec4f', rstd: 'f32' },
    body: `${GAIN_WGSL}${INVERSE_SQRT_WGSL}${main(
      `var squares = vec4f();
  for (var c = 0u; c < width; c++) { let v = qkv[begin + c]; squares += v * v; }
  let r = exact_inverse_sqrt((squares.x + squares.y + squares.z + squares.w) / f32(4u * width) + dims.eps);
  rstd[i] = r;`,
      (c) => `qkv[begin + ${c}] * r * gain(head < heads, ${c})`,
    )}`,
  });
  return [gpu.dispatch(kernel, { ...bound, ...normTensors(t) }, groups)];
}
