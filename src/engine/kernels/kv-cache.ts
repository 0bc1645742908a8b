/**
 * The KV cache holds keys and values of past tokens, in pages. Each slot (one sequence) has a row of the page table, which lists its
 * pages. Sequences that share a prompt list the same pages. The k cache and the v cache are both [pages·pageSize, kvHeads·headDim].
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import type { RunBounds } from '../token-ranges.ts';
import { KV, type KvFormat } from './kv-format.ts';
import { itemGroups, itemMain } from './threads.ts';

export interface KvCacheSizes extends Omit<RunBounds, 'longest'> {
  tokens: Rows;
  heads: number;
  kvHeads: number;
  headDim: number;
  /** Tokens of a page; a multiple of 4. */
  pageSize: number;
  pagesPerSlot: number;
  format: KvFormat;
}

/** What attention to the cache reads and writes (paged-attention.ts). */
export interface PagedAttentionTensors {
  /** [tokens, (heads + kvHeads)·headDim]. Only the q columns are read. */
  qk: View;
  /** u32 [tokens] */
  slotOf: View;
  /** u32 [tokens]. Token t attends to the positions 0 … positions[t] of its slot. */
  positions: View;
  /** u32 [slots, pagesPerSlot] */
  pageTable: View;
  /** [pages·pageSize, kvHeads·headDim] in the cache's format. It already holds the keys of the new tokens. */
  kCache: View;
  vCache: View;
  /** [tokens, heads·headDim] */
  out: View;
  counts: View;
  /** Scratch of `pagedPartBytes`, with which a run of few tokens uses more workgroups. It changes no bit. */
  parts?: View | undefined;
}

export interface KvWriteTensors {
  /** [tokens, (heads + kvHeads)·headDim], q and k after norm and RoPE. */
  qk: View;
  /** [tokens, (heads + 2·kvHeads)·headDim] */
  qkv: View;
  /** u32 [tokens]: the slot of each token. */
  slotOf: View;
  /** u32 [tokens]: the position of each token in its sequence. Tokens beyond the slot's pages are not written. */
  positions: View;
  /** u32 [slots, pagesPerSlot] */
  pageTable: View;
  kCache: View;
  vCache: View;
  counts: View;
}

/** Copies the k and v of new tokens into the caches. */
export function kvWrite(gpu: Gpu, t: KvWriteTensors, p: KvCacheSizes): Dispatch[] {
  if (p.pageSize <= 0 || p.pageSize % 4 !== 0) throw new RangeError(`pageSize ${p.pageSize}: expected a positive multiple of 4`);
  const kv4 = (p.kvHeads * p.headDim) / 4;
  const q4 = (p.heads * p.headDim) / 4;
  const { element, wgsl, pack } = KV[p.format];
  const kernel = defineKernel({
    label: 'kv write',
    dims: { rows: 'Rows', page_size: 'u32', pages_per_slot: 'u32', q4: 'u32', kv4: 'u32' },
    reads: { qk: 'vec4f', qkv: 'vec4f', slotOf: 'u32', positions: 'u32', pageTable: 'u32' },
    writes: { kCache: element, vCache: element },
    body: `${wgsl}${itemMain(
      gpu.tuning,
      'row_count() * dims.kv4',
      `
  let t = i / dims.kv4;
  let d = i % dims.kv4;
  let position = positions[t];
  let page = position / dims.page_size;
  if (page >= dims.pages_per_slot) { return; }
  let at = (pageTable[slotOf[t] * dims.pages_per_slot + page] * dims.page_size + position % dims.page_size) * dims.kv4 + d;
  kCache[at] = ${pack('qk[t * (dims.q4 + dims.kv4) + dims.q4 + d]')};
  vCache[at] = ${pack('qkv[t * (dims.q4 + 2u * dims.kv4) + dims.q4 + dims.kv4 + d]')};`,
    )}`,
  });
  const dims = { rows: p.tokens, page_size: p.pageSize, pages_per_slot: p.pagesPerSlot, q4, kv4 };
  const groups = itemGroups(gpu.tuning, (run) => rowCount(p.tokens, run) * kv4);
  return [gpu.dispatch(kernel, { ...t, dims }, groups)];
}
