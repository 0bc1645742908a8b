/**
 * Cuts an attention kernel into dispatches that each run for less than a second. The submit pacer can cut only between dispatches, and
 * Windows resets a GPU that is busy with one submit for 2 s.
 */
import type { Dispatch } from './kernel.ts';
import { type Counts, rowCount, type Rows } from './rows.ts';

/**
 * The most work of one dispatch, in operations: those of 1 s on a slow GPU (5e11 operations/s). The submit pacer begins with a much lower
 * speed, because it measures the speed later.
 */
const MOST_WORK = 5e11;
/** Attention kernels reach about a quarter of the speed of a matmul, so an operation counts four times. */
const ATTENTION_COST = 4;

/** The sizes of a program's runs. */
export interface RunBounds {
  /** The most tokens of a run. By default one dispatch does all tokens. */
  capacity?: number;
  /** The most tokens of a sequence. */
  longest?: number;
  /** The most work of one dispatch. Default: `MOST_WORK`. */
  mostWork?: number;
}

export interface AttentionWork {
  /** Tokens of a workgroup. A range begins at a multiple of it, so a workgroup has the same tokens, and its results the same bits. */
  tile: number;
  /** The number of products of head_dim that the kernel computes for a pair of tokens: 2 in the forward pass. */
  products: number;
  /** Which tokens a token meets: those before it, those after it, or as many as the longest sequence has. */
  meets: 'before' | 'after' | 'longest';
}

/**
 * Builds a kernel once for each range of its tokens. The kernel computes the tokens `rows.base` … `rows.base + row_count() - 1` of tensors
 * that hold all tokens. A run with few tokens skips the later ranges.
 */
export function tokenRanges(
  {
    tokens,
    heads,
    headDim,
    capacity = 0,
    longest = Infinity,
    mostWork = MOST_WORK,
  }: RunBounds & {
    tokens: Rows;
    heads: number;
    headDim: number;
  },
  { tile, products, meets }: AttentionWork,
  build: (tokens: Rows) => Dispatch,
): Dispatch[] {
  const pair = ATTENTION_COST * 2 * products * heads * headDim;
  const own = pair * (meets === 'longest' ? longest : Math.min(longest, capacity));
  const most = Math.max(1, Math.floor(mostWork / own / tile)) * tile;
  const ranges =
    capacity <= most
      ? [tokens]
      : Array.from({ length: Math.ceil(capacity / most) }, (_, range): Rows => ({ ...tokens, base: range * most, max: most }));
  return ranges.map((range) => {
    const work = (counts: Counts): number => {
      const rows = rowCount(range, counts);
      const middle = (range.base ?? 0) + rows / 2;
      const met = { before: middle, after: counts.tokens - middle, longest }[meets];
      return pair * rows * Math.min(longest, met);
    };
    return { ...build(range), work };
  });
}
