/**
 * Paged attention for hardware GPUs (see paged-attention.ts).
 *
 * The keys of a sequence are cut into chunks of `CHUNK` positions. Each chunk has its own softmax, and the chunks are merged in order.
 * So a token's result has the same bits in every batch: no step depends on the other tokens.
 *
 * A workgroup serves one kv head of a tile of tokens. A query is one head of one token. If the tokens have the same pages in a chunk,
 * all of their queries share each load of a key or a value. These tokens may be neighbours in one sequence, or tries with a common
 * prompt. In other chunks only the heads of one token share the loads. Three phases handle a chunk:
 *   1. scores: each thread takes some keys (or a quarter of head_dim of them), and computes their scores for all queries;
 *   2. softmax: some threads of each query find its maximum, and compute the weights and their sum;
 *   3. values: each thread owns some columns of head_dim, and adds up the values of these columns in the order of the keys.
 *
 * In a run with few tokens, each chunk has a workgroup of its own, which stores its part. A second kernel merges the parts. Both kernels
 * use the same function `merge`, so the bits are those of a run in one workgroup.
 */
import type { Dispatch, Gpu } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { type Counts, grid, GRID_INDEX_WGSL, rowCount, type Rows } from '../rows.ts';
import { tokenRanges } from '../token-ranges.ts';
import type { ChunkAttentionTuning } from '../tuning.ts';
import { LOG2E } from './attention-shape.ts';
import { repeat } from './unroll.ts';
import type { KvCacheSizes, PagedAttentionTensors } from './kv-cache.ts';
import { KV } from './kv-format.ts';

/** Positions of a chunk. It is the same on all devices and for all shapes, so that results do not depend on them. */
const CHUNK = 64;
/** The most queries of a workgroup. Each thread has four sums for each of them. */
const MOST_QUERIES = 16;
/** Floats of workgroup memory that every WebGPU device has. */
const WORKGROUP_FLOATS = 4096;

export interface ChunkTile {
  threads: number;
  /** Number of query heads that a workgroup serves. They share one kv head. */
  heads: number;
  /** Number of neighbouring tokens that a workgroup serves. */
  tokens: number;
  /** The four lanes of a quad divide head_dim in phase 1 (quadSwap, which needs the `subgroups` feature). */
  quad: boolean;
}

/** The most threads that divide the keys of a query in phase 2. */
const MOST_SHARE = 8;
const shareOf = ({ threads }: ChunkTile): number => Math.min(MOST_SHARE, threads);

type Shape = Pick<KvCacheSizes, 'heads' | 'kvHeads' | 'headDim'>;

export function chunkTile({ threads, tokens, quad }: ChunkAttentionTuning, { heads, kvHeads, headDim }: Shape): ChunkTile {
  const group = heads / kvHeads;
  const queries = Math.max(1, Math.min(MOST_QUERIES, Math.floor(WORKGROUP_FLOATS / (headDim + CHUNK + 2 * MOST_SHARE + 3))));
  const shared = Math.max(...Array.from({ length: Math.min(group, queries) }, (_, i) => i + 1).filter((h) => group % h === 0));
  // A power of two, because the tries of a task are often one, and then tiles hold tries of the same task.
  const most = 2 ** Math.floor(Math.log2(queries / shared));
  return { threads, heads: shared, tokens: Math.min(tokens, most), quad: quad && headDim % 16 === 0 };
}

const chunksOf = ({ pageSize, pagesPerSlot }: Pick<KvCacheSizes, 'pageSize' | 'pagesPerSlot'>): number =>
  Math.ceil((pageSize * pagesPerSlot) / CHUNK);

/** Bytes of the parts of one token. A part is a chunk's sums of values, then the maximum and the sum of its weights. */
const tokenPartBytes = (p: Omit<KvCacheSizes, 'tokens' | 'format'>): number => p.heads * chunksOf(p) * (p.headDim + 4) * 4;
const MOST_PART_BYTES = 32 * 2 ** 20;

/** Bytes of `parts` for runs of at most `tokens` tokens. A run with more tokens than the bytes are enough for is not cut. */
export const chunkPartBytes = (p: Omit<KvCacheSizes, 'tokens' | 'format'>, tokens: number): number =>
  Math.min(tokens, Math.floor(MOST_PART_BYTES / tokenPartBytes(p))) * tokenPartBytes(p);

/** WGSL: how much a sum with the maximum `from` shrinks if the maximum becomes `to`. A sum that has no maximum yet becomes 0. */
const MERGE_WGSL = /* wgsl */ `
fn fade(from_top: f32, to_top: f32) -> f32 { return select(exp2(from_top - to_top), 1.0, from_top == to_top); }
fn merge(sum: vec4f, before: f32, part: vec4f, after: f32) -> vec4f { return fma(part, vec4f(after), sum * before); }`;
const NO_TOP = '-1e30';

