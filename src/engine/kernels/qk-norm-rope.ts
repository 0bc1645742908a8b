/**
 * Per-head RMS norm of q and k (Qwen3; Qwen2 has none) followed by rotary position embedding (Su et al. 2021) in the
 * rotate-half pairing of Hugging Face: element i turns with element i + head_dim/2.
 */
import { type Dispatch, floatBits, type Gpu, rowCount, type Rows, rowWords, subview, type View } from '../gpu.ts';
import { addStrips, checkMultiple, headWgsl, itemGroups, itemKernelWgsl, partialBytes, STRIP_WGSL, STRIPS } from './row-kernel.ts';

export interface QkSizes {
  tokens: Rows;
  heads: number;
  kvHeads: number;
  /** A multiple of 8. */
  headDim: number;
  /** Of the norm; unused without it. */
  eps: number;
  norm: boolean;
}

/** [maxPositions][headDim/2][cos, sin] of position · theta^(-2i/headDim), computed in f64. */
export function ropeTable(maxPositions: number, headDim: number, theta: number): Float32Array<ArrayBuffer> {
  const half = headDim / 2;
  const table = new Float32Array(maxPositions * headDim);
  for (let i = 0; i < half; i++) {
    const frequency = theta ** (-(2 * i) / headDim);
    for (let position = 0; position < maxPositions; position++) {
      table[(position * half + i) * 2] = Math.cos(position * frequency);
      table[(position * half + i) * 2 + 1] = Math.sin(position * frequency);
    }
  }
  return table;
}

/** Bytes of the backward's `partial` scratch. */
export const qkPartialBytes = (headDim: number): number => 2 * partialBytes(headDim);

function check({ heads, kvHeads, headDim }: QkSizes): void {
  checkMultiple('qkNormRope headDim', headDim, 8);
  checkMultiple('qkNormRope heads', heads, 1);
  checkMultiple('qkNormRope kvHeads', kvHeads, 1);
}

// dims: heads, kvHeads, headDim/4, bits of eps. `pairs` = head_dim/8 vec4 pairs (lo, hi).
const dimsOf = (gpu: Gpu, { tokens, heads, kvHeads, headDim, eps }: QkSizes): View =>
  gpu.uniform('qk dims', [...rowWords(tokens), heads, kvHeads, headDim / 4, floatBits(eps)]);
const SIZES = `let heads = dims.p0.x; let all = heads + dims.p0.y; let width = dims.p0.z; let pairs = width / 2u;
  let qkv_width = (all + dims.p0.y) * width;`;
const ROTATION = `fn cosines(at: u32) -> vec4f { let u = rope[at]; let v = rope[at + 1u]; return vec4f(u.xz, v.xz); }
fn sines(at: u32) -> vec4f { let u = rope[at]; let v = rope[at + 1u]; return vec4f(u.yw, v.yw); }`;

export interface QkTensors {
  /** [tokens, (heads + 2·kvHeads)·headDim] raw projections. */
  qkv: View;
  /** [headDim] gains; required with `norm`. */
  qWeight?: View;
  kWeight?: View;
  /** [tokens, heads + kvHeads]; required with `norm`. */
  rstd?: View;
  /** [tokens] u32 */
  positions: View;
  /** `ropeTable` */
  rope: View;
  counts: View;
}

function normTensors(t: QkTensors): [View, View, View] {
  if (!t.qWeight || !t.kWeight || !t.rstd) throw new TypeError('qkNormRope with norm: expected qWeight, kWeight and rstd');
  return [t.qWeight, t.kWeight, t.rstd];
}

