/**
 * Attention of new tokens to the paged KV cache: in prefill, when a turn extends a sequence, and in decode. Two kernels compute it:
 * paged-attention-keys.ts for CPU adapters, and paged-attention-chunks.ts for hardware GPUs. `pagedAttentionReference` has the
 * computation as a plain loop.
 */
import type { Dispatch, Gpu } from '../gpu.ts';
import type { PagedAttentionTuning } from '../tuning.ts';
import { checkAttentionShape } from './attention-shape.ts';
import type { KvCacheSizes, PagedAttentionTensors } from './kv-cache.ts';
import { chunkAttention, chunkPartBytes } from './paged-attention-chunks.ts';
import { keyAttention } from './paged-attention-keys.ts';

/** Bytes of `parts` for runs of at most `tokens` tokens. 0 if this tuning needs none. */
export const pagedPartBytes = (tuning: PagedAttentionTuning, p: Omit<KvCacheSizes, 'tokens' | 'format'>, tokens: number): number =>
  tuning.kind === 'chunks' ? chunkPartBytes(p, tokens) : 0;

/** out[t] = softmax(q_t Kᵀ / √headDim) V over the positions 0 … positions[t] of the token's slot. */
export function pagedAttention(gpu: Gpu, t: PagedAttentionTensors, p: KvCacheSizes, tuning = gpu.tuning.pagedAttention): Dispatch[] {
  checkAttentionShape(p);
  return tuning.kind === 'chunks' ? chunkAttention(gpu, t, p, tuning) : keyAttention(gpu, t, p, tuning);
}

/** Computes attention in float64, from the same caches and page table. */
export function pagedAttentionReference(
  t: {
    qk: Float64Array;
    slotOf: ArrayLike<number>;
    positions: ArrayLike<number>;
    pageTable: ArrayLike<number>;
    kCache: Float64Array;
    vCache: Float64Array;
  },
  p: Omit<KvCacheSizes, 'tokens' | 'format'>,
): Float64Array {
  const { heads, kvHeads, headDim, pageSize, pagesPerSlot } = p;
  const tokens = t.slotOf.length;
  const out = new Float64Array(tokens * heads * headDim);
  for (let token = 0; token < tokens; token++) {
    for (let head = 0; head < heads; head++) {
      const kv = Math.floor((head * kvHeads) / heads) * headDim;
      const rows = Array.from({ length: t.positions[token]! + 1 }, (_, position) => {
        const page = t.pageTable[t.slotOf[token]! * pagesPerSlot + Math.floor(position / pageSize)]!;
        return (page * pageSize + (position % pageSize)) * kvHeads * headDim + kv;
      });
      const scores = rows.map((row) => {
        let sum = 0;
        for (let d = 0; d < headDim; d++) sum += t.qk[token * (heads + kvHeads) * headDim + head * headDim + d]! * t.kCache[row + d]!;
        return sum / Math.sqrt(headDim);
      });
      const max = Math.max(...scores);
      const total = scores.reduce((sum, s) => sum + Math.exp(s - max), 0);
      rows.forEach((row, i) => {
        for (let d = 0; d < headDim; d++)
          out[(token * heads + head) * headDim + d]! += (Math.exp(scores[i]! - max) / total) * t.vCache[row + d]!;
      });
    }
  }
  return out;
}
