/** Token embedding: gather, and its gradient by buckets of equal tokens (no atomics: each table row is summed in order). */
import { type Dispatch, type Gpu, rowCount, type Rows, rowWords, type View } from '../gpu.ts';
import { checkMultiple, headWgsl, itemGroups, itemKernelWgsl } from './row-kernel.ts';

/** x[tokens, width] = table[ids[t]]; `ids` u32. */
export function embedding(
  gpu: Gpu,
  { table, ids, x, counts }: { table: View; ids: View; x: View; counts: View },
  { rows, width }: { rows: Rows; width: number },
): Dispatch[] {
  checkMultiple('embedding width', width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> table: array<vec4f>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read_write> x: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', 'x[i] = table[ids[i / dims.p0.x] * dims.p0.x + i % dims.p0.x];')}`;
  const dims = gpu.uniform('embedding dims', [...rowWords(rows), width / 4, 0, 0, 0]);
  const kernel = gpu.kernel('embedding', wgsl, ['uniform', 'uniform', 'read', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, table, ids, x], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
}

/** Words of `embeddingBuckets`. */
export const bucketWords = (capacity: number): number => 3 * capacity + 1;

/**
 * The positions of each distinct token, for `embeddingGradient`: ids[capacity], starts[capacity + 1] into
 * positions[capacity], concatenated. Unused entries are empty buckets.
 * @throws RangeError when there are more tokens than `capacity`.
 */
export function embeddingBuckets(tokens: ArrayLike<number>, capacity: number, into = new Uint32Array(bucketWords(capacity))): Uint32Array<ArrayBuffer> {
  if (tokens.length > capacity) throw new RangeError(`embeddingBuckets: ${tokens.length} tokens, expected at most the capacity ${capacity}`);
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

/** dtable[id] += Σ dx[t] over tokens t equal to id. `buckets`: `embeddingBuckets(ids, capacity)` of the run. */
export function embeddingGradient(
  gpu: Gpu,
  { dx, buckets, dtable, counts }: { dx: View; buckets: View; dtable: View; counts: View },
  { rows, width, capacity }: { rows: Rows; width: number; capacity: number },
): Dispatch[] {
  checkMultiple('embedding width', width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> dx: array<vec4f>;
@group(0) @binding(3) var<storage, read> buckets: array<u32>;
@group(0) @binding(4) var<storage, read_write> dtable: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', `
  let width = dims.p0.x; let capacity = dims.p0.y;
  let bucket = i / width; let c = i % width;
  let begin = buckets[capacity + bucket]; let to = buckets[capacity + bucket + 1u];
  if (begin == to) { return; }
  var sum = vec4f();
  for (var p = begin; p < to; p++) { sum += dx[buckets[2u * capacity + 1u + p] * width + c]; }
  dtable[buckets[bucket] * width + c] += sum;`)}`;
  const dims = gpu.uniform('embedding gradient dims', [...rowWords(rows), width / 4, capacity, 0, 0]);
  const kernel = gpu.kernel('embedding gradient', wgsl, ['uniform', 'uniform', 'read', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, dx, buckets, dtable], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
}

export function embeddingReference(table: Float64Array, ids: ArrayLike<number>, width: number): Float64Array {
  return Float64Array.from({ length: ids.length * width }, (_, i) => table[ids[Math.floor(i / width)]! * width + (i % width)]!);
}
export function embeddingGradientReference(dx: Float64Array, ids: ArrayLike<number>, width: number, vocab: number): Float64Array {
  const out = new Float64Array(vocab * width);
  dx.forEach((v, i) => (out[ids[Math.floor(i / width)]! * width + (i % width)]! += v));
  return out;
}