/** qk[tokens, (heads + kvHeads)·headDim] from the q and k columns of qkv. */
export function qkNormRope(gpu: Gpu, t: QkTensors & { qk: View }, sizes: QkSizes): Dispatch[] {
  check(sizes);
  const { tokens, heads, kvHeads, norm } = sizes;
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(3) var<storage, read> positions: array<u32>;
@group(0) @binding(4) var<storage, read> rope: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> qk: array<vec4f>;
${norm ? `@group(0) @binding(6) var<storage, read> q_weight: array<vec4f>;
@group(0) @binding(7) var<storage, read> k_weight: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> rstd: array<f32>;
fn gain(is_q: bool, c: u32) -> vec4f { if (is_q) { return q_weight[c]; } return k_weight[c]; }` : ''}
${ROTATION}
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * (dims.p0.x + dims.p0.y)', `${SIZES}
  let token = i / all; let head = i % all;
  let begin = token * qkv_width + head * width;
  let to = i * width;
  let angle = positions[token] * width;
  ${norm ? `var squares = vec4f();
  for (var c = 0u; c < width; c++) { let v = qkv[begin + c]; squares += v * v; }
  let r = 1f / sqrt((squares.x + squares.y + squares.z + squares.w) / f32(4u * width) + bitcast<f32>(dims.p0.w));
  rstd[i] = r;` : ''}
  for (var c = 0u; c < pairs; c++) {
    ${norm ? `let lo = qkv[begin + c] * r * gain(head < heads, c);
    let hi = qkv[begin + pairs + c] * r * gain(head < heads, pairs + c);` : 'let lo = qkv[begin + c]; let hi = qkv[begin + pairs + c];'}
    let cosine = cosines(angle + 2u * c); let sine = sines(angle + 2u * c);
    qk[to + c] = lo * cosine - hi * sine;
    qk[to + pairs + c] = hi * cosine + lo * sine;
  }`)}`;
  const kernel = gpu.kernel('qk norm rope', wgsl, [
    'uniform', 'uniform', 'read', 'read', 'read', 'read_write', ...(norm ? (['read', 'read', 'read_write'] as const) : []),
  ]);
  const bindings = [dimsOf(gpu, sizes), t.counts, t.qkv, t.positions, t.rope, t.qk, ...(norm ? normTensors(t) : [])];
  return [gpu.dispatch(kernel, bindings, itemGroups(gpu, (run) => rowCount(tokens, run) * (heads + kvHeads)))];
}

/**
 * Writes the q and k columns of dqkv from dqk; with `norm` also adds to dqWeight and dkWeight through `partial`
 * (`qkPartialBytes(headDim)`). dqkv has the shape of qkv; its v columns are left alone.
 */
