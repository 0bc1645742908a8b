/** WGSL entry points for kernels that give each thread one item, or each row one or more threads. */
import { type Counts, GRID_INDEX_WGSL, grid, rowCount, type Rows, type Workgroups } from '../rows.ts';
import type { Tuning } from '../tuning.ts';

const GRID_BUILTINS = '@builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u, @builtin(local_invocation_index) thread: u32';

/** An entry point with one thread for each of `count` items. `count` is a WGSL expression. In `body`, `i` is the item's index. */
export function itemMain({ threads }: Tuning, count: string, body: string): string {
  return /* wgsl */ `
@compute @workgroup_size(${threads}) fn main(${GRID_BUILTINS}) {
  let i = ${GRID_INDEX_WGSL} * ${threads}u + thread;
  if (i >= ${count}) { return; }
  ${body}
}`;
}

/** The workgroup counts of an `itemMain` kernel. */
export function itemGroups({ threads }: Tuning, count: (counts: Counts) => number): (counts: Counts) => Workgroups {
  return (counts) => grid(count(counts), threads);
}

/** Number of rows in a workgroup if each row has one thread. It is small, so that a small batch still uses all CPU cores. */
const ROWS_PER_GROUP = 16;

/**
 * An entry point for the rows of a run. Each row has either one thread or one workgroup. `body` can use `row`, `lane` and `step`: a thread
 * visits the columns lane, lane + step, … It can also call `row_sum(x, lane)`, which adds x over the threads of the row in a fixed order.
 */
export function rowMain({ rowThreads }: Tuning, body: string): string {
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
@compute @workgroup_size(${alone ? ROWS_PER_GROUP : rowThreads}) fn main(${GRID_BUILTINS}) {
  let row = ${alone ? `${GRID_INDEX_WGSL} * ${ROWS_PER_GROUP}u + thread` : GRID_INDEX_WGSL};
  let lane = ${alone ? '0u' : 'thread'};
  const step = ${rowThreads}u;
  if (row >= row_count()) { return; }
  ${body}
}`;
}

/** The workgroup counts of a `rowMain` kernel. */
export function rowGroups({ rowThreads }: Tuning, rows: Rows): (counts: Counts) => Workgroups {
  return (counts) => grid(rowCount(rows, counts), rowThreads === 1 ? ROWS_PER_GROUP : 1);
}

/** @throws RangeError unless `value` is a positive multiple of `of`. */
export function checkMultiple(name: string, value: number, of = 4): void {
  if (!Number.isInteger(value) || value <= 0 || value % of !== 0)
    throw new RangeError(`${name} ${value}: expected a positive multiple of ${of}`);
}
