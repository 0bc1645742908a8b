/**
 * Gradient of packed causal attention (FlashAttention-2). The kernels compute the scores again from q, k and lse.
 * `attentionBackwardReference` has the same computation as a plain loop.
 * With P = exp(s − lse), D = rowsum(dout ∘ out) and dS = P ∘ (dout·vᵀ − D):
 *   dq = dS k / √headDim,   dk = dSᵀ q / √headDim,   dv = Pᵀ dout.
 * In the first kernel a workgroup owns queries and sums dq. In the second it owns keys and sums dk and dv. So each sum has one owner, and
 * needs no atomics.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { rowCount } from '../rows.ts';
import { tokenRanges } from '../token-ranges.ts';
import { attendedKeys, attentionReference, type AttentionSizes, type AttentionTensors, packedKernels } from './attention.ts';
import { type AttentionShape, checkAttentionShape } from './attention-shape.ts';

export interface AttentionBackwardTensors extends AttentionTensors {
  /** [tokens, heads·headDim] gradient of `out`. */
  dout: View;
  /** Scratch [tokens, heads]: rowsum(dout ∘ out). */
  delta: View;
  /** [tokens, (heads + kvHeads)·headDim] gradient of `qk`. It is overwritten. */
  dqk: View;
  /** [tokens, (heads + 2·kvHeads)·headDim] gradient of `qkv`; only the v columns are written. */
  dqkv: View;
}

/** Computes dqk and the v columns of dqkv from dout. The first kernel writes `delta` for the second. */
export function attentionBackward(gpu: Gpu, t: AttentionBackwardTensors, p: AttentionSizes, tuning = gpu.tuning.attention): Dispatch[] {
  checkAttentionShape(p);
  const { kernels, tokens } = packedKernels(tuning, p);
  const { query, key } = tokens;
  return [
    ...tokenRanges(p, { tile: query, products: 3, meets: 'before' }, (rows) =>
      gpu.dispatch(kernels.query, { ...t, dims: { rows } }, (counts) => [Math.ceil(rowCount(rows, counts) / query), p.heads]),
    ),
    ...tokenRanges(p, { tile: key, products: 4, meets: 'after' }, (rows) =>
      gpu.dispatch(kernels.key, { ...t, dims: { rows } }, (counts) => [Math.ceil(rowCount(rows, counts) / key), p.kvHeads]),
    ),
  ];
}

/** Computes the gradient in float64: dqk, and dqkv with zeros in the q and k columns. */
export function attentionBackwardReference(
  t: { qk: Float64Array; qkv: Float64Array; ends: ArrayLike<number>; dout: Float64Array },
  p: AttentionShape,
): { dqk: Float64Array; dqkv: Float64Array } {
  const { heads, kvHeads, headDim } = p;
  const kStride = (heads + kvHeads) * headDim;
  const vStride = (heads + 2 * kvHeads) * headDim;
  const tokens = t.qk.length / kStride;
  const { out, lse } = attentionReference(t, p);
  const dqk = new Float64Array(t.qk.length);
  const dqkv = new Float64Array(t.qkv.length);
  for (let row = 0; row < tokens; row++) {
    for (let head = 0; head < heads; head++) {
      const kv = Math.floor((head * kvHeads) / heads) * headDim;
      const q = row * kStride + head * headDim;
      const o = (row * heads + head) * headDim;
      let delta = 0;
      for (let d = 0; d < headDim; d++) delta += t.dout[o + d]! * out[o + d]!;
      for (const key of attendedKeys(t.ends, row)) {
        const k = key * kStride + heads * headDim + kv;
        const v = key * vStride + (heads + kvHeads) * headDim + kv;
        let score = 0;
        let dp = 0;
        for (let d = 0; d < headDim; d++) {
          score += t.qk[q + d]! * t.qk[k + d]!;
          dp += t.dout[o + d]! * t.qkv[v + d]!;
        }
        const weight = Math.exp(score / Math.sqrt(headDim) - lse[row * heads + head]!);
        const ds = (weight * (dp - delta)) / Math.sqrt(headDim);
        for (let d = 0; d < headDim; d++) {
          dqk[q + d]! += ds * t.qk[k + d]!;
          dqk[k + d]! += ds * t.qk[q + d]!;
          dqkv[v + d]! += weight * t.dout[o + d]!;
        }
      }
    }
  }
  return { dqk, dqkv };
}
