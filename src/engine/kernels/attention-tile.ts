/**
 * The tiles of packed attention: how threads divide tokens, keys and head_dim, and the WGSL that depends on this division.
 *
 * A thread owns a few tokens of one head, and keeps their vectors (such as q and the running output) in registers. It visits the items of
 * the other side in blocks of four. If its tokens are queries, these items are keys. If its tokens are keys, as in one backward kernel,
 * the items are queries. The WGSL is unrolled: all register indices are constants, so no value is spilled to indexed memory.
 */
import type { AttentionTuning } from '../tuning.ts';

export interface AttentionTile {
  /** Threads of a workgroup; a multiple of 4. */
  threads: number;
  /** Tokens that a thread keeps in registers. */
  tokens: number;
  /**
   * What the four lanes of a quad divide among them. They exchange values with quadSwap, which needs the `subgroups` feature.
   * `keys`: the lanes have different tokens, and each loads one of four keys for all lanes. `headDim`: the lanes have the same tokens,
   * and each holds a quarter of head_dim.
   */
  quad: 'none' | 'keys' | 'headDim';
  /**
   * Number of items of the other side that a workgroup copies to workgroup memory at a time, a multiple of 4. With 0, each thread loads
   * the items from storage. It must be 0 with `quad: 'keys'`.
   */
  staged: number;
}

/** Bytes of workgroup memory that every WebGPU device has. */
const WORKGROUP_BYTES = 16384;
const MOST_STAGED = 32;

/** @param vectors number of head_dim vectors that a thread keeps in registers for each token */
function attentionTile(tuning: AttentionTuning, headDim: number, vectors: number): AttentionTile {
  const { threads, floats, shareKeys, divideHeadDim, stage } = tuning;
  const divided = divideHeadDim && headDim >= 64 && headDim % 16 === 0;
  const budget = divided ? Math.min(128, floats) : floats;
  const tokens = Math.max(1, Math.min(8, Math.floor(budget / (vectors * (divided ? headDim / 4 : headDim)))));
  const quad = divided ? 'headDim' : shareKeys ? 'keys' : 'none';
  // Workgroup memory holds two vectors of each item, for example k and v.
  const room = 4 * Math.floor(WORKGROUP_BYTES / (4 * 2 * headDim * 4));
  return { threads, tokens, quad, staged: stage && quad !== 'keys' ? Math.min(MOST_STAGED, room) : 0 };
}

/** The tiles of the forward kernel, and of the two backward kernels: the tokens of `query` are queries, those of `key` are keys. */
export const attentionTiles = (tuning: AttentionTuning, headDim: number): Record<'forward' | 'query' | 'key', AttentionTile> => ({
  forward: attentionTile(tuning, headDim, 2),
  query: attentionTile(tuning, headDim, 3),
  key: attentionTile(tuning, headDim, 4),
});

/** Tokens of a workgroup. */
export function tileTokens({ threads, tokens, quad }: AttentionTile): number {
  return (threads * tokens) / (quad === 'headDim' ? 4 : 1);
}

/** Joins the texts for each i from 0 to n - 1. */
export const repeat = (n: number, text: (i: number) => string, joint = '\n'): string =>
  Array.from({ length: n }, (_, i) => text(i)).join(joint);

