/** Matmuls in the three forms that a linear layer needs: forward (nt), input gradient (nn), weight gradient (tn). */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { type Counts, rowCount, type Rows, type Workgroups } from '../rows.ts';
import type { BlockTuning, MatmulTile, MatmulTuning } from '../tuning.ts';
import { adapterDims, type LowRank } from './matmul-adapter.ts';
import { registerMatmul, registerTileSpan } from './matmul-register.ts';
import { sharedMatmul } from './matmul-shared.ts';
import { SPLIT_SPAN, splitMatmul } from './matmul-split.ts';
import { addStrips, sumParts } from './strips.ts';
import type { MatmulForm, MatmulKind } from './matmul-text.ts';
import { formatOf, hasScales, operand, SCALE_GROUP, type Stored } from './weight-format.ts';

export type { MatmulForm } from './matmul-text.ts';

export interface MatmulTensors {
  a: View;
  /** A View holds f32. */
  b: View | Stored;
  c: View;
  counts: View;
  /** Adds LoRA's down·Bᵀ to c. Only for the form nt. */
  adapter?: LowRank | undefined;
  /** Scratch that allows split-K: of `tnPartialBytes` for the form tn with `accumulate`, of `nnPartialBytes` for the form nn. */
  partial?: View | undefined;
}

export interface MatmulSizes {
  form: MatmulForm;
  rows: Rows;
  n: number;
  k: number;
  /** Add to c instead of writing it. */
  accumulate?: boolean;
  /** Row strides in values, multiples of 4. Default: the row length, rounded up to a multiple of 4. */
  lda?: number;
  ldb?: number;
  ldc?: number;
  /** The first column of each tensor that the matmul uses. Multiples of 4. Default 0. */
  aAt?: number;
  bAt?: number;
  cAt?: number;
  /** Factor of a·b. Default 1. */
  scale?: number;
}

const round4 = (x: number): number => Math.ceil(x / 4) * 4;

/** Returns the row strides. Strides that are not given have their defaults. */
export function matmulStrides({ form, n, k, lda, ldb, ldc }: MatmulSizes): { lda: number; ldb: number; ldc: number } {
  const strides = {
    lda: lda ?? round4(form === 'tn' ? n : k),
    ldb: ldb ?? round4(form === 'nn' ? n : k),
    ldc: ldc ?? round4(form === 'tn' ? k : n),
  };
  for (const [name, value] of Object.entries(strides)) {
    if (value <= 0 || value % 4 !== 0) throw new RangeError(`matmul ${form} ${name} ${value}: expected a positive multiple of 4`);
  }
  return strides;
}

/**
 * - nt: c[rows, n] = a[rows, k] · b[n, k]ᵀ. k must be a multiple of 4. n may be any number: columns n … ldc - 1 of the last vec4 become
 *   zero.
 * - nn: c[rows, n] = a[rows, k] · b[k, n]. n must be a multiple of 4. k may be any number, if a's columns past k are zero.
 * - tn: c[n, k] = a[rows, n]ᵀ · b[rows, k], summed over the run's rows in order. k must be a multiple of 4. n may be any number.
 *
 * In nt and nn, the bits of an element of c depend only on its row of a and its column, not on the number of rows. With `partial`, nn
 * adds the terms in parts.
 * @throws RangeError if a width, stride, rank or first column is not a multiple of 4 where it must be, or if b's stride in int8 or int4 is
 *   not a multiple of 32
 */
