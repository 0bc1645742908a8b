/** Root-mean-square norm (Zhang and Sennrich 2019) over rows, with a learned gain, and its gradient. */
import { type Dispatch, floatBits, type Gpu, rowCount, type Rows, rowWords, type View } from '../gpu.ts';
import { addStrips, checkMultiple, headWgsl, itemGroups, itemKernelWgsl, rowGroups, rowKernelWgsl, STRIP_WGSL, STRIPS } from './row-kernel.ts';

export { partialBytes as rmsnormPartialBytes } from './row-kernel.ts';

/** y[rows, width] = x · rstd · weight, rstd[rows] = 1 / √(mean(x²) + eps). x and y may not share a buffer. */
export function rmsnorm(
  gpu: Gpu,
  { x, weight, y, rstd, counts }: { x: View; weight: View; y: View; rstd: View; counts: View },
  { rows, width, eps }: { rows: Rows; width: number; eps: number },
): Dispatch[] {
  checkMultiple('rmsnorm width', width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> weight: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> rstd: array<f32>;
${rowKernelWgsl(gpu, 'row_count(dims.rows, counts)', `
  let width = dims.p0.x;
  let at = row * width;
  var squares = vec4f();
  for (var c = lane; c < width; c += step) { let v = x[at + c]; squares += v * v; }
  let sum = row_sum(squares.x + squares.y + squares.z + squares.w, lane);
  let r = 1f / sqrt(sum / f32(4u * width) + bitcast<f32>(dims.p0.y));
  if (lane == 0u) { rstd[row] = r; }
  for (var c = lane; c < width; c += step) { y[at + c] = x[at + c] * r * weight[c]; }`)}`;
  const kernel = gpu.kernel('rmsnorm', wgsl, ['uniform', 'uniform', 'read', 'read', 'read_write', 'read_write']);
  const dims = gpu.uniform('rmsnorm dims', [...rowWords(rows), width / 4, floatBits(eps), 0, 0]);
  return [gpu.dispatch(kernel, [dims, counts, x, weight, y, rstd], rowGroups(gpu, rows))];
}

/**
 * dx (=, or += with `accumulateDx`) and dweight += from dy. With x̂ = x · rstd and g = weight · dy:
 * dx = rstd · (g - x̂ · mean(g · x̂)), dweight = Σ dy · x̂. `partial`: scratch of `rmsnormPartialBytes(width)`.
 */
export function rmsnormBackward(
  gpu: Gpu,
  t: { x: View; weight: View; rstd: View; dy: View; dx: View; dweight: View; partial: View; counts: View },
  { rows, width, accumulateDx }: { rows: Rows; width: number; accumulateDx?: boolean },
): Dispatch[] {
  checkMultiple('rmsnorm width', width);
  const input = `${headWgsl()}
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> weight: array<vec4f>;
@group(0) @binding(4) var<storage, read> rstd: array<f32>;
@group(0) @binding(5) var<storage, read> dy: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> dx: array<vec4f>;
${rowKernelWgsl(gpu, 'row_count(dims.rows, counts)', `
  let width = dims.p0.x;
  let at = row * width;
  var products = vec4f();
  for (var c = lane; c < width; c += step) { products += weight[c] * dy[at + c] * x[at + c]; }
  let r = rstd[row];
  let mean = row_sum(products.x + products.y + products.z + products.w, lane) * r / f32(4u * width);
  for (var c = lane; c < width; c += step) {
    var d = r * (weight[c] * dy[at + c] - x[at + c] * (r * mean));
    if (dims.p0.y != 0u) { d += dx[at + c]; }
    dx[at + c] = d;
  }`)}`;
  const gain = `${headWgsl()}
@group(0) @binding(2) var<storage, read> x: array<vec4f>;
@group(0) @binding(3) var<storage, read> rstd: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> partial: array<vec4f>;
${itemKernelWgsl(gpu, `${STRIPS}u * dims.p0.x`, `
  let n = row_count(dims.rows, counts);
  let strip = i / dims.p0.x; let c = i % dims.p0.x;
  ${STRIP_WGSL}
  var sum = vec4f();
  for (var row = begin; row < to; row++) { let at = row * dims.p0.x + c; sum += dy[at] * x[at] * rstd[row]; }
  partial[i] = sum;`)}`;
  const dims = gpu.uniform('rmsnorm backward dims', [...rowWords(rows), width / 4, accumulateDx ? 1 : 0, 0, 0]);
  const inputKernel = gpu.kernel('rmsnorm dx', input, ['uniform', 'uniform', 'read', 'read', 'read', 'read', 'read_write']);
  const gainKernel = gpu.kernel('rmsnorm dweight', gain, ['uniform', 'uniform', 'read', 'read', 'read', 'read_write']);
  return [
    gpu.dispatch(inputKernel, [dims, t.counts, t.x, t.weight, t.rstd, t.dy, t.dx], rowGroups(gpu, rows)),
    gpu.dispatch(gainKernel, [dims, t.counts, t.x, t.rstd, t.dy, t.partial], itemGroups(gpu, (run) => (rowCount(rows, run) > 0 ? (STRIPS * width) / 4 : 0))),
    addStrips(gpu, { partial: t.partial, out: t.dweight, counts: t.counts }, { rows, width }),
  ];
}

export function rmsnormReference(x: Float64Array, weight: Float64Array, eps: number): { y: Float64Array; rstd: Float64Array } {
  const width = weight.length;
  const rstd = Float64Array.from({ length: x.length / width }, (_, row) => {
    const values = x.subarray(row * width, (row + 1) * width);
    return 1 / Math.sqrt(values.reduce((sum, v) => sum + v * v, 0) / width + eps);
  });
  return { y: x.map((v, i) => v * rstd[Math.floor(i / width)]! * weight[i % width]!), rstd };
}

export function rmsnormBackwardReference(x: Float64Array, weight: Float64Array, eps: number, dy: Float64Array): { dx: Float64Array; dweight: Float64Array } {
  const width = weight.length;
  const { rstd } = rmsnormReference(x, weight, eps);
  const dx = new Float64Array(x.length);
  const dweight = new Float64Array(width);
  rstd.forEach((r, row) => {
    const at = row * width;
    let mean = 0;
    for (let c = 0; c < width; c++) mean += (weight[c]! * dy[at + c]! * x[at + c]! * r) / width;
    for (let c = 0; c < width; c++) {
      dx[at + c] = r * (weight[c]! * dy[at + c]! - x[at + c]! * r * mean);
      dweight[c]! += dy[at + c]! * x[at + c]! * r;
    }
  });
  return { dx, dweight };
}
