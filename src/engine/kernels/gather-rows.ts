/** Picks the hidden rows that go through the LM head, and returns their gradient to where they came from. */
import { type Dispatch, type Gpu, rowCount, type Rows, rowWords, type View } from '../gpu.ts';
import { checkMultiple, headWgsl, itemGroups, itemKernelWgsl } from './row-kernel.ts';

export interface GatherSizes {
  rows: Rows;
  width: number;
}

// Row r of the run is entry base + r of `index`, so that chunks of one list need no offsets.
function rowsKernel(gpu: Gpu, label: string, text: string, [from, index, to, counts]: readonly [View, View, View, View], { rows, width }: GatherSizes): Dispatch[] {
  checkMultiple(`${label} width`, width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> source: array<vec4f>;
@group(0) @binding(3) var<storage, read> index: array<u32>;
@group(0) @binding(4) var<storage, read_write> target_rows: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', `
  let other = index[dims.rows.z + i / dims.p0.x] * dims.p0.x + i % dims.p0.x;
  ${text}`)}`;
  const dims = gpu.uniform(`${label} dims`, [...rowWords(rows), width / 4, 0, 0, 0]);
  const kernel = gpu.kernel(label, wgsl, ['uniform', 'uniform', 'read', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, from, index, to], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
}

/** out[r] = x[index[base + r]] for the run's rows; `base` is that of `rows`. */
export const gatherRows = (gpu: Gpu, { x, index, out, counts }: { x: View; index: View; out: View; counts: View }, sizes: GatherSizes): Dispatch[] =>
  rowsKernel(gpu, 'gather rows', 'target_rows[i] = source[other];', [x, index, out, counts], sizes);

/** dx[index[base + r]] += dout[r]; the indices of a run must be distinct. */
export const scatterAddRows = (gpu: Gpu, { dout, index, dx, counts }: { dout: View; index: View; dx: View; counts: View }, sizes: GatherSizes): Dispatch[] =>
  rowsKernel(gpu, 'scatter add rows', 'target_rows[other] += source[i];', [dout, index, dx, counts], sizes);

export function gatherRowsReference(x: Float64Array, index: ArrayLike<number>, width: number): Float64Array {
  return Float64Array.from({ length: index.length * width }, (_, i) => x[index[Math.floor(i / width)]! * width + (i % width)]!);
}
export function scatterAddRowsReference(dx: Float64Array, dout: Float64Array, index: ArrayLike<number>, width: number): Float64Array {
  const out = Float64Array.from(dx);
  dout.forEach((v, i) => (out[index[Math.floor(i / width)]! * width + (i % width)]! += v));
  return out;
}
