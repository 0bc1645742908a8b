/**
 * Paged attention for CPU adapters (see paged-attention.ts). It needs few barriers, which are slow there.
 *
 * A workgroup serves one token, or a few neighbouring tokens of one slot, which then share every load. Each thread takes every
 * `threads`-th key and keeps its own running softmax. The results of the threads are merged at the end. Which thread takes a key, and in
 * which order, depends only on positions. So a token's result has the same bits in every batch.
 */
import type { Dispatch, Gpu } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { grid, GRID_INDEX_WGSL, rowCount } from '../rows.ts';
import { tokenRanges } from '../token-ranges.ts';
import type { KeyAttentionTuning } from '../tuning.ts';
import { LOG2E } from './attention-shape.ts';
import { repeat } from './unroll.ts';
import type { KvCacheSizes, PagedAttentionTensors } from './kv-cache.ts';
import { KV } from './kv-format.ts';

export interface KeyTile {
  threads: number;
  /** Number of query heads that a thread serves. They share one kv head. */
  heads: number;
  /** Number of neighbouring tokens of one slot that a workgroup serves together. */
  tokens: number;
  /** Number of keys that a thread takes between two updates of its running maximum. */
  keys: number;
  /** The lanes of a quad merge their results with quadSwap (needs the `subgroups` feature). */
  quad: boolean;
}

export function keyTile(tuning: KeyAttentionTuning, p: { heads: number; kvHeads: number; headDim: number }): KeyTile {
  const { threads, floats, quad } = tuning;
  const group = p.heads / p.kvHeads;
  const queries = Math.max(1, Math.floor(floats / p.headDim));
  const heads = Math.max(...Array.from({ length: group }, (_, i) => i + 1).filter((h) => group % h === 0 && h <= queries));
  return { threads, heads, tokens: Math.min(4, Math.max(1, Math.floor(queries / heads))), keys: 2, quad };
}

/**
 * The kernel that serves `count` tokens together. If `count` is `tile.tokens`, it serves the tiles whose tokens are all of one slot. If
 * `count` is 1, it serves the tokens of the other tiles one by one. A query is one head of one token.
 */