export function matmul(
  gpu: Gpu,
  { a, b, c, counts, adapter, partial }: MatmulTensors,
  sizes: MatmulSizes,
  tuned: MatmulTuning = gpu.tuning.matmul,
): Dispatch[] {
  const { form, rows, n, k } = sizes;
  const { lda, ldb, ldc } = matmulStrides(sizes);
  const even = form === 'nn' ? n : k;
  if (even % 4 !== 0) throw new RangeError(`matmul ${form} ${form === 'nn' ? 'n' : 'k'} ${even}: expected a multiple of 4`);
  const { aAt = 0, bAt = 0, cAt = 0, scale = 1 } = sizes;
  for (const [name, value] of Object.entries({ aAt, bAt, cAt }))
    if (value < 0 || value % 4 !== 0) throw new RangeError(`matmul ${form} ${name} ${value}: expected a multiple of 4`);
  const format = formatOf(b);
  if (hasScales(format) && ldb % SCALE_GROUP !== 0)
    throw new RangeError(`matmul ${form} ldb ${ldb}: expected a multiple of ${SCALE_GROUP} for ${format}`);
  if (adapter && form !== 'nt') throw new RangeError(`matmul ${form} adapter: expected the form nt`);
  const dims = {
    ...{ rows, n, k, lda, ldb, ldc, a_at: aAt / 4, b_at: bAt / 4, c_at: cAt / 4, scale, accumulate: sizes.accumulate ? 1 : 0 },
    ...adapterDims(adapter),
  };
  const blocks = form === 'nt' ? tuned.blocks : undefined;
  const kind = { form, format, adapter: adapter !== undefined, block: blocks?.block };
  const work = (run: Counts): number => 2 * rowCount(rows, run) * n * (k + (adapter?.rank ?? 0));
  const dispatch = (tile: MatmulTile | BlockTuning, active: (rows: number) => boolean, parts = 1): Dispatch => {
    const [tileRows, tileColumns] = spanOf(tile);
    const cut = { ...kind, parts: parts > 1 };
    const kernel = kernelOf(cut, tile);
    const groups = (run: Counts): Workgroups => {
      const m = rowCount(rows, run);
      if (!active(m)) return [0];
      if (form === 'tn') return [Math.ceil(k / tileColumns), Math.ceil(n / tileRows), parts];
      return [Math.ceil(n / tileColumns), Math.ceil(m / tileRows), parts];
    };
    const sum = parts > 1 ? { c: partial!, dims: { ...dims, accumulate: 0, parts } } : { c, dims };
    return {
      ...gpu.dispatch(kernel, { ...sum, counts, a, ...operand('b', b), down: adapter?.down ?? a, lora_b: adapter?.b ?? a }, groups),
      work,
    };
  };
  if (form === 'tn') {
    const parts = partial && sizes.accumulate ? partsOf(n, k, tuned) : 1;
    // In a run without rows, a tn without `accumulate` still writes zeros to c.
    if (parts === 1) return [dispatch(tuned.tn, (m) => m > 0 || !sizes.accumulate)];
    if (ldc !== round4(k) || cAt > 0 || scale !== 1) throw new RangeError('matmul tn in parts: expected a whole c and the scale 1');
    return [
      dispatch(tuned.tn, (m) => m > 0, parts),
      addStrips(gpu, { partial: partial!, out: c, counts }, { rows, width: n * ldc, strips: parts }),
    ];
  }
  const parts = form === 'nn' && partial ? nnPartsOf(n, tuned) : 1;
  if (parts > 1) {
    if (ldc !== n || cAt > 0) throw new RangeError('matmul nn in parts: expected a whole c');
    return [
      dispatch(tuned.rows.at(-1)!.tile, () => true, parts),
      sumParts(gpu, { partial: partial!, out: c, counts }, { rows, width: n, parts, accumulate: sizes.accumulate === true }),
    ];
  }
  const capacity = Math.min(rows.max ?? Infinity, Math.floor(c.size / (4 * ldc)));
  const program: Dispatch[] = [];
  const isSplit = (m: number): boolean => blocks !== undefined && m * n <= blocks.elements;
  if (blocks && isSplit(1)) program.push(dispatch(blocks, isSplit));
  let above = 0;
  // The form nn computes input gradients of whole training batches, so kernels for few rows would only cost compile time.
  for (const { upTo, tile } of form === 'nn' ? tuned.rows.slice(-1) : tuned.rows) {
    const from = above;
    if (from >= capacity) break;
    program.push(dispatch(tile, (m) => m > from && m <= upTo && !isSplit(m)));
    above = upTo;
  }
  return program;
}

function spanOf(tile: MatmulTile | BlockTuning): readonly [number, number] {
  if (!('kind' in tile)) return SPLIT_SPAN;
  return tile.kind === 'register' ? registerTileSpan(tile) : [tile.rows, tile.columns];
}

function kernelOf(kind: MatmulKind, tile: MatmulTile | BlockTuning) {
  if (!('kind' in tile)) return splitMatmul(kind, tile);
  return tile.kind === 'register' ? registerMatmul(kind, tile) : sharedMatmul(kind, tile);
}

/** Maximum number of parts in split-K. */
const MOST_PARTS = 16;

/** The number of parts into which split-K cuts the sum of a weight gradient [n, k]. 1 means no split-K. */
function partsOf(n: number, k: number, { tn, tnWorkgroups = 1 }: MatmulTuning): number {
  const [rows, columns] = spanOf(tn);
  return Math.min(MOST_PARTS, Math.ceil(tnWorkgroups / (Math.ceil(n / rows) * Math.ceil(k / columns))));
}

/** The number of parts into which split-K cuts the sums of an input gradient. It depends on no number of rows. */
function nnPartsOf(n: number, { rows, tnWorkgroups = 1 }: MatmulTuning): number {
  const [, columns] = spanOf(rows.at(-1)!.tile);
  return Math.min(MOST_PARTS, Math.ceil(tnWorkgroups / Math.ceil(n / columns)));
}

/** Bytes of `partial` for an input gradient of at most `rows` rows of n columns. 0 without split-K. */
export function nnPartialBytes(tuning: MatmulTuning, rows: number, n: number): number {
  const parts = nnPartsOf(n, tuning);
  return parts > 1 ? 4 * parts * rows * n : 0;
}

/** Bytes of `partial`, enough for every weight gradient: with split-K, all parts together have less than 2 · `tnWorkgroups` tiles. */
export function tnPartialBytes({ tn, tnWorkgroups = 1 }: MatmulTuning): number {
  const [rows, columns] = spanOf(tn);
  return tnWorkgroups > 1 ? 4 * 2 * tnWorkgroups * rows * columns : 0;
}

/** Computes the matmul in float64. `rows` is the number of rows of a. With `accumulate` it adds to `c`. Padding columns of c are zero. */
export function matmulReference(
  a: Float64Array,
  b: Float64Array,
  rows: number,
  sizes: Omit<MatmulSizes, 'rows'>,
  c?: Float64Array,
): Float64Array {
  const { form, n, k, aAt = 0, bAt = 0, cAt = 0, scale = 1 } = sizes;
  const { lda, ldb, ldc } = matmulStrides({ ...sizes, rows: { of: 'rows' } });
  const [outRows, outColumns, depth] = form === 'tn' ? [n, k, rows] : [rows, n, k];
  const out = sizes.accumulate && c ? Float64Array.from(c) : new Float64Array(outRows * ldc);
  for (let i = 0; i < outRows; i++) {
    for (let j = 0; j < outColumns; j++) {
      let sum = 0;
      for (let p = 0; p < depth; p++)
        sum += a[aAt + (form === 'tn' ? p * lda + i : i * lda + p)]! * b[bAt + (form === 'nt' ? j * ldb + p : p * ldb + j)]!;
      out[cAt + i * ldc + j]! += scale * sum;
    }
  }
  return out;
}
