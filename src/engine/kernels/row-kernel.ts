/** WGSL pieces of kernels that reduce along rows, and of reductions over rows. */
import { type Counts, type Dispatch, type Gpu, GRID_INDEX_WGSL, grid, rowCount, type Rows, ROWS_WGSL, rowWords, type View, type Workgroups } from '../gpu.ts';
import { tuning } from '../tuning.ts';

/** Bindings 0 and 1 of every kernel here: `words` further u32 (in vec4u's) follow the row words in `dims`. */
export const headWgsl = (vectors = 1): string => /* wgsl */ `
${ROWS_WGSL}
struct Dims { rows: vec4u, ${Array.from({ length: vectors }, (_, i) => `p${i}: vec4u`).join(', ')} }
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> counts: Counts;`;

export const GRID_BUILTINS = '@builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) thread: u32';

/** Rows of a workgroup where a row has one thread: few, so that a small batch still spreads over the cores. */
const LONE_ROWS = 16;

/**
 * A kernel over rows: `body` sees `row`, `lane` and `step` (walk columns from `lane` by `step`) and `row_sum(x, lane)`.
 * On software adapters a row has one thread; else a workgroup, which meets in workgroup memory in a fixed order.
 */
export function rowKernelWgsl(gpu: Gpu, rowsExpression: string, body: string): string {
  const { rowThreads } = tuning(gpu.info);
  const alone = rowThreads === 1;
  const sum = alone
    ? 'fn row_sum(x: f32, lane: u32) -> f32 { return x; }'
    : `var<workgroup> sums: array<f32, ${rowThreads}>;
fn row_sum(x: f32, lane: u32) -> f32 {
  workgroupBarrier();
  sums[lane] = x;
  workgroupBarrier();
  for (var s = ${rowThreads / 2}u; s > 0u; s /= 2u) { if (lane < s) { sums[lane] += sums[lane + s]; } workgroupBarrier(); }
  return sums[0];
}`;
  return /* wgsl */ `
${sum}
@compute @workgroup_size(${alone ? LONE_ROWS : rowThreads}) fn main(${GRID_BUILTINS}) {
  let row = ${alone ? `${GRID_INDEX_WGSL} * ${LONE_ROWS}u + thread` : GRID_INDEX_WGSL};
  let lane = ${alone ? '0u' : 'thread'};
  const step = ${rowThreads}u;
  if (row >= ${rowsExpression}) { return; }
  ${body}
}`;
}

/** Workgroups of a `rowKernelWgsl` kernel over `rows` · `times` rows. */
export function rowGroups(gpu: Gpu, rows: Rows, times = 1): (counts: Counts) => Workgroups {
  const { rowThreads } = tuning(gpu.info);
  return (counts) => grid(rowCount(rows, counts) * times, rowThreads === 1 ? LONE_ROWS : 1);
}

/** A kernel with a thread for each of `count` items, bound as `i`. */
export function itemKernelWgsl(gpu: Gpu, count: string, body: string): string {
  const { threads } = tuning(gpu.info);
  return /* wgsl */ `
@compute @workgroup_size(${threads}) fn main(${GRID_BUILTINS}) {
  let i = ${GRID_INDEX_WGSL} * ${threads}u + thread;
  if (i >= ${count}) { return; }
  ${body}
}`;
}
export function itemGroups(gpu: Gpu, count: (counts: Counts) => number): (counts: Counts) => Workgroups {
  const { threads } = tuning(gpu.info);
  return (counts) => grid(count(counts), threads);
}

/** Strips that a sum over rows is cut into: partial sums of each strip are kept, then added in order. */
export const STRIPS = 32;
/** Bytes of the `partial` scratch of a sum over rows of `width` columns. */
export const partialBytes = (width: number): number => STRIPS * width * 4;
/** WGSL: rows [begin, to) of `strip`, out of `n`. */
export const STRIP_WGSL = `let per_strip = (n + ${STRIPS - 1}u) / ${STRIPS}u; let begin = min(strip * per_strip, n); let to = min(begin + per_strip, n);`;

/** out[width] += the sum of partial[STRIPS, width]; skipped when a run has no rows. */
export function addStrips(gpu: Gpu, { partial, out, counts }: { partial: View; out: View; counts: View }, { rows, width }: { rows: Rows; width: number }): Dispatch {
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> partial: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4f>;
${itemKernelWgsl(gpu, 'dims.p0.x', `
  var sum = vec4f();
  for (var s = 0u; s < ${STRIPS}u; s++) { sum += partial[s * dims.p0.x + i]; }
  out[i] += sum;`)}`;
  const kernel = gpu.kernel('add strips', wgsl, ['uniform', 'uniform', 'read', 'read_write']);
  const dims = gpu.uniform('add strips dims', [...rowWords(rows), width / 4, 0, 0, 0]);
  return gpu.dispatch(kernel, [dims, counts, partial, out], itemGroups(gpu, (run) => (rowCount(rows, run) > 0 ? width / 4 : 0)));
}

/** @throws RangeError unless `value` is a positive multiple of `of`. */
export function checkMultiple(name: string, value: number, of = 4): void {
  if (!Number.isInteger(value) || value <= 0 || value % of !== 0) throw new RangeError(`${name} ${value}: expected a positive multiple of ${of}`);
}