function keyKernel(p: KvCacheSizes, tile: KeyTile, count: number) {
  const d4 = p.headDim / 4;
  const { threads, quad, keys } = tile;
  const { element, wgsl, unpack } = KV[p.format];
  const partials = quad ? threads / 4 : threads;
  const capacity = p.pageSize * p.pagesPerSlot;
  const onePage = p.pageSize % (threads * keys) === 0; // a block of keys lies in one page, so it needs one look-up

  /** WGSL that serves the tokens `first` … `first + count - 1`, all of one slot. */
  const serve = (): string => {
    const queries = count * tile.heads;
    const eachQuery = (text: (r: number, token: number) => string): string => repeat(queries, (r) => text(r, Math.floor(r / tile.heads)));
    const merged = (name: string, op: (a: string, b: string) => string): string =>
      quad ? `{ let x = ${name}; let y = ${op('x', 'quadSwapX(x)')}; ${name} = ${op('y', 'quadSwapY(y)')}; }` : '';
    return `
    var longest = 0u;
    ${repeat(count, (i) => `let len${i} = min(positions[first + ${i}u] + 1u, ${capacity}u); longest = max(longest, len${i});`)}
    ${eachQuery(
      (
        r,
        i,
      ) => `${repeat(d4, (d) => `let q${r}_${d} = qk[(first + ${i}u) * ${(p.heads + p.kvHeads) * d4}u + (head + ${r % tile.heads}u) * ${d4}u + ${d}u] * ${LOG2E / Math.sqrt(p.headDim)}; var o${r}_${d} = vec4f();`, ' ')}
    var m${r} = -1e30; var l${r} = 0.0;`,
    )}
    for (var j = 0u; j < longest; j += ${threads * keys}u) {
      ${onePage ? `let page = pageTable[pages + j / ${p.pageSize}u] * ${p.pageSize}u + j % ${p.pageSize}u - j;` : ''}
      ${repeat(
        keys,
        (u) => `let key${u} = j + ${u * threads}u + thread; let in${u} = min(key${u}, longest - 1u);
      let at${u} = (${onePage ? `page + in${u}` : `pageTable[pages + in${u} / ${p.pageSize}u] * ${p.pageSize}u + in${u} % ${p.pageSize}u`}) * ${p.kvHeads * d4}u + kv;`,
      )}
      ${eachQuery((r) => repeat(keys, (u) => `var s${r}_${u} = 0.0;`, ' '))}
      ${repeat(
        d4,
        (d) => `{ ${repeat(keys, (u) => `let k${u} = ${unpack(`kCache[at${u} + ${d}u]`)};`, ' ')}
        ${eachQuery((r) => repeat(keys, (u) => `s${r}_${u} += dot(q${r}_${d}, k${u});`, ' '))} }`,
      )}
      ${eachQuery(
        (r, i) => `${repeat(keys, (u) => `s${r}_${u} = select(-3e30, s${r}_${u}, key${u} < len${i});`, ' ')}
      let top${r} = max(m${r}, ${keys === 1 ? `s${r}_0` : repeat(keys - 1, (u) => `max(s${r}_${u}, `, '') + `s${r}_${keys - 1}` + ')'.repeat(keys - 1)});
      let fade${r} = exp2(m${r} - top${r}); m${r} = top${r}; l${r} *= fade${r};
      ${repeat(keys, (u) => `let p${r}_${u} = select(0.0, exp2(s${r}_${u} - m${r}), key${u} < len${i}); l${r} += p${r}_${u};`)}`,
      )}
      ${repeat(
        d4,
        (d) => `{ ${repeat(keys, (u) => `let v${u} = ${unpack(`vCache[at${u} + ${d}u]`)};`, ' ')}
        ${eachQuery((r) => `o${r}_${d} *= fade${r}; ${repeat(keys, (u) => `o${r}_${d} = fma(vec4f(p${r}_${u}), v${u}, o${r}_${d});`, ' ')}`)} }`,
      )}
    }
    ${eachQuery(
      (r, i) => `{
      ${
        quad
          ? `var top = m${r}; ${merged('top', (a, b) => `max(${a}, ${b})`)}
      let fade = exp2(m${r} - top); m${r} = top; l${r} *= fade; ${merged(`l${r}`, (a, b) => `(${a} + ${b})`)}
      ${repeat(d4, (d) => `o${r}_${d} *= fade; ${merged(`o${r}_${d}`, (a, b) => `(${a} + ${b})`)}`)}`
          : ''
      }
      let to = ((first + ${i}u) * ${p.heads}u + head + ${r % tile.heads}u) * ${d4}u;
      ${
        partials === 1
          ? repeat(d4, (d) => `if (thread == ${d % 4}u) { out[to + ${d}u] = o${r}_${d} / l${r}; }`)
          : `${repeat(d4, (d) => `if (thread % ${threads / partials}u == ${d % (threads / partials)}u) { part[thread / ${threads / partials}u * ${d4}u + ${d}u] = o${r}_${d}; }`)}
      if (thread % ${threads / partials}u == 0u) { part_ml[thread / ${threads / partials}u] = vec2f(m${r}, l${r}); }
      workgroupBarrier();
      var top_all = part_ml[0].x;
      for (var i = 1u; i < ${partials}u; i++) { top_all = max(top_all, part_ml[i].x); }
      var total = 0.0;
      for (var i = 0u; i < ${partials}u; i++) { total += part_ml[i].y * exp2(part_ml[i].x - top_all); }
      for (var d = thread; d < ${d4}u; d += ${threads}u) {
        var sum = vec4f();
        for (var i = 0u; i < ${partials}u; i++) { sum += part[i * ${d4}u + d] * exp2(part_ml[i].x - top_all); }
        out[to + d] = sum / total;
      }
      workgroupBarrier();`
      }
    }`,
    )}`;
  };

  const body = /* wgsl */ `${wgsl}
${partials > 1 ? `var<workgroup> part: array<vec4f, ${partials * d4}>; var<workgroup> part_ml: array<vec2f, ${partials}>;` : ''}
@compute @workgroup_size(${threads}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = dims.rows.base + row_count();
  let index = ${GRID_INDEX_WGSL};
  let first = dims.rows.base + index / ${p.heads / tile.heads}u * ${count}u;
  let head = index % ${p.heads / tile.heads}u * ${tile.heads}u;
  let kv = head / ${p.heads / p.kvHeads}u * ${d4}u;
  if (first >= n) { return; }
  let slot = slotOf[first];
  let pages = slot * ${p.pagesPerSlot}u;
  ${
    tile.tokens === 1
      ? ''
      : `let tile = first - first % ${tile.tokens}u;
  var together = tile + ${tile.tokens}u <= n;
  for (var t = tile; t < min(tile + ${tile.tokens}u, n); t++) { together = together && slotOf[t] == slot; }
  if (${count === 1 ? '' : '!'}together) { return; }`
  }
  ${serve()}
}`;
  return defineKernel({
    label: `paged attention x${count}`,
    dims: { rows: 'Rows' },
    reads: { qk: 'vec4f', slotOf: 'u32', positions: 'u32', pageTable: 'u32', kCache: element, vCache: element },
    writes: { out: 'vec4f' },
    subgroups: quad,
    body,
  });
}

export function keyAttention(gpu: Gpu, { parts: _, ...t }: PagedAttentionTensors, p: KvCacheSizes, tuning: KeyAttentionTuning): Dispatch[] {
  const tile = keyTile(tuning, p);
  const longest = p.pageSize * p.pagesPerSlot;
  return (tile.tokens === 1 ? [1] : [tile.tokens, 1]).flatMap((count) => {
    const kernel = keyKernel(p, tile, count);
    return tokenRanges({ ...p, longest }, { tile: tile.tokens, products: 2, meets: 'longest' }, (rows) =>
      gpu.dispatch(kernel, { ...t, dims: { rows } }, (counts) =>
        grid(Math.ceil(rowCount(rows, counts) / count) * (p.heads / tile.heads), 1),
      ),
    );
  });
}