export function qkNormRopeBackward(
  gpu: Gpu,
  t: QkTensors & { dqk: View; dqkv: View; dqWeight?: View; dkWeight?: View; partial?: View },
  sizes: QkSizes,
): Dispatch[] {
  check(sizes);
  const { tokens, heads, kvHeads, headDim, norm } = sizes;
  const dims = dimsOf(gpu, sizes);
  // The gradient before the rotation: turn dqk back by the same angle.
  const unrotate = (row: string): string => `let cosine = cosines(angle + 2u * c); let sine = sines(angle + 2u * c);
    let u = dqk[${row} + c]; let v = dqk[${row} + pairs + c];
    let dlo = u * cosine + v * sine; let dhi = v * cosine - u * sine;`;
  const input = `${headWgsl()}
@group(0) @binding(2) var<storage, read> dqk: array<vec4f>;
@group(0) @binding(3) var<storage, read> positions: array<u32>;
@group(0) @binding(4) var<storage, read> rope: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> dqkv: array<vec4f>;
${norm ? `@group(0) @binding(6) var<storage, read> q_weight: array<vec4f>;
@group(0) @binding(7) var<storage, read> k_weight: array<vec4f>;
@group(0) @binding(8) var<storage, read> rstd: array<f32>;
@group(0) @binding(9) var<storage, read> qkv: array<vec4f>;
fn gain(is_q: bool, c: u32) -> vec4f { if (is_q) { return q_weight[c]; } return k_weight[c]; }` : ''}
${ROTATION}
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * (dims.p0.x + dims.p0.y)', `${SIZES}
  let token = i / all; let head = i % all;
  let raw = token * qkv_width + head * width;
  let begin = i * width;
  let angle = positions[token] * width;
  ${norm ? `let r = rstd[i];
  var products = vec4f();
  for (var c = 0u; c < pairs; c++) {
    ${unrotate('begin')}
    let glo = dlo * gain(head < heads, c); let ghi = dhi * gain(head < heads, pairs + c);
    products += glo * qkv[raw + c] + ghi * qkv[raw + pairs + c];
    dqkv[raw + c] = glo; dqkv[raw + pairs + c] = ghi;
  }
  let mean = (products.x + products.y + products.z + products.w) * r / f32(4u * width);
  for (var c = 0u; c < width; c++) { dqkv[raw + c] = r * (dqkv[raw + c] - qkv[raw + c] * (r * mean)); }` : `
  for (var c = 0u; c < pairs; c++) {
    ${unrotate('begin')}
    dqkv[raw + c] = dlo; dqkv[raw + pairs + c] = dhi;
  }`}`)}`;
  const inputKernel = gpu.kernel('qk norm rope backward', input, [
    'uniform', 'uniform', 'read', 'read', 'read', 'read_write', ...(norm ? (['read', 'read', 'read', 'read'] as const) : []),
  ]);
  const program = [
    gpu.dispatch(
      inputKernel,
      [dims, t.counts, t.dqk, t.positions, t.rope, t.dqkv, ...(norm ? [...normTensors(t), t.qkv] : [])],
      itemGroups(gpu, (run) => rowCount(tokens, run) * (heads + kvHeads)),
    ),
  ];
  if (!norm) return program;
  const { dqWeight, dkWeight, partial } = t;
  if (!dqWeight || !dkWeight || !partial) throw new TypeError('qkNormRopeBackward with norm: expected dqWeight, dkWeight and partial');
  // A thread sums one (lo, hi) pair of vec4s over a strip of tokens and all heads of q, or of k.
  const gains = `${headWgsl()}
@group(0) @binding(2) var<storage, read> dqk: array<vec4f>;
@group(0) @binding(3) var<storage, read> positions: array<u32>;
@group(0) @binding(4) var<storage, read> rope: array<vec4f>;
@group(0) @binding(5) var<storage, read> rstd: array<f32>;
@group(0) @binding(6) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> partial: array<vec4f>;
${ROTATION}
${itemKernelWgsl(gpu, `${2 * STRIPS}u * (dims.p0.z / 2u)`, `${SIZES}
  let n = row_count(dims.rows, counts);
  let c = i % pairs; let strip = (i / pairs) % ${STRIPS}u; let is_k = i / (pairs * ${STRIPS}u);
  ${STRIP_WGSL}
  let first = select(0u, heads, is_k == 1u); let end = select(heads, all, is_k == 1u);
  var lo = vec4f(); var hi = vec4f();
  for (var token = begin; token < to; token++) {
    let angle = positions[token] * width;
    let cosine = cosines(angle + 2u * c); let sine = sines(angle + 2u * c);
    for (var head = first; head < end; head++) {
      let row = token * all + head;
      let u = dqk[row * width + c]; let v = dqk[row * width + pairs + c];
      let raw = token * qkv_width + head * width;
      lo += (u * cosine + v * sine) * qkv[raw + c] * rstd[row];
      hi += (v * cosine - u * sine) * qkv[raw + pairs + c] * rstd[row];
    }
  }
  let at = (is_k * ${STRIPS}u + strip) * width + c;
  partial[at] = lo;
  partial[at + pairs] = hi;`)}`;
  const gainKernel = gpu.kernel('qk norm dweight', gains, ['uniform', 'uniform', 'read', 'read', 'read', 'read', 'read', 'read_write']);
  const [, , rstd] = normTensors(t);
  const bytes = partialBytes(headDim);
  return [
    ...program,
    gpu.dispatch(gainKernel, [dims, t.counts, t.dqk, t.positions, t.rope, rstd, t.qkv, partial], itemGroups(gpu, (run) => (rowCount(tokens, run) > 0 ? (STRIPS * headDim) / 4 : 0))),
    addStrips(gpu, { partial: subview(partial, 0, bytes), out: dqWeight, counts: t.counts }, { rows: tokens, width: headDim }),
    addStrips(gpu, { partial: subview(partial, bytes, bytes), out: dkWeight, counts: t.counts }, { rows: tokens, width: headDim }),
  ];
}

