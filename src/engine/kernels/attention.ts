/**
 * Causal grouped-query attention over a packed batch (FlashAttention-2, Dao 2023: no score matrix is stored).
 *
 * One thread owns a few query rows of one head and keeps their q and running output in registers; keys pass by in
 * blocks of four. With subgroups the four lanes of a quad load one key each and hand it round with quadSwap, so one load
 * serves 4 × rows multiply-adds; wide heads are split over the quad instead; without subgroups every lane loads all
 * four. Text is unrolled: indices known at compile time keep everything in registers.
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
  /**
   * What the four lanes of a quad do together (all but `none` need the `subgroups` feature). `share`: each has its own
   * rows and loads one of four keys for all. `split`: they share rows, each holding a quarter of head_dim: for wide heads.
   */
  quad: 'none' | 'share' | 'split';
}

/** Rows of a workgroup. */
export function tileRows(tile: AttentionTile): number {
  return (tile.threads * tile.rows) / (tile.quad === 'split' ? 4 : 1);
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
  const split = info.subgroupSize >= 4 && headDim >= 64 && headDim % 16 === 0;
  const budget = info.software && !split ? 256 : 128;
  const rows = Math.max(1, Math.min(8, Math.floor(budget / (vectors * (split ? headDim / 4 : headDim)))));
  const share = info.software && info.subgroupSize >= 4;
  return { threads: info.software ? 4 : 32, rows, quad: split ? 'split' : share ? 'share' : 'none' };
}

export const repeat = (n: number, text: (i: number) => string, joint = '\n'): string => Array.from({ length: n }, (_, i) => text(i)).join(joint);

/** The text of a tile: how its rows and the vectors of a row lie on lanes. */
export class TileText {
  readonly share: boolean;
  readonly split: boolean;
  /** vec4s of a head_dim vector that one thread holds. */
  readonly vectors: number;
  /** Addresses a thread needs for a block of four items. */
  readonly addresses: number;

  constructor(readonly tile: AttentionTile, headDim: number) {
    this.share = tile.quad === 'share';
    this.split = tile.quad === 'split';
    this.vectors = headDim / 4 / (this.split ? 4 : 1);
    this.addresses = this.share ? 1 : 4;
  }

