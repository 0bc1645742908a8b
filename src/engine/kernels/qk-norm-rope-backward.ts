/** Gradient of the q/k norm and of RoPE. */
import { type Dispatch, type Gpu, subview, type View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount } from '../rows.ts';
import {
  checkQkSizes,
  GAIN_WGSL,
  normTensors,
  QK_DIMS,
  QK_SIZES_WGSL,
  qkDims,
  type QkSizes,
  type QkTensors,
  ROTATION_WGSL,
} from './qk-norm-rope.ts';
import { addStrips, partialBytes, STRIP_WGSL, STRIPS } from './strips.ts';
import { itemGroups, itemMain } from './threads.ts';

/** Bytes of the scratch `partial`. */
export const qkPartialBytes = (headDim: number): number => 2 * partialBytes(headDim);

export interface QkBackwardTensors extends QkTensors {
  /** [tokens, (heads + kvHeads)·headDim] gradient of qk. */
  dqk: View;
  /** The same shape as qkv. The q and k columns are written. The v columns stay as they are. */
  dqkv: View;
  /** [headDim], gradients of the gains. The kernel adds to them. Absent if the gains are not trained. */
  dqWeight?: View | undefined;
  dkWeight?: View | undefined;
  /** Scratch of `qkPartialBytes(headDim)`; required with `dqWeight`. */
  partial?: View;
}

/** Computes dqkv from dqk. With `norm` it also adds to dqWeight and dkWeight, if they are given. */
export function qkNormRopeBackward(gpu: Gpu, t: QkBackwardTensors, sizes: QkSizes): Dispatch[] {
  checkQkSizes(sizes);
  const { tokens, heads, kvHeads, norm } = sizes;
  const main = (body: string): string =>
    `${ROTATION_WGSL}${itemMain(
      gpu.tuning,
      'row_count() * (dims.heads + dims.kv_heads)',
      `${QK_SIZES_WGSL}
  let token = i / all; let head = i % all;
  let raw = token * qkv_width + head * width;
  let begin = i * width;
  let angle = positions[token] * width;
  ${body}`,
    )}`;
  // The gradient before RoPE: dqk rotated back by the same angle.
  const unrotate = `let cosine = cosines(angle + 2u * c); let sine = sines(angle + 2u * c);
    let u = dqk[begin + c]; let v = dqk[begin + pairs + c];
    let dlo = u * cosine + v * sine; let dhi = v * cosine - u * sine;`;
  const reads = { dqk: 'vec4f', positions: 'u32', rope: 'vec4f' } as const;
  const groups = itemGroups(gpu.tuning, (run) => rowCount(tokens, run) * (heads + kvHeads));
  const bound = { ...t, dims: qkDims(sizes) };
  if (!norm) {
    const kernel = defineKernel({
      label: 'qk rope backward',
      dims: QK_DIMS,
      reads,
      writes: { dqkv: 'vec4f' },
      body: main(`
  for (var c = 0u; c < pairs; c++) {
    ${unrotate}
    dqkv[raw + c] = dlo; dqkv[raw + pairs + c] = dhi;
  }`),
    });
    return [gpu.dispatch(kernel, bound, groups)];
  }
  const kernel = defineKernel({
    label: 'qk norm rope backward',
    dims: QK_DIMS,
    reads: { ...reads, qWeight: 'vec4f', kWeight: 'vec4f', rstd: 'f32', qkv: 'vec4f' },
    writes: { dqkv: 'vec4f' },
    body: `${GAIN_WGSL}${main(`let r = rstd[i];
  var products = vec4f();
  for (var c = 0u; c < pairs; c++) {
    ${unrotate}
    let glo = dlo * gain(head < heads, c); let ghi = dhi * gain(head < heads, pairs + c);
    products += glo * qkv[raw + c] + ghi * qkv[raw + pairs + c];
    dqkv[raw + c] = glo; dqkv[raw + pairs + c] = ghi;
  }
  let mean = (products.x + products.y + products.z + products.w) * r / f32(4u * width);
  for (var c = 0u; c < width; c++) { dqkv[raw + c] = r * (dqkv[raw + c] - qkv[raw + c] * (r * mean)); }`)}`,
  });
  return [gpu.dispatch(kernel, { ...bound, ...normTensors(t) }, groups), ...(t.dqWeight ? gainGradients(gpu, t, sizes) : [])];
}

/** Adds to dqWeight and dkWeight. A thread sums one (lo, hi) pair of vec4s over a strip of tokens, and over all heads of q or all of k. */
function gainGradients(gpu: Gpu, t: QkBackwardTensors, sizes: QkSizes): Dispatch[] {
  const { dqWeight, dkWeight, partial, counts } = t;
  if (!dqWeight || !dkWeight || !partial) throw new TypeError('qkNormRopeBackward with norm: expected dqWeight, dkWeight and partial');
  const kernel = defineKernel({
    label: 'qk norm dweight',
    dims: QK_DIMS,
    reads: { dqk: 'vec4f', positions: 'u32', rope: 'vec4f', rstd: 'f32', qkv: 'vec4f' },
    writes: { partial: 'vec4f' },
    body: `${ROTATION_WGSL}${itemMain(
      gpu.tuning,
      `${2 * STRIPS}u * (dims.width / 2u)`,
      `${QK_SIZES_WGSL}
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
  partial[at + pairs] = hi;`,
    )}`,
  });
  const { tokens: rows, headDim: width } = sizes;
  const bytes = partialBytes(width);
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) > 0 ? (STRIPS * width) / 4 : 0));
  return [
    gpu.dispatch(kernel, { ...t, ...normTensors(t), partial, dims: qkDims(sizes) }, groups),
    addStrips(gpu, { partial: subview(partial, 0, bytes), out: dqWeight, counts }, { rows, width }),
    addStrips(gpu, { partial: subview(partial, bytes, bytes), out: dkWeight, counts }, { rows, width }),
  ];
}
