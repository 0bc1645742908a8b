/**
 * Causal grouped-query attention over a packed batch (FlashAttention-2, Dao 2023: no score matrix is stored).
 *
 * `attentionReference` has the computation as a plain loop. The kernels (attention-quad.ts, attention-block.ts) visit the keys of a few
 * tokens once, in blocks, and keep a running maximum and a running sum of the softmax.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { rowCount, type Rows } from '../rows.ts';
import { type RunBounds, tokenRanges } from '../token-ranges.ts';
import type { AttentionTuning } from '../tuning.ts';
import { blockForward, blockKeyGradient, blockQueryGradient, blockTokens } from './attention-block.ts';
import { quadForward, quadKeyGradient, quadQueryGradient, quadTokens } from './attention-quad.ts';
import { type AttentionShape, checkAttentionShape } from './attention-shape.ts';

export interface AttentionSizes extends AttentionShape, RunBounds {
  tokens: Rows;
}

export interface AttentionTensors {
  /** [tokens, (heads + kvHeads)·headDim], q and k after norm and RoPE. */
  qk: View;
  /** [tokens, (heads + 2·kvHeads)·headDim]. Only the last columns, v, are read. */
  qkv: View;
  /** [tokens] u32: the end of each token's subtree in the prefix tree (`MicroBatch.ends`). */
  ends: View;
  /** [tokens, heads·headDim] */
  out: View;
  /** [tokens, heads] natural log-sum-exp of the scaled scores. */
  lse: View;
  counts: View;
}

/** The keys that packed token `t` attends to: the tokens before it in its sequence, and `t` itself. */
export function* attendedKeys(ends: ArrayLike<number>, t: number): Generator<number> {
  for (let key = 0; key <= t; key++) if (t < ends[key]!) yield key;
}

/** Computes attention in float64: out [tokens, heads·headDim] and lse [tokens, heads]. */
export function attentionReference(
  t: { qk: Float64Array; qkv: Float64Array; ends: ArrayLike<number> },
  p: AttentionShape,
): { out: Float64Array; lse: Float64Array } {
  const { heads, kvHeads, headDim } = p;
  const kStride = (heads + kvHeads) * headDim;
  const vStride = (heads + 2 * kvHeads) * headDim;
  const tokens = t.qk.length / kStride;
  const out = new Float64Array(tokens * heads * headDim);
  const lse = new Float64Array(tokens * heads);
  for (let row = 0; row < tokens; row++) {
    const keys = [...attendedKeys(t.ends, row)];
    for (let head = 0; head < heads; head++) {
      const kv = Math.floor((head * kvHeads) / heads) * headDim;
      const scores = keys.map((key) => {
        let sum = 0;
        for (let d = 0; d < headDim; d++)
          sum += t.qk[row * kStride + head * headDim + d]! * t.qk[key * kStride + heads * headDim + kv + d]!;
        return sum / Math.sqrt(headDim);
      });
      const max = Math.max(...scores);
      const total = scores.reduce((sum, s) => sum + Math.exp(s - max), 0);
      lse[row * heads + head] = max + Math.log(total);
      keys.forEach((key, i) => {
        const weight = Math.exp(scores[i]! - max) / total;
        for (let d = 0; d < headDim; d++)
          out[(row * heads + head) * headDim + d]! += weight * t.qkv[key * vStride + (heads + kvHeads) * headDim + kv + d]!;
      });
    }
  }
  return { out, lse };
}

/** The kernels for a device, and the number of tokens that a workgroup of each serves. */
export function packedKernels(tuning: AttentionTuning | null, p: AttentionShape) {
  if (tuning === null)
    return { tokens: blockTokens(p), kernels: { forward: blockForward(p), query: blockQueryGradient(p), key: blockKeyGradient(p) } };
  const { forward, query, key } = quadTokens(p, tuning);
  const { threads } = tuning;
  return {
    tokens: { forward: forward * threads, query: query * threads, key: key * threads },
    kernels: { forward: quadForward(p, tuning), query: quadQueryGradient(p, tuning), key: quadKeyGradient(p, tuning) },
  };
}

/** out = softmax(q kᵀ / √headDim) v over the `attendedKeys` of each token. Also writes lse, which the backward pass needs. */
export function attention(gpu: Gpu, t: AttentionTensors, p: AttentionSizes, tuning = gpu.tuning.attention): Dispatch[] {
  checkAttentionShape(p);
  const { kernels, tokens } = packedKernels(tuning, p);
  const tile = tokens.forward;
  return tokenRanges(p, { tile, products: 2, meets: 'before' }, (rows) =>
    gpu.dispatch(kernels.forward, { ...t, dims: { rows } }, (counts) => [Math.ceil(rowCount(rows, counts) / tile), p.heads]),
  );
}