type Reference = Pick<QkSizes, 'heads' | 'kvHeads' | 'headDim' | 'eps' | 'norm'> & { theta: number };

/** Calls `visit` for every head of every token with the offsets of its row in qk and in qkv. */
function eachHead({ heads, kvHeads, headDim }: Reference, tokens: number, visit: (token: number, head: number, at: number, raw: number) => void): void {
  for (let token = 0; token < tokens; token++) {
    for (let head = 0; head < heads + kvHeads; head++) {
      visit(token, head, (token * (heads + kvHeads) + head) * headDim, (token * (heads + 2 * kvHeads) + head) * headDim);
    }
  }
}

/** qk; gains may be left out without `norm`. */
export function qkNormRopeReference(qkv: Float64Array, positions: ArrayLike<number>, qWeight: Float64Array | undefined, kWeight: Float64Array | undefined, p: Reference): Float64Array {
  const { heads, kvHeads, headDim, eps, norm, theta } = p;
  const half = headDim / 2;
  const out = new Float64Array(positions.length * (heads + kvHeads) * headDim);
  eachHead(p, positions.length, (token, head, at, raw) => {
    const x = qkv.slice(raw, raw + headDim);
    if (norm) {
      const rstd = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / headDim + eps);
      x.forEach((v, i) => (x[i] = v * rstd * (head < heads ? qWeight! : kWeight!)[i]!));
    }
    for (let i = 0; i < half; i++) {
      const angle = positions[token]! * theta ** (-(2 * i) / headDim);
      out[at + i] = x[i]! * Math.cos(angle) - x[i + half]! * Math.sin(angle);
      out[at + i + half] = x[i + half]! * Math.cos(angle) + x[i]! * Math.sin(angle);
    }
  });
  return out;
}

export function qkNormRopeBackwardReference(
  qkv: Float64Array, positions: ArrayLike<number>, qWeight: Float64Array | undefined, kWeight: Float64Array | undefined, dqk: Float64Array, p: Reference,
): { dqkv: Float64Array; dqWeight: Float64Array; dkWeight: Float64Array } {
  const { heads, headDim, eps, norm, theta } = p;
  const half = headDim / 2;
  const dqkv = new Float64Array(qkv.length);
  const dqWeight = new Float64Array(headDim);
  const dkWeight = new Float64Array(headDim);
  eachHead(p, positions.length, (token, head, at, raw) => {
    const d = new Float64Array(headDim);
    for (let i = 0; i < half; i++) {
      const angle = positions[token]! * theta ** (-(2 * i) / headDim);
      d[i] = dqk[at + i]! * Math.cos(angle) + dqk[at + i + half]! * Math.sin(angle);
      d[i + half] = dqk[at + i + half]! * Math.cos(angle) - dqk[at + i]! * Math.sin(angle);
    }
    if (!norm) return dqkv.set(d, raw);
    const [weight, dweight] = head < heads ? [qWeight!, dqWeight] : [kWeight!, dkWeight];
    const x = qkv.subarray(raw, raw + headDim);
    const rstd = 1 / Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / headDim + eps);
    const mean = x.reduce((sum, v, i) => sum + v * rstd * weight[i]! * d[i]!, 0) / headDim;
    x.forEach((v, i) => {
      dqkv[raw + i] = rstd * (weight[i]! * d[i]! - v * rstd * mean);
      dweight[i]! += d[i]! * v * rstd;
    });
  });
  return { dqkv, dqWeight, dkWeight };
}
