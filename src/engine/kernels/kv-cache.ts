/**
 * Keys and values of past tokens, in pages. A slot (one sequence) owns a row of the page table; sequences that share a
 * prompt list the same pages. Both caches are [pages·pageSize, kvHeads·headDim].
 */
import { type Dispatch, type Gpu, grid, GRID_INDEX_WGSL, rowCount, rowWords, type Rows, ROWS_WGSL, type View } from '../gpu.ts';

export interface KvCacheSizes {
  tokens: Rows;
  heads: number;
  kvHeads: number;
  headDim: number;
  /** Tokens a page; a multiple of 4. */
  pageSize: number;
  pagesPerSlot: number;
}

export interface KvWriteTensors {
  /** [tokens, (heads + kvHeads)·headDim] after norm and RoPE. */
  qk: View;
  /** [tokens, (heads + 2·kvHeads)·headDim] */
  qkv: View;
  /** u32 [tokens]: the slot of each token. */
  slotOf: View;
  /** u32 [tokens]: its position in the sequence; one past the slot's pages is not written. */
  positions: View;
  /** u32 [slots, pagesPerSlot] */
  pageTable: View;
  kCache: View;
  vCache: View;
  counts: View;
}

/** Copies the k and v of new tokens to their places in the caches. */
export function kvWrite(gpu: Gpu, t: KvWriteTensors, p: KvCacheSizes): Dispatch[] {
  if (p.pageSize <= 0 || p.pageSize % 4 !== 0) throw new RangeError(`pageSize ${p.pageSize}: expected a positive multiple of 4`);
  const kv4 = (p.kvHeads * p.headDim) / 4;
  const q4 = (p.heads * p.headDim) / 4;
  const wgsl = /* wgsl */ `${ROWS_WGSL}
struct Dims { rows: vec4u, page_size: u32, pages_per_slot: u32, q4: u32, kv4: u32 }
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> counts: Counts;
@group(0) @binding(2) var<storage, read> qk: array<vec4f>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read> slot_of: array<u32>;
@group(0) @binding(5) var<storage, read> positions: array<u32>;
@group(0) @binding(6) var<storage, read> page_table: array<u32>;
@group(0) @binding(7) var<storage, read_write> k_cache: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> v_cache: array<vec4f>;
@compute @workgroup_size(64) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let i = ${GRID_INDEX_WGSL} * 64u + thread;
  let t = i / dims.kv4;
  let d = i % dims.kv4;
  let position = positions[t];
  let page = position / dims.page_size;
  if (t >= row_count(dims.rows, counts) || page >= dims.pages_per_slot) { return; }
  let at = (page_table[slot_of[t] * dims.pages_per_slot + page] * dims.page_size + position % dims.page_size) * dims.kv4 + d;
  k_cache[at] = qk[t * (dims.q4 + dims.kv4) + dims.q4 + d];
  v_cache[at] = qkv[t * (dims.q4 + 2u * dims.kv4) + dims.q4 + dims.kv4 + d];
}`;
  const kernel = gpu.kernel('kv write', wgsl, ['uniform', 'uniform', 'read', 'read', 'read', 'read', 'read', 'read_write', 'read_write']);
  const dims = gpu.uniform('kv write dims', [...rowWords(p.tokens), p.pageSize, p.pagesPerSlot, q4, kv4]);
  return [
    gpu.dispatch(kernel, [dims, t.counts, t.qk, t.qkv, t.slotOf, t.positions, t.pageTable, t.kCache, t.vCache], (counts) =>
      grid(rowCount(p.tokens, counts) * kv4, 64)),
  ];
}
