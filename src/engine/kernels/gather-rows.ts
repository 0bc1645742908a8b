/** Copies the rows of a tensor that go through the LM head, and adds their gradients back to these rows. */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { checkMultiple, itemGroups, itemMain } from './threads.ts';

export interface GatherSizes {
  rows: Rows;
  width: number;
}

/**
 * Runs the WGSL `statement` for each vec4 of the chunk. In `statement`, `i` is the vec4's index in the chunk (row r), and `other` is the
 * index of the same column in row index[base + r] of the whole tensor.
 */
function indexedRows(
  gpu: Gpu,
  label: string,
  statement: string,
  views: { source: View; index: View; destination: View; counts: View },
  { rows, width }: GatherSizes,
): Dispatch[] {
  checkMultiple(`${label} width`, width);
  const kernel = defineKernel({
    label,
    dims: { rows: 'Rows', width: 'u32' },
    reads: { source: 'vec4f', index: 'u32' },
    writes: { destination: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      'row_count() * dims.width',
      `
  let other = index[dims.rows.base + i / dims.width] * dims.width + i % dims.width;
  ${statement}`,
    ),
  });
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);
  return [gpu.dispatch(kernel, { dims: { rows, width: width / 4 }, ...views }, groups)];
}

/** out[r] = x[index[base + r]] for each row r of the chunk. `base` is `rows.base`. */
export const gatherRows = (
  gpu: Gpu,
  { x, index, out, counts }: { x: View; index: View; out: View; counts: View },
  sizes: GatherSizes,
): Dispatch[] => indexedRows(gpu, 'gather rows', 'destination[i] = source[other];', { source: x, index, destination: out, counts }, sizes);

/** dx[index[base + r]] += dout[r]. The indices of a run must be distinct. */
export const scatterAddRows = (
  gpu: Gpu,
  { dout, index, dx, counts }: { dout: View; index: View; dx: View; counts: View },
  sizes: GatherSizes,
): Dispatch[] =>
  indexedRows(gpu, 'scatter add rows', 'destination[other] += source[i];', { source: dout, index, destination: dx, counts }, sizes);

export function gatherRowsReference(x: Float64Array, index: ArrayLike<number>, width: number): Float64Array {
  return Float64Array.from({ length: index.length * width }, (_, i) => x[index[Math.floor(i / width)]! * width + (i % width)]!);
}
export function scatterAddRowsReference(dx: Float64Array, dout: Float64Array, index: ArrayLike<number>, width: number): Float64Array {
  const out = Float64Array.from(dx);
  dout.forEach((v, i) => (out[index[Math.floor(i / width)]! * width + (i % width)]! += v));
  return out;
}
