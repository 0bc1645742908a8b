/**
 * Causal grouped-query attention over a packed batch (FlashAttention-2, Dao 2023: no score matrix is stored).
 *
 * One thread owns a few query rows of one head and keeps their q and running output in registers; keys pass by in
 * blocks of four. With subgroups the four lanes of a quad load one key each and hand it round with quadSwap, so one load
 * serves 4 × rows multiply-adds; without, every lane loads all four. Text is unrolled: indices known at compile time keep
 * everything in registers.
 */
import { type Dispatch, type Gpu, type GpuInfo, rowCount, rowWords, type Rows, ROWS_WGSL, type View } from '../gpu.ts';

export interface AttentionSizes {
  tokens: Rows;
  heads: number;
  kvHeads: number;
  /** A multiple of 4. */
  headDim: number;
}

export interface AttentionTensors {
  /** [tokens, (heads + kvHeads)·headDim] q and k after norm and RoPE. */
  qk: View;
  /** [tokens, (heads + 2·kvHeads)·headDim]; only the v columns, the last, are read. */
  qkv: View;
  /** [tokens] vec4u: prefixStart, prefixEnd, start, queryEnd. */
  spans: View;
  /** [tokens, heads·headDim] */
  out: View;
  /** [tokens, heads] natural log-sum-exp of the scaled scores. */
  lse: View;
  counts: View;
}

/** How the rows of a tile lie on threads. */
export interface AttentionTile {
  /** Threads of a workgroup; a multiple of 4. */
  threads: number;
  /** Rows a thread keeps in registers. */
  rows: number;
  /** Share loads within a quad (needs the `subgroups` feature). */
  quad: boolean;
}

export const LOG2E = Math.LOG2E;

/** @throws RangeError naming the size that is not usable. */
export function checkAttentionSizes({ heads, kvHeads, headDim }: Omit<AttentionSizes, 'tokens'>): void {
  if (headDim <= 0 || headDim % 4 !== 0) throw new RangeError(`headDim ${headDim}: expected a positive multiple of 4`);
  if (kvHeads <= 0 || heads % kvHeads !== 0) throw new RangeError(`heads ${heads}: expected a multiple of kvHeads (${kvHeads})`);
}

/**
 * `vectors`: how many head_dim vectors a row keeps in registers. A CPU spills registers to its first cache, so many are
 * fine there; a hardware thread has at most 255.
 */
export function attentionTile(info: GpuInfo, headDim: number, vectors: number): AttentionTile {
  const budget = info.software ? 256 : 128;
  const rows = Math.max(1, Math.min(8, Math.floor(budget / (vectors * headDim))));
  return { threads: info.software ? 4 : 32, rows, quad: info.software && info.subgroupSize >= 4 };
}

export const repeat = (n: number, text: (i: number) => string, joint = '\n'): string => Array.from({ length: n }, (_, i) => text(i)).join(joint);