/** @param split each chunk has a workgroup of its own, which stores its part */
function chunkKernel(p: KvCacheSizes, tile: ChunkTile, split: boolean) {
  const { headDim, pageSize, pagesPerSlot, heads, kvHeads } = p;
  const { threads } = tile;
  const { element, wgsl, unpack } = KV[p.format];
  const d4 = headDim / 4;
  const capacity = pageSize * pagesPerSlot;
  const queries = tile.heads * tile.tokens;
  const share = shareOf(tile);
  const keyLanes = tile.quad ? 4 : 1;
  const chunks = chunksOf(p);

  /** WGSL: the function that merges a chunk into the state of `count` tokens, from `first + t0`. `pages` is where their page list begins. */
  const attend = (count: number): string => {
    const own = count * tile.heads;
    const eachQuery = (text: (r: number) => string, joint = '\n'): string => repeat(own, text, joint);
    // Phase 3: groups of d4 threads. A thread of a group owns one column (or every threads-th) of some queries.
    const groups = Math.max(1, Math.min(own, Math.floor(threads / d4)));
    const each = Math.ceil(own / groups);
    const eachSum = (text: (i: number) => string): string => repeat(each, text, ' ');
    const column = groups > 1 ? `thread % ${d4}u` : 'thread';
    return /* wgsl */ `
fn attend${count}(thread: u32, first: u32, t0: u32, head: u32, kv: u32, pages: u32, begin: u32, longest: u32, n: u32) {
  let many = min(${CHUNK}u, longest - begin);
  ${repeat(count, (t) => `let token${t} = min(first + t0 + ${t}u, n - 1u); let len${t} = select(0u, min(positions[token${t}] + 1u, ${capacity}u), first + t0 + ${t}u < n);`)}
  ${eachQuery((r) => `let q${r} = token${Math.floor(r / tile.heads)} * ${(heads + kvHeads) * d4}u + (head + ${r % tile.heads}u) * ${d4}u;`)}
  for (var block = 0u; block < many; block += ${threads / keyLanes}u) { // uniform, as quadSwap needs
    let u = block + thread / ${keyLanes}u;
    let at = cache_row(pages, begin + min(u, many - 1u)) + kv;
    ${eachQuery((r) => `var s${r} = vec4f();`, ' ')}
    for (var d = ${tile.quad ? 'thread & 3u' : '0u'}; d < dims.d4; d += ${keyLanes}u) {
      let k = ${unpack('kCache[at + d]')};
      ${eachQuery((r) => `s${r} = fma(qk[q${r} + d], k, s${r});`)}
    }
    ${eachQuery((r) => {
      const sum = tile.quad ? `{ var x = s${r}; x += quadSwapX(x); x += quadSwapY(x); s${r} = x; } ` : '';
      const score = `((s${r}.x + s${r}.y) + (s${r}.z + s${r}.w)) * ${LOG2E / Math.sqrt(headDim)}`;
      return `${sum}if (u < many) { scores[u * ${own}u + ${r}u] = select(-3e30, ${score}, begin + u < len${Math.floor(r / tile.heads)}); }`;
    })}
  }
  workgroupBarrier();
  for (var r = thread / ${share}u; r < ${own}u; r += ${threads / share}u) {
    var top = -3e30;
    for (var u = thread % ${share}u; u < many; u += ${share}u) { top = max(top, scores[u * ${own}u + r]); }
    tops[r * ${share}u + thread % ${share}u] = top;
  }
  workgroupBarrier();
  for (var r = thread / ${share}u; r < ${own}u; r += ${threads / share}u) {
    let top = top_of(r);
    var sum = 0.0;
    for (var u = thread % ${share}u; u < many; u += ${share}u) {
      let at = u * ${own}u + r;
      let weight = select(0.0, exp2(scores[at] - top), scores[at] > -2e30);
      scores[at] = weight;
      sum += weight;
    }
    sums[r * ${share}u + thread % ${share}u] = sum;
    if (thread % ${share}u == 0u) { part_top[r] = top; }
  }
  workgroupBarrier();
  let r0 = ${groups > 1 ? `thread / ${d4}u * ${each}u` : '0u'};
  for (var c = ${column}; c < dims.d4 && r0 < ${own}u; c += ${groups > 1 ? d4 : threads}u) {
    ${eachSum((i) => `var o${i} = vec4f(); let r${i} = min(r0 + ${i}u, ${own - 1}u);`)}
    for (var u = 0u; u < many; u++) {
      let v = ${unpack('vCache[cache_row(pages, begin + u) + kv + c]')};
      ${eachSum((i) => `o${i} = fma(vec4f(scores[u * ${own}u + r${i}]), v, o${i});`)}
    }
    ${repeat(
      each,
      (i) => `if (r0 + ${i}u < ${own}u) {
      let query = t0 * ${tile.heads}u + r${i}; let top = max(state[query].x, part_top[r${i}]); let at = query * ${d4}u + c;
      values[at] = merge(values[at], fade(state[query].x, top), o${i}, fade(part_top[r${i}], top));
    }`,
    )}
  }
  workgroupBarrier();
  for (var r = thread; r < ${own}u; r += ${threads}u) {
    var sum = 0.0;
    for (var i = 0u; i < dims.share; i++) { sum += sums[r * ${share}u + i]; }
    let query = t0 * ${tile.heads}u + r; let old = state[query]; let top = max(old.x, part_top[r]);
    state[query] = vec2f(top, merge(vec4f(old.y), fade(old.x, top), vec4f(sum), fade(part_top[r], top)).x);
  }
  workgroupBarrier();
}`;
  };

  const body = /* wgsl */ `${wgsl}${MERGE_WGSL}
var<workgroup> scores: array<f32, ${CHUNK * queries}>;
var<workgroup> tops: array<f32, ${share * queries}>;
var<workgroup> sums: array<f32, ${share * queries}>;
var<workgroup> part_top: array<f32, ${queries}>;
// Of each query: the maximum so far, the sum of its weights, and the sums of its values.
var<workgroup> state: array<vec2f, ${queries}>;
var<workgroup> values: array<vec4f, ${queries * d4}>;
fn cache_row(pages: u32, key: u32) -> u32 { return (pageTable[pages + key / ${pageSize}u] * ${pageSize}u + key % ${pageSize}u) * ${kvHeads * d4}u; }
fn top_of(r: u32) -> f32 {
  var top = tops[r * ${share}u];
  for (var i = 1u; i < dims.share; i++) { top = max(top, tops[r * ${share}u + i]); }
  return top;
}
fn length(token: u32) -> u32 { return min(positions[token] + 1u, ${capacity}u); }
// Whether the tokens have the same pages in a chunk as the token with the longest sequence.
fn same_pages(first: u32, end: u32, lead: u32, begin: u32) -> bool {
  for (var t = first; t < end; t++) {
    if (slotOf[t] == slotOf[lead]) { continue; }
    let to = min(length(t), begin + ${CHUNK}u);
    for (var key = begin - begin % ${pageSize}u; key < to; key += ${pageSize}u) {
      if (pageTable[slotOf[t] * ${pagesPerSlot}u + key / ${pageSize}u] != pageTable[slotOf[lead] * ${pagesPerSlot}u + key / ${pageSize}u]) { return false; }
    }
  }
  return true;
}
${attend(1)}${tile.tokens > 1 ? attend(tile.tokens) : ''}
@compute @workgroup_size(${threads}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = dims.rows.base + row_count();
  ${split ? `let groups = (row_count() + ${tile.tokens - 1}u) / ${tile.tokens}u * ${heads / tile.heads}u; let begin = ${GRID_INDEX_WGSL} / groups * ${CHUNK}u;` : ''}
  let index = ${GRID_INDEX_WGSL}${split ? ' % groups' : ''};
  let first = dims.rows.base + index / ${heads / tile.heads}u * ${tile.tokens}u;
  let head = index % ${heads / tile.heads}u * ${tile.heads}u;
  let kv = head / ${heads / kvHeads}u * ${d4}u;
  if (first >= n) { return; }
  let end = min(first + ${tile.tokens}u, n);
  var lead = first;
  for (var t = first; t < end; t++) { if (positions[t] > positions[lead]) { lead = t; } }
  let stop = length(lead);
  ${split ? 'if (begin >= stop) { return; }' : ''}
  for (var i = thread; i < ${queries * d4}u; i += ${threads}u) { values[i] = vec4f(); }
  for (var i = thread; i < ${queries}u; i += ${threads}u) { state[i] = vec2f(${NO_TOP}, 0.0); }
  workgroupBarrier();
  ${split ? '{' : `for (var begin = 0u; begin < stop; begin += ${CHUNK}u) {`}
    ${tile.tokens > 1 ? `if (end > first + 1u && same_pages(first, end, lead, begin)) { attend${tile.tokens}(thread, first, 0u, head, kv, slotOf[lead] * ${pagesPerSlot}u, begin, length(lead), n); }\n    else {` : '{'}
      for (var t = first; t < end; t++) {
        if (length(t) > begin) { attend1(thread, first, t - first, head, kv, slotOf[t] * ${pagesPerSlot}u, begin, length(t), n); }
      }
    }
  }
  for (var i = thread; i < (end - first) * ${tile.heads * d4}u; i += ${threads}u) {
    let query = i / ${d4}u; let at = (first + query / ${tile.heads}u) * ${heads}u + head + query % ${tile.heads}u;
    ${
      split
        ? `let to = (at * ${chunks}u + begin / ${CHUNK}u) * ${d4 + 1}u;
    result[to + i % ${d4}u] = values[i];
    if (i % ${d4}u == 0u) { result[to + ${d4}u] = vec4f(state[query], 0.0, 0.0); }`
        : `result[at * ${d4}u + i % ${d4}u] = values[i] / state[query].y;`
    }
  }
}`;
  return defineKernel({
    label: `paged attention${split ? ' in parts' : ''}`,
    // These two are no constants, because drivers unroll loops with constant bounds: LLVM needed minutes for that.
    dims: { rows: 'Rows', d4: 'u32', share: 'u32' },
    reads: { qk: 'vec4f', slotOf: 'u32', positions: 'u32', pageTable: 'u32', kCache: element, vCache: element },
    writes: { result: 'vec4f' },
    subgroups: tile.quad,
    body,
  });
}

/** Merges the parts of all chunks, in order. A thread computes one vec4 of `out`. */
function mergeKernel(p: KvCacheSizes, threads: number) {
  const d4 = p.headDim / 4;
  return defineKernel({
    label: 'merge paged attention',
    dims: { rows: 'Rows' },
    reads: { positions: 'u32', parts: 'vec4f' },
    writes: { out: 'vec4f' },
    body: /* wgsl */ `${MERGE_WGSL}
@compute @workgroup_size(${threads}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let i = ${GRID_INDEX_WGSL} * ${threads}u + thread;
  if (i >= row_count() * ${p.heads * d4}u) { return; }
  let chunks = (min(positions[i / ${p.heads * d4}u] + 1u, ${p.pageSize * p.pagesPerSlot}u) + ${CHUNK - 1}u) / ${CHUNK}u;
  var top = ${NO_TOP}; var total = 0.0; var sum = vec4f();
  for (var c = 0u; c < chunks; c++) {
    let at = (i / ${d4}u * ${chunksOf(p)}u + c) * ${d4 + 1}u;
    let part = parts[at + ${d4}u];
    let next = max(top, part.x);
    sum = merge(sum, fade(top, next), parts[at + i % ${d4}u], fade(part.x, next));
    total = merge(vec4f(total), fade(top, next), vec4f(part.y), fade(part.x, next)).x;
    top = next;
  }
  out[i] = sum / total;
}`,
  });
}

/** With `parts`, a run of few workgroups gives each chunk a workgroup of its own. */
export function chunkAttention(
  gpu: Gpu,
  { parts, ...t }: PagedAttentionTensors,
  p: KvCacheSizes,
  tuning: ChunkAttentionTuning,
): Dispatch[] {
  const tile = chunkTile(tuning, p);
  const wholeKernel = chunkKernel(p, tile, false);
  const dims = (rows: Rows) => ({ rows, d4: p.headDim / 4, share: shareOf(tile) });
  const groups = (rows: Rows, run: Counts): number => Math.ceil(rowCount(rows, run) / tile.tokens) * (p.heads / tile.heads);
  const chunks = ({ longest = 0 }: Counts): number => Math.ceil(longest / CHUNK);
  const most = parts ? Math.floor(parts.size / tokenPartBytes(p)) : 0;
  // All ranges of a run take the same kernel.
  const isSplit = (run: Counts): boolean => rowCount(p.tokens, run) <= most && groups(p.tokens, run) < tuning.splitBelow && chunks(run) > 1;
  const ranges = (build: (rows: Rows) => Dispatch): Dispatch[] =>
    tokenRanges({ ...p, longest: p.pageSize * p.pagesPerSlot }, { tile: tile.tokens, products: 2, meets: 'longest' }, build);
  const whole = ranges((rows) =>
    gpu.dispatch(wholeKernel, { ...t, result: t.out, dims: dims(rows) }, (run) => (isSplit(run) ? [0] : grid(groups(rows, run), 1))),
  );
  if (!parts) return whole;
  const splitKernel = chunkKernel(p, tile, true);
  const { threads } = gpu.tuning;
  const { out, positions, counts } = t;
  return [
    ...whole,
    ...ranges((rows) =>
      gpu.dispatch(splitKernel, { ...t, result: parts, dims: dims(rows) }, (run) =>
        isSplit(run) ? grid(groups(rows, run) * chunks(run), 1) : [0],
      ),
    ),
    // Reads `parts` once, which is little work.
    gpu.dispatch(mergeKernel(p, threads), { out, positions, counts, parts, dims: { rows: p.tokens } }, (run) =>
      isSplit(run) ? grid((rowCount(p.tokens, run) * p.heads * p.headDim) / 4, threads) : [0],
    ),
  ];
}
