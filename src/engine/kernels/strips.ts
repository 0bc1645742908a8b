/**
 * Sums over the rows of a [rows, width] tensor without atomics. The rows are cut into strips. One kernel sums each strip, and
 * `addStrips` adds the sums of the strips in order.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { itemGroups, itemMain } from './threads.ts';

export const STRIPS = 32;
/** Bytes of the scratch `partial` [STRIPS, width]. */
export const partialBytes = (width: number): number => STRIPS * width * 4;
/** WGSL: computes `begin` and `to`. The rows of strip number `strip` are begin … to - 1. */
export const STRIP_WGSL = `let n = row_count();
  let per_strip = (n + ${STRIPS - 1}u) / ${STRIPS}u; let begin = min(strip * per_strip, n); let to = min(begin + per_strip, n);`;

/** out[width] += the sum of partial[strips, width] over strips. A run without rows leaves `out` unchanged. */
export function addStrips(
  gpu: Gpu,
  { partial, out, counts }: { partial: View; out: View; counts: View },
  { rows, width, strips = STRIPS }: { rows: Rows; width: number; strips?: number },
): Dispatch {
  const kernel = defineKernel({
    label: 'add strips',
    dims: { rows: 'Rows', width: 'u32', strips: 'u32' },
    reads: { partial: 'vec4f' },
    writes: { out: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      'dims.width',
      `
  var sum = vec4f();
  for (var s = 0u; s < dims.strips; s++) { sum += partial[s * dims.width + i]; }
  out[i] += sum;`,
    ),
  });
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) > 0 ? width / 4 : 0));
  return gpu.dispatch(kernel, { dims: { rows, width: width / 4, strips }, counts, partial, out }, groups);
}

/** out[rows, width] = the sum of partial[parts, rows, width] over parts, or += with `accumulate`. */
export function sumParts(
  gpu: Gpu,
  { partial, out, counts }: { partial: View; out: View; counts: View },
  { rows, width, parts, accumulate }: { rows: Rows; width: number; parts: number; accumulate: boolean },
): Dispatch {
  const kernel = defineKernel({
    label: 'sum parts',
    dims: { rows: 'Rows', width: 'u32', parts: 'u32', accumulate: 'u32' },
    reads: { partial: 'vec4f' },
    writes: { out: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      'row_count() * dims.width',
      `
  var sum = vec4f();
  for (var part = 0u; part < dims.parts; part++) { sum += partial[part * row_count() * dims.width + i]; }
  if (dims.accumulate != 0u) { sum += out[i]; }
  out[i] = sum;`,
    ),
  });
  const dims = { rows, width: width / 4, parts, accumulate: accumulate ? 1 : 0 };
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);
  return gpu.dispatch(kernel, { dims, counts, partial, out }, groups);
}
