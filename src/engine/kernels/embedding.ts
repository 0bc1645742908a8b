/**
 * Token embedding and its gradient. The gradient uses buckets of equal tokens, so each table row is summed in a fixed order, without
 * atomics.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import type { Matrix } from '../matrix.ts';
import { rowCount, type Rows } from '../rows.ts';
import { checkMultiple, itemGroups, itemMain } from './threads.ts';
import { loader, operand } from './weight-format.ts';

/** x[t] = table[ids[t]]. x is [tokens, width], ids is u32 [tokens]. */
export function embedding(
  gpu: Gpu,
  { table, ids, x, counts }: { table: Matrix; ids: View; x: View; counts: View },
  { rows, width }: { rows: Rows; width: number },
): Dispatch[] {
  checkMultiple('embedding width', width);
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);
  return table.pieces.map((piece) => {
    const { reads, wgsl } = loader('table', piece.format);
    const kernel = defineKernel({
      label: `embedding ${piece.format}`,
      dims: { rows: 'Rows', width: 'u32', first: 'u32', piece: 'u32' },
      reads: { ...reads, ids: 'u32' },
      writes: { x: 'vec4f' },
      body: `${wgsl}${itemMain(
        gpu.tuning,
        'row_count() * dims.width',
        `
  let id = ids[i / dims.width];
  if (id < dims.first || id >= dims.first + dims.piece) { return; } // another piece has this row
  x[i] = load_table((id - dims.first) * dims.width + i % dims.width);`,
      )}`,
    });
    const dims = { rows, width: width / 4, first: piece.first, piece: piece.rows };
    return gpu.dispatch(kernel, { dims, counts, ids, x, ...operand('table', piece) }, groups);
  });
}

/** Number of u32 words that `embeddingBuckets` returns. */
export const bucketWords = (capacity: number): number => 3 * capacity + 1;

/**
 * Sorts the positions of tokens into buckets for `embeddingGradient`, one bucket for each distinct token. Returns the arrays
 * ids[capacity], starts[capacity + 1] and positions[capacity], concatenated. Bucket b is for token ids[b], and holds
 * positions[starts[b]] … positions[starts[b + 1] - 1]. Unused buckets are empty.
 * @throws RangeError if there are more tokens than `capacity`.
 */
export function embeddingBuckets(
  tokens: ArrayLike<number>,
  capacity: number,
  into = new Uint32Array(bucketWords(capacity)),
): Uint32Array<ArrayBuffer> {
  if (tokens.length > capacity)
    throw new RangeError(`embeddingBuckets: ${tokens.length} tokens, expected at most the capacity ${capacity}`);
  const buckets = new Map<number, number[]>();
  for (let t = 0; t < tokens.length; t++) {
    const bucket = buckets.get(tokens[t]!);
    if (bucket) bucket.push(t);
    else buckets.set(tokens[t]!, [t]);
  }
  const starts = into.subarray(capacity, 2 * capacity + 1);
  const positions = into.subarray(2 * capacity + 1);
  let [unique, filled] = [0, 0];
  for (const [id, bucket] of buckets) {
    into[unique] = id;
    starts[unique++] = filled;
    positions.set(bucket, filled);
    filled += bucket.length;
  }
  into.fill(0, unique, capacity);
  starts.fill(filled, unique);
  return into;
}

/** dtable[id] += the sum of dx[t] over all t with ids[t] = id. `buckets` holds `embeddingBuckets(ids, capacity)` of the run. */
export function embeddingGradient(
  gpu: Gpu,
  { dx, buckets, dtable, counts }: { dx: View; buckets: View; dtable: View; counts: View },
  { rows, width, capacity }: { rows: Rows; width: number; capacity: number },
): Dispatch[] {
  checkMultiple('embedding width', width);
  const kernel = defineKernel({
    label: 'embedding gradient',
    dims: { rows: 'Rows', width: 'u32', capacity: 'u32' },
    reads: { dx: 'vec4f', buckets: 'u32' },
    writes: { dtable: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      'row_count() * dims.width',
      `
  let width = dims.width; let capacity = dims.capacity;
  let bucket = i / width; let c = i % width;
  let begin = buckets[capacity + bucket]; let to = buckets[capacity + bucket + 1u];
  if (begin == to) { return; }
  var sum = vec4f();
  for (var p = begin; p < to; p++) { sum += dx[buckets[2u * capacity + 1u + p] * width + c]; }
  dtable[buckets[bucket] * width + c] += sum;`,
    ),
  });
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);
  return [gpu.dispatch(kernel, { dims: { rows, width: width / 4, capacity }, counts, dx, buckets, dtable }, groups)];
}

export function embeddingReference(table: Float64Array, ids: ArrayLike<number>, width: number): Float64Array {
  return Float64Array.from({ length: ids.length * width }, (_, i) => table[ids[Math.floor(i / width)]! * width + (i % width)]!);
}
export function embeddingGradientReference(dx: Float64Array, ids: ArrayLike<number>, width: number, vocab: number): Float64Array {
  const out = new Float64Array(vocab * width);
  dx.forEach((v, i) => (out[ids[Math.floor(i / width)]! * width + (i % width)]! += v));
  return out;
}
