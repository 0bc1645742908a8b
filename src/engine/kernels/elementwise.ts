/** Elementwise operations on [rows, width] tensors, four values a thread. */
import { type Dispatch, floatBits, type Gpu, rowCount, type Rows, rowWords, type View } from '../gpu.ts';
import { checkMultiple, headWgsl, itemGroups, itemKernelWgsl } from './row-kernel.ts';

export interface ElementwiseSizes {
  rows: Rows;
  width: number;
}

function unary(gpu: Gpu, label: string, text: string, y: View, counts: View, { rows, width }: ElementwiseSizes, word = 0): Dispatch[] {
  checkMultiple(`${label} width`, width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', text)}`;
  const dims = gpu.uniform(`${label} dims`, [...rowWords(rows), width / 4, word, 0, 0]);
  const kernel = gpu.kernel(label, wgsl, ['uniform', 'uniform', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, y], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
}

function binary(gpu: Gpu, label: string, text: string, x: View, y: View, counts: View, { rows, width }: ElementwiseSizes): Dispatch[] {
  checkMultiple(`${label} width`, width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', text)}`;
  const dims = gpu.uniform(`${label} dims`, [...rowWords(rows), width / 4, 0, 0, 0]);
  const kernel = gpu.kernel(label, wgsl, ['uniform', 'uniform', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, x, y], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
}

/** y += x */
export const add = (gpu: Gpu, { x, y, counts }: { x: View; y: View; counts: View }, sizes: ElementwiseSizes): Dispatch[] =>
  binary(gpu, 'add', 'y[i] += x[i];', x, y, counts, sizes);
/** y = x */
export const copy = (gpu: Gpu, { x, y, counts }: { x: View; y: View; counts: View }, sizes: ElementwiseSizes): Dispatch[] =>
  binary(gpu, 'copy', 'y[i] = x[i];', x, y, counts, sizes);
/** y = 0 */
export const zero = (gpu: Gpu, { y, counts }: { y: View; counts: View }, sizes: ElementwiseSizes): Dispatch[] =>
  unary(gpu, 'zero', 'y[i] = vec4f();', y, counts, sizes);
/** y *= factor */
export const scale = (gpu: Gpu, { y, counts }: { y: View; counts: View }, sizes: ElementwiseSizes & { factor: number }): Dispatch[] =>
  unary(gpu, 'scale', 'y[i] *= bitcast<f32>(dims.p0.y);', y, counts, sizes, floatBits(sizes.factor));