const SWAPS = ['', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'];

/** Writes the WGSL of one tile. */
export class TileText {
  /** Each lane of a quad loads one key for all four lanes. */
  readonly share: boolean;
  readonly #divided: boolean;
  /** Number of vec4s of a head_dim vector that one thread holds. */
  readonly vectors: number;
  /** Number of addresses that a thread needs for a block of four items. */
  readonly addresses: number;

  readonly #d4: number;
  /** The buffers that `eachBlock` copies to workgroup memory. */
  readonly #staged = new Set<string>();

  constructor(
    readonly tile: AttentionTile,
    headDim: number,
  ) {
    this.#d4 = headDim / 4;
    this.share = tile.quad === 'keys';
    this.#divided = tile.quad === 'headDim';
    this.vectors = headDim / 4 / (this.#divided ? 4 : 1);
    this.addresses = this.share ? 1 : 4;
  }

  eachToken(text: (r: number) => string): string {
    return repeat(this.tile.tokens, text);
  }
  /** WGSL: index of the thread's r-th token. */
  token(r: number): string {
    const lanes = this.#divided ? 4 : 1;
    return `first + ${(r * this.tile.threads) / lanes}u + thread / ${lanes}u`;
  }
  /** WGSL: index of the thread's d-th vec4 in a head_dim vector. */
  at(d: number): string {
    return this.#divided ? `${4 * d}u + lane` : `${d}u`;
  }
  /** WGSL: the array from which a thread reads a tensor of the other side. */
  array(buffer: string): string {
    return this.tile.staged > 0 ? `tile_${buffer}` : buffer;
  }
  /** WGSL: the index at which an item's vector begins in `array`. `address` is its index in the storage buffer. */
  vector(item: string, address: string): string {
    return this.tile.staged > 0 ? `(${item} - base) * ${this.#d4}u` : address;
  }
  /**
   * WGSL: a loop over blocks of items, from `j` to `end`. `next` moves `j` to the next block to visit, and `body` handles the block. The
   * keys of `buffers` are the buffers to copy to workgroup memory, and each value gives the address of an item's vector. The blocks are
   * the same with and without this copy, so the results have the same bits.
   */
  eachBlock(
    { next = '', end, buffers }: { next?: string; end: string; buffers: Record<string, (item: string) => string> },
    body: string,
  ): string {
    const { staged, threads } = this.tile;
    if (staged === 0) return `for (; j < ${end}; j += 4u) {\n    ${next}${body}\n  }`;
    for (const buffer of Object.keys(buffers)) this.#staged.add(buffer);
    const copies = Object.entries(buffers).map(
      ([buffer, address]) => `tile_${buffer}[i] = ${buffer}[${address('item')} + i % ${this.#d4}u];`,
    );
    return /* wgsl */ `loop {
    ${next}
    if (j >= ${end}) { break; }
    let base = j;
    workgroupBarrier();
    for (var i = thread; i < ${staged * this.#d4}u; i += ${threads}u) {
      let item = min(base + i / ${this.#d4}u, ${end} - 1u);
      ${copies.join('\n      ')}
    }
    workgroupBarrier();
    loop {${body}
      j += 4u;
      ${next}
      if (j >= ${end} || j + 4u > base + ${staged}u) { break; }
    }
  }`;
  }
  /** WGSL: index of the t-th item of the block at `j`. With shared keys, the t-th item of lane l is item l ^ t of the block. */
  item(t: number): string {
    return this.share ? (t === 0 ? '(j + lane)' : `(j + (lane ^ ${t}u))`) : `(j + ${t}u)`;
  }
  /**
   * WGSL: declares the variables `into`0 … `into`3, one for each item of a block. With shared keys each lane loads `own`, and the lanes
   * exchange these values. Otherwise each thread makes the four loads `direct`.
   */
  four(into: string, own: string, direct: (t: number) => string): string {
    return repeat(4, (t) => `let ${into}${t} = ${this.share ? (t === 0 ? own : `${SWAPS[t]}(${own})`) : direct(t)};`, ' ');
  }
  /** WGSL: completes dot products over head_dim, by adding the parts that the four lanes have computed. */
  sum(...names: string[]): string {
    return this.#divided ? names.map((name) => `${name} += quadSwapX(${name}); ${name} += quadSwapY(${name});`).join(' ') : '';
  }
  /** WGSL: true in one of the threads that have the same token, so that only this thread stores a value that they all have. */
  get leader(): string {
    return this.#divided ? 'lane == 0u' : 'true';
  }
  get subgroups(): boolean {
    return this.tile.quad !== 'none';
  }
  /**
   * WGSL: the entry point. `body` can use `n` (the number of tokens), the tile's tokens `first` … `last` - 1, and `lane` (the thread's
   * place in its quad).
   */
  main(body: string): string {
    return /* wgsl */ `
${[...this.#staged].map((buffer) => `var<workgroup> tile_${buffer}: array<vec4f, ${this.tile.staged * this.#d4}>;`).join('\n')}
@compute @workgroup_size(${this.tile.threads}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32${this.subgroups ? ', @builtin(subgroup_invocation_id) sg: u32' : ''}) {
  ${this.subgroups ? 'let lane = sg & 3u;' : ''}
  let n = row_count();
  let first = wg.x * ${tileTokens(this.tile)}u;
  let last = min(first + ${tileTokens(this.tile)}u, n);${body}
}`;
  }
}

/** WGSL: the start of a body whose tokens are queries. */
export function queryTokens(heads: number, kvHeads: number, d4: number): string {
  return /* wgsl */ `
  let head = wg.y;
  let kcol = ${heads * d4}u + head / ${heads / kvHeads}u * ${d4}u;
  let vcol = kcol + ${kvHeads * d4}u;`;
}

/**
 * WGSL: a loop over blocks of four keys. It skips the subtrees that end before the tile. In `body`, `k_at` and `v_at` are the indices at
 * which the vectors of the block's keys begin, and the function `seen` below says which token attends to which key.
 */
export function eachKeyBlock(text: TileText, { kStride, vStride }: { kStride: number; vStride: number }, body: string): string {
  const [k, v] = [(key: string) => `${key} * ${kStride}u + kcol`, (key: string) => `${key} * ${vStride}u + vcol`];
  return /* wgsl */ `
  var j = 0u;
  ${text.eachBlock(
    { next: 'while (j < last && ends[j] <= first) { j = ends[j]; }', end: 'last', buffers: { qk: k, qkv: v } },
    /* wgsl */ `
    ${repeat(text.addresses, (t) => `let key${t} = min(${text.item(t)}, last - 1u); let end_${t} = ends[key${t}];`)}
    ${repeat(text.addresses, (t) => `let k_at${t} = ${text.vector(`key${t}`, k(`key${t}`))}; let v_at${t} = ${text.vector(`key${t}`, v(`key${t}`))};`)}
    ${text.four('end', 'end_0', (t) => `end_${t}`)}${body}`,
  )}`;
}
/** WGSL: whether token r attends to the t-th key of a block. It uses `&`, because `&&` would be a branch. */
export const seen = (text: TileText, r: number, t: number): string => `(${text.item(t)} <= token${r}) & (token${r} < end${t})`;
