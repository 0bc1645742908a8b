/**
 * The tiles of packed attention: how tokens, keys and head_dim lie on threads, and the pieces of WGSL that depend on this layout.
 *
 * One thread keeps q and the running output of a few tokens (of one head) in registers, and visits the other side (keys; queries
 * in the backward pass) in blocks of four items. The text is unrolled: all register indices are constants, so that no value is
 * spilled to indexed memory.
 */
import type { AttentionTuning } from '../tuning.ts';

export interface AttentionTile {
  /** Threads of a workgroup; a multiple of 4. */
  threads: number;
  /** Tokens that a thread keeps in registers. */
  tokens: number;
  /**
   * What the four lanes of a quad divide among them with quadSwap (needs the `subgroups` feature). `keys`: each lane has its own
   * tokens and loads one of four keys for all lanes. `headDim`: the lanes have the same tokens, and each holds a quarter of head_dim.
   */
  quad: 'none' | 'keys' | 'headDim';
  /**
   * Items of the other side that a workgroup copies to workgroup memory at a time, a multiple of 4. 0: each thread loads them from
   * storage. Not with `quad: 'keys'`.
   */
  staged: number;
}

/** Bytes of workgroup memory that WebGPU promises. */
const WORKGROUP_BYTES = 16384;
const MOST_STAGED = 32;

/** @param vectors how many head_dim vectors of a token a thread keeps in registers */
function attentionTile(tuning: AttentionTuning, headDim: number, vectors: number): AttentionTile {
  const { threads, floats, shareKeys, divideHeadDim, stage } = tuning;
  const divided = divideHeadDim && headDim >= 64 && headDim % 16 === 0;
  const budget = divided ? Math.min(128, floats) : floats;
  const tokens = Math.max(1, Math.min(8, Math.floor(budget / (vectors * (divided ? headDim / 4 : headDim)))));
  const quad = divided ? 'headDim' : shareKeys ? 'keys' : 'none';
  // Two vectors of each item lie in workgroup memory.
  const room = 4 * Math.floor(WORKGROUP_BYTES / (4 * 2 * headDim * 4));
  return { threads, tokens, quad, staged: stage && quad !== 'keys' ? Math.min(MOST_STAGED, room) : 0 };
}

/** The tiles of the forward kernel, and of the two backward kernels: their tokens are queries, or keys. */
export const attentionTiles = (tuning: AttentionTuning, headDim: number): Record<'forward' | 'query' | 'key', AttentionTile> => ({
  forward: attentionTile(tuning, headDim, 2),
  query: attentionTile(tuning, headDim, 3),
  key: attentionTile(tuning, headDim, 4),
});

/** Tokens of a workgroup. */
export function tileTokens({ threads, tokens, quad }: AttentionTile): number {
  return (threads * tokens) / (quad === 'headDim' ? 4 : 1);
}

/** Text for each i from 0 to n - 1. */
export const repeat = (n: number, text: (i: number) => string, joint = '\n'): string =>
  Array.from({ length: n }, (_, i) => text(i)).join(joint);

const SWAPS = ['', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'];

/** The WGSL of one tile. */
export class TileText {
  /** The lanes of a quad load one key each. */
  readonly share: boolean;
  readonly #divided: boolean;
  /** vec4s of a head_dim vector that one thread holds. */
  readonly vectors: number;
  /** Addresses that a thread needs for a block of four items. */
  readonly addresses: number;

  readonly #d4: number;
  /** The buffers that `eachBlock` stages. */
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
  /** Index of the thread's r-th token. */
  token(r: number): string {
    const lanes = this.#divided ? 4 : 1;
    return `first + ${(r * this.tile.threads) / lanes}u + thread / ${lanes}u`;
  }
  /** Index of the thread's d-th vec4 in its head_dim vector. */
  at(d: number): string {
    return this.#divided ? `${4 * d}u + lane` : `${d}u`;
  }
  /** The array that holds a tensor of the other side. */
  array(buffer: string): string {
    return this.tile.staged > 0 ? `tile_${buffer}` : buffer;
  }
  /** The index at which the vector of an item begins in `array`. `address`: the index in the buffer. */
  vector(item: string, address: string): string {
    return this.tile.staged > 0 ? `(${item} - base) * ${this.#d4}u` : address;
  }
  /**
   * Visits the blocks from `j` on: `next` moves `j` to a block, `body` handles it, until `j` is at `end`. Staged items are copied from
   * `buffers`, by the address of an item's vector. The blocks are the same with and without staging, so the bits are too.
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
  /** Index of the t-th item of the block at `j`. With shared keys, lane l sees item l ^ t. */
  item(t: number): string {
    return this.share ? (t === 0 ? '(j + lane)' : `(j + (lane ^ ${t}u))`) : `(j + ${t}u)`;
  }
  /** Declares `into`0 … `into`3 for the items of a block: with shared keys `own` from each lane, else the four loads `direct`. */
  four(into: string, own: string, direct: (t: number) => string): string {
    return repeat(4, (t) => `let ${into}${t} = ${this.share ? (t === 0 ? own : `${SWAPS[t]}(${own})`) : direct(t)};`, ' ');
  }
  /** Completes dot products over head_dim whose parts are in the four lanes. */
  sum(...names: string[]): string {
    return this.#divided ? names.map((name) => `${name} += quadSwapX(${name}); ${name} += quadSwapY(${name});`).join(' ') : '';
  }
  /** Condition under which a thread stores a value that all threads of a token have. */
  get leader(): string {
    return this.#divided ? 'lane == 0u' : 'true';
  }
  get subgroups(): boolean {
    return this.tile.quad !== 'none';
  }
  /** The entry point. `body` sees `n` tokens, the tile's tokens `first` … `last` - 1, and `lane`, the thread's place in its quad. */
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

/** The start of a body whose tokens are queries. */
export function queryTokens(heads: number, kvHeads: number, d4: number): string {
  return /* wgsl */ `
  let head = wg.y;
  let kcol = ${heads * d4}u + head / ${heads / kvHeads}u * ${d4}u;
  let vcol = kcol + ${kvHeads * d4}u;`;
}

/**
 * Loops over blocks of four keys, and leaves out the subtrees that end before the tile. In a block, item t is seen by token r if
 * `seen(r, t)`. `k_at` and `v_at`: where the vectors of its keys begin.
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
/** Condition under which token r attends to the t-th key of a block. `&&` would be a branch. */
export const seen = (text: TileText, r: number, t: number): string => `(${text.item(t)} <= token${r}) & (token${r} < end${t})`;