const SWAPS = ['', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'];
/** WGSL that brings vector `name` (element index text `at` + key · `stride`) of keys j+0…j+3 into `into`0…3, in some order. */
export function loadFour(quad: boolean, into: string, own: string, direct: (t: number) => string): string {
  return repeat(4, (t) => `let ${into}${t} = ${quad ? (t === 0 ? own : `${SWAPS[t]}(${own})`) : direct(t)};`, ' ');
}

/** Declarations shared by the attention kernels: `lane` (0…3 within the quad) and the start of `main`. */
export function mainHead(tile: AttentionTile): string {
  return /* wgsl */ `
@compute @workgroup_size(${tile.threads}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32${tile.quad ? ', @builtin(subgroup_invocation_id) sg: u32' : ''}) {
  let lane = ${tile.quad ? 'sg & 3u' : '0u'};
  let n = row_count(dims, counts);
  let first = wg.x * ${tile.threads * tile.rows}u;
  let last = min(first + ${tile.threads * tile.rows}u, n);`;
}
/** Item t of a block of four that starts at `j`: which one a quad's lane gets after swap t. */
export const item = (t: number): string => (t === 0 ? '(j + lane)' : `(j + (lane ^ ${t}u))`);
export const itemOf = (tile: AttentionTile, t: number): string => (tile.quad ? item(t) : `(j + ${t}u)`);

function forwardWgsl(heads: number, kvHeads: number, headDim: number, tile: AttentionTile): string {
  const d4 = headDim / 4;
  const { rows, threads, quad } = tile;
  const eachRow = (text: (r: number) => string): string => repeat(rows, text);
  const scale = LOG2E / Math.sqrt(headDim);
  return /* wgsl */ `${quad ? 'enable subgroups;' : ''}
${ROWS_WGSL}
@group(0) @binding(0) var<uniform> dims: vec4u;
@group(0) @binding(1) var<uniform> counts: Counts;
@group(0) @binding(2) var<storage, read> qk: array<vec4f>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read> spans: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> lse: array<f32>;
${mainHead(tile)}
  let head = wg.y;
  let kcol = ${heads * d4}u + head / ${heads / kvHeads}u * ${d4}u;
  let vcol = kcol + ${kvHeads * d4}u;
  var prefix_start = n;
  var prefix_end = 0u;
  for (var t = first; t < last; t++) {
    let span = spans[t];
    if (span.x < span.y) { prefix_start = min(prefix_start, span.x); prefix_end = max(prefix_end, span.y); }
  }
  let own_start = spans[first].z;
  ${eachRow((r) => `
  let row${r} = first + ${r * threads}u + thread;
  let span${r} = select(vec4u(), spans[row${r}], row${r} < n);
  ${repeat(d4, (d) => `let q${r}_${d} = qk[row${r} * ${(heads + kvHeads) * d4}u + head * ${d4}u + ${d}u] * ${scale}; var o${r}_${d} = vec4f();`)}
  var m${r} = -1e30; var l${r} = 0.0;`)}
  for (var phase = 0u; phase < 2u; phase++) {
    let own = phase == 1u;
    let lo = select(prefix_start, own_start, own);
    let hi = select(prefix_end, last, own);
    ${eachRow((r) => `let lo${r} = select(span${r}.x, span${r}.z, own);
    let len${r} = select(select(span${r}.y, row${r} + 1u, own) - lo${r}, 0u, row${r} >= n);`)}
    for (var j = lo; j < hi; j += 4u) {
      ${repeat(quad ? 1 : 4, (t) => `let key${t} = min(${itemOf(tile, t)}, hi - 1u); let k_at${t} = key${t} * ${(heads + kvHeads) * d4}u + kcol; let v_at${t} = key${t} * ${(heads + 2 * kvHeads) * d4}u + vcol;`)}
      ${eachRow((r) => `var s${r}_0 = 0.0; var s${r}_1 = 0.0; var s${r}_2 = 0.0; var s${r}_3 = 0.0;`)}
      ${repeat(d4, (d) => `{ ${quad ? `let k = qk[k_at0 + ${d}u]; ` : ''}${loadFour(quad, 'k', 'k', (t) => `qk[k_at${t} + ${d}u]`)}
        ${eachRow((r) => repeat(4, (t) => `s${r}_${t} += dot(q${r}_${d}, k${t});`, ' '))} }`)}
      ${eachRow((r) => `
      ${repeat(4, (t) => `let seen${r}_${t} = ${itemOf(tile, t)} - lo${r} < len${r}; s${r}_${t} = select(-3e30, s${r}_${t}, seen${r}_${t});`)}
      var top${r} = max(max(s${r}_0, s${r}_1), max(s${r}_2, s${r}_3));
      top${r} = max(top${r}, m${r});
      let fade${r} = exp2(m${r} - top${r}); m${r} = top${r};
      ${repeat(4, (t) => `let p${r}_${t} = exp2(s${r}_${t} - m${r});`)}
      l${r} = l${r} * fade${r} + (p${r}_0 + p${r}_1) + (p${r}_2 + p${r}_3);`)}
      ${repeat(d4, (d) => `{ ${quad ? `let v = qkv[v_at0 + ${d}u]; ` : ''}${loadFour(quad, 'v', 'v', (t) => `qkv[v_at${t} + ${d}u]`)}
        ${eachRow((r) => `o${r}_${d} = o${r}_${d} * fade${r} + (${repeat(4, (t) => `p${r}_${t} * v${t}`, ' + ')});`)} }`)}
    }
  }
  ${eachRow((r) => `if (row${r} < n) {
    let scale = 1.0 / l${r};
    ${repeat(d4, (d) => `out[(row${r} * ${heads}u + head) * ${d4}u + ${d}u] = o${r}_${d} * scale;`)}
    lse[row${r} * ${heads}u + head] = (m${r} + log2(l${r})) * ${Math.LN2};
  }`)}
}`;
}

/** out = softmax(q kᵀ / √headDim) v over each token's span; keeps lse for the backward pass. */
export function attention(gpu: Gpu, t: AttentionTensors, p: AttentionSizes, tile = attentionTile(gpu.info, p.headDim, 2)): Dispatch[] {
  checkAttentionSizes(p);
  const wgsl = forwardWgsl(p.heads, p.kvHeads, p.headDim, tile);
  const kernel = gpu.kernel('attention', wgsl, ['uniform', 'uniform', 'read', 'read', 'read', 'read_write', 'read_write']);
  const dims = gpu.uniform('attention dims', rowWords(p.tokens));
  return [
    gpu.dispatch(kernel, [dims, t.counts, t.qk, t.qkv, t.spans, t.out, t.lse], (counts) => [
      Math.ceil(rowCount(p.tokens, counts) / (tile.threads * tile.rows)), p.heads,
    ]),
  ];
}

/** The keys that packed token `t` attends to, by its span. */
export function* attendedKeys(spans: ArrayLike<number>, t: number): Generator<number> {
  for (let key = spans[4 * t]!; key < spans[4 * t + 1]!; key++) yield key;
  for (let key = spans[4 * t + 2]!; key <= t; key++) yield key;
}

/** The same mathematics in float64: returns out [T, heads·headDim] and lse [T, heads]. */
export function attentionReference(
  t: { qk: Float64Array; qkv: Float64Array; spans: ArrayLike<number> },
  p: Omit<AttentionSizes, 'tokens'>,
): { out: Float64Array; lse: Float64Array } {
  const { heads, kvHeads, headDim } = p;
  const kStride = (heads + kvHeads) * headDim;
  const vStride = (heads + 2 * kvHeads) * headDim;
  const tokens = t.qk.length / kStride;
  const out = new Float64Array(tokens * heads * headDim);
  const lse = new Float64Array(tokens * heads);
  for (let row = 0; row < tokens; row++) {
    const keys = [...attendedKeys(t.spans, row)];
    for (let head = 0; head < heads; head++) {
      const kv = Math.floor((head * kvHeads) / heads) * headDim;
      const scores = keys.map((key) => {
        let sum = 0;
        for (let d = 0; d < headDim; d++) sum += t.qk[row * kStride + head * headDim + d]! * t.qk[key * kStride + heads * headDim + kv + d]!;
        return sum / Math.sqrt(headDim);
      });
      const max = Math.max(...scores);
      const total = scores.reduce((sum, s) => sum + Math.exp(s - max), 0);
      lse[row * heads + head] = max + Math.log(total);
      keys.forEach((key, i) => {
        const weight = Math.exp(scores[i]! - max) / total;
        for (let d = 0; d < headDim; d++) out[(row * heads + head) * headDim + d]! += weight * t.qkv[key * vStride + (heads + kvHeads) * headDim + kv + d]!;
      });
    }
  }
  return { out, lse };
}
