/** Elementwise operations on [rows, width] tensors. A thread computes four values. */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { checkMultiple, itemGroups, itemMain } from './threads.ts';

interface Sizes {
  rows: Rows;
  width: number;
}

const DIMS = { rows: 'Rows', width: 'u32' } as const;
const ITEMS = 'row_count() * dims.width';
const groupsOf = (gpu: Gpu, { rows, width }: Sizes): Dispatch['workgroups'] =>
  itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);

/** y = x */
export function copy(gpu: Gpu, { x, y, counts }: { x: View; y: View; counts: View }, sizes: Sizes): Dispatch[] {
  const { rows, width } = sizes;
  checkMultiple('copy width', width);
  const kernel = defineKernel({
    label: 'copy',
    dims: DIMS,
    reads: { x: 'vec4f' },
    writes: { y: 'vec4f' },
    body: itemMain(gpu.tuning, ITEMS, 'y[i] = x[i];'),
  });
  return [gpu.dispatch(kernel, { dims: { rows, width: width / 4 }, counts, x, y }, groupsOf(gpu, sizes))];
}

/** y = 0 */
export function zero(gpu: Gpu, { y, counts }: { y: View; counts: View }, sizes: Sizes): Dispatch[] {
  const { rows, width } = sizes;
  checkMultiple('zero width', width);
  const kernel = defineKernel({ label: 'zero', dims: DIMS, writes: { y: 'vec4f' }, body: itemMain(gpu.tuning, ITEMS, 'y[i] = vec4f();') });
  return [gpu.dispatch(kernel, { dims: { rows, width: width / 4 }, counts, y }, groupsOf(gpu, sizes))];
}