  eachRow(text: (r: number) => string): string {
    return repeat(this.tile.rows, text);
  }
  row(r: number): string {
    const lanes = this.split ? 4 : 1;
    return `first + ${(r * this.tile.threads) / lanes}u + thread / ${lanes}u`;
  }
  /** Place of the thread's d-th vec4 in its head_dim vector. */
  at(d: number): string {
    return this.split ? `${4 * d}u + lane` : `${d}u`;
  }
  /** Index of the t-th item of the block at `j`; by swapping, lane l gets item l ^ t. */
  item(t: number): string {
    return this.share ? (t === 0 ? '(j + lane)' : `(j + (lane ^ ${t}u))`) : `(j + ${t}u)`;
  }
  /** Declares `into`0…3, one for each item of a block: `own` handed round the quad, or the text of four loads. */
  four(into: string, own: string, direct: (t: number) => string): string {
    return repeat(4, (t) => `let ${into}${t} = ${this.share ? (t === 0 ? own : `${SWAPS[t]}(${own})`) : direct(t)};`, ' ');
  }
  /** Completes dot products over head_dim that lanes hold in parts. */
  sum(...names: string[]): string {
    return this.split ? names.map((name) => `${name} += quadSwapX(${name}); ${name} += quadSwapY(${name});`).join(' ') : '';
  }
  /** Condition for a value of a whole row to be stored once. */
  get leader(): string {
    return this.split ? 'lane == 0u' : 'true';
  }
  get enable(): string {
    return this.tile.quad === 'none' ? '' : 'enable subgroups;';
  }
  /**
   * Everything before the body of `main`, and its start: `first`…`last` are the tile's rows, `lane` the place in the quad.
   * @param buffers element types by name, bound from 2 on in this order
   * @param written how many of them, the last, are written
   */
  main(buffers: Record<string, 'f32' | 'vec4f' | 'vec4u'>, written: number): string {
    const names = Object.keys(buffers);
    return /* wgsl */ `${this.enable}
${ROWS_WGSL}
@group(0) @binding(0) var<uniform> dims: vec4u;
@group(0) @binding(1) var<uniform> counts: Counts;
${names.map((name, i) => `@group(0) @binding(${i + 2}) var<storage, ${i < names.length - written ? 'read' : 'read_write'}> ${name}: array<${buffers[name]}>;`).join('\n')}
@compute @workgroup_size(${this.tile.threads}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32${this.enable && ', @builtin(subgroup_invocation_id) sg: u32'}) {
  ${this.enable && 'let lane = sg & 3u;'}
  let n = row_count(dims, counts);
  let first = wg.x * ${tileRows(this.tile)}u;
  let last = min(first + ${tileRows(this.tile)}u, n);`;
  }
}
const SWAPS = ['', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'];

/**
 * The head of a kernel whose rows are queries: the keys of their prefixes lie in prefix_start…prefix_end, their own from
 * own_start on.
 */
export function queryRows(heads: number, kvHeads: number, d4: number): string {
  return /* wgsl */ `
  let head = wg.y;
  let kcol = ${heads * d4}u + head / ${heads / kvHeads}u * ${d4}u;
  let vcol = kcol + ${kvHeads * d4}u;
  var prefix_start = n;
  var prefix_end = 0u;
  for (var t = first; t < last; t++) {
    let span = spans[t];
    if (span.x < span.y) { prefix_start = min(prefix_start, span.x); prefix_end = max(prefix_end, span.y); }
  }
  let own_start = spans[first].z;`;
}

/** Opens a loop over blocks of four keys from `j`, prefix first; row r sees keys lo_r…lo_r + len_r. Two braces close it. */
export function eachKeyBlock(text: TileText): string {
  return /* wgsl */ `
  for (var phase = 0u; phase < 2u; phase++) {
    let own = phase == 1u;
    let lo = select(prefix_start, own_start, own);
    let hi = select(prefix_end, last, own);
    ${text.eachRow((r) => `let lo${r} = select(span${r}.x, span${r}.z, own);
    let len${r} = select(select(span${r}.y, row${r} + 1u, own) - lo${r}, 0u, row${r} >= n);`)}
    for (var j = lo; j < hi; j += 4u) {`;
}

function forwardWgsl(heads: number, kvHeads: number, headDim: number, tile: AttentionTile): string {
  const d4 = headDim / 4;
  const text = new TileText(tile, headDim);
  const own = text.vectors;
  const scale = LOG2E / Math.sqrt(headDim);
  return /* wgsl */ `${text.main({ qk: 'vec4f', qkv: 'vec4f', spans: 'vec4u', out: 'vec4f', lse: 'f32' }, 2)}${queryRows(heads, kvHeads, d4)}
  ${text.eachRow((r) => `
  let row${r} = ${text.row(r)};
  let span${r} = select(vec4u(), spans[row${r}], row${r} < n);
  ${repeat(own, (d) => `let q${r}_${d} = qk[row${r} * ${(heads + kvHeads) * d4}u + head * ${d4}u + ${text.at(d)}] * ${scale}; var o${r}_${d} = vec4f();`)}
  var m${r} = -1e30; var l${r} = 0.0;`)}${eachKeyBlock(text)}
      ${repeat(text.addresses, (t) => `let key${t} = min(${text.item(t)}, hi - 1u); let k_at${t} = key${t} * ${(heads + kvHeads) * d4}u + kcol; let v_at${t} = key${t} * ${(heads + 2 * kvHeads) * d4}u + vcol;`)}
      ${text.eachRow((r) => `var s${r}_0 = 0.0; var s${r}_1 = 0.0; var s${r}_2 = 0.0; var s${r}_3 = 0.0;`)}
      ${repeat(own, (d) => `{ ${text.share ? `let k = qk[k_at0 + ${text.at(d)}]; ` : ''}${text.four('k', 'k', (t) => `qk[k_at${t} + ${text.at(d)}]`)}
        ${text.eachRow((r) => repeat(4, (t) => `s${r}_${t} += dot(q${r}_${d}, k${t});`, ' '))} }`)}
      ${text.eachRow((r) => `${text.sum(...[0, 1, 2, 3].map((t) => `s${r}_${t}`))}
      ${repeat(4, (t) => `let seen${r}_${t} = ${text.item(t)} - lo${r} < len${r}; s${r}_${t} = select(-3e30, s${r}_${t}, seen${r}_${t});`)}
      var top${r} = max(max(s${r}_0, s${r}_1), max(s${r}_2, s${r}_3));
      top${r} = max(top${r}, m${r});
      let fade${r} = exp2(m${r} - top${r}); m${r} = top${r};
      ${repeat(4, (t) => `let p${r}_${t} = exp2(s${r}_${t} - m${r});`)}
      l${r} = l${r} * fade${r} + (p${r}_0 + p${r}_1) + (p${r}_2 + p${r}_3);`)}
      ${repeat(own, (d) => `{ ${text.share ? `let v = qkv[v_at0 + ${text.at(d)}]; ` : ''}${text.four('v', 'v', (t) => `qkv[v_at${t} + ${text.at(d)}]`)}
        ${text.eachRow((r) => `o${r}_${d} = o${r}_${d} * fade${r} + (${repeat(4, (t) => `p${r}_${t} * v${t}`, ' + ')});`)} }`)}
    }
  }
  ${text.eachRow((r) => `if (row${r} < n) {
    let scale = 1.0 / l${r};
    ${repeat(own, (d) => `out[(row${r} * ${heads}u + head) * ${d4}u + ${text.at(d)}] = o${r}_${d} * scale;`)}
    if (${text.leader}) { lse[row${r} * ${heads}u + head] = (m${r} + log2(l${r})) * ${Math.LN2}; }
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
      Math.ceil(rowCount(p.tokens, counts) / tileRows(tile)), p.heads,
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
