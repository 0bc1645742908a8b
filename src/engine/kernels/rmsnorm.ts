/** Root-mean-square norm (Zhang and Sennrich 2019) over rows, with a learned gain, and its gradient. */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { addStrips, STRIP_WGSL, STRIPS } from './strips.ts';
import { checkMultiple, itemGroups, itemMain, rowGroups, rowMain } from './threads.ts';

export { partialBytes as rmsnormPartialBytes } from './strips.ts';

/** y[rows, width] = x · rstd · weight, rstd[rows] = 1 / √(mean(x²) + eps). x and y may not share a buffer. */
export function rmsnorm(
  gpu: Gpu,
  { x, weight, y, rstd, counts }: { x: View; weight: View; y: View; rstd: View; counts: View },
  { rows, width, eps }: { rows: Rows; width: number; eps: number },
): Dispatch[] {
  checkMultiple('rmsnorm width', width);
  const kernel = defineKernel({
    label: 'rmsnorm',
    dims: { rows: 'Rows', width: 'u32', eps: 'f32' },
    reads: { x: 'vec4f', weight: 'vec4f' },
    writes: { y: 'vec4f', rstd: 'f32' },
    body: rowMain(
      gpu.tuning,
      `
  let width = dims.width;
  let at = row * width;
  var squares = vec4f();
  for (var c = lane; c < width; c += step) { let v = x[at + c]; squares += v * v; }
  let sum = row_sum(squares.x + squares.y + squares.z + squares.w, lane);
  let r = 1f / sqrt(sum / f32(4u * width) + dims.eps);
  if (lane == 0u) { rstd[row] = r; }
  for (var c = lane; c < width; c += step) { y[at + c] = x[at + c] * r * weight[c]; }`,
    ),
  });
  const dims = { rows, width: width / 4, eps };
  return [gpu.dispatch(kernel, { dims, counts, x, weight, y, rstd }, rowGroups(gpu.tuning, rows))];
}

/**
 * Computes dx from dy, and adds to dweight if it is given. With x̂ = x · rstd and g = weight · dy:
 * dx = rstd · (g - x̂ · mean(g · x̂)), dweight += Σ dy · x̂ over rows. With `accumulateDx`, the result is added to dx.
 * `partial` is scratch of `rmsnormPartialBytes(width)`.
 */
export function rmsnormBackward(
  gpu: Gpu,
  t: { x: View; weight: View; rstd: View; dy: View; dx: View; dweight?: View | undefined; partial: View; counts: View },
  { rows, width, accumulateDx }: { rows: Rows; width: number; accumulateDx?: boolean },
): Dispatch[] {
  checkMultiple('rmsnorm width', width);
  const input = defineKernel({
    label: 'rmsnorm dx',
    dims: { rows: 'Rows', width: 'u32', accumulate: 'u32' },
    reads: { x: 'vec4f', weight: 'vec4f', rstd: 'f32', dy: 'vec4f' },
    writes: { dx: 'vec4f' },
    body: rowMain(
      gpu.tuning,
      `
  let width = dims.width;
  let at = row * width;
  var products = vec4f();
  for (var c = lane; c < width; c += step) { products += weight[c] * dy[at + c] * x[at + c]; }
  let r = rstd[row];
  let mean = row_sum(products.x + products.y + products.z + products.w, lane) * r / f32(4u * width);
  for (var c = lane; c < width; c += step) {
    var d = r * (weight[c] * dy[at + c] - x[at + c] * (r * mean));
    if (dims.accumulate != 0u) { d += dx[at + c]; }
    dx[at + c] = d;
  }`,
    ),
  });
  const dims = { rows, width: width / 4 };
  const program = [gpu.dispatch(input, { ...t, dims: { ...dims, accumulate: accumulateDx ? 1 : 0 } }, rowGroups(gpu.tuning, rows))];
  if (!t.dweight) return program;
  const gain = defineKernel({
    label: 'rmsnorm dweight',
    dims: { rows: 'Rows', width: 'u32' },
    reads: { x: 'vec4f', rstd: 'f32', dy: 'vec4f' },
    writes: { partial: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      `${STRIPS}u * dims.width`,
      `
  let strip = i / dims.width; let c = i % dims.width;
  ${STRIP_WGSL}
  var sum = vec4f();
  for (var row = begin; row < to; row++) { let at = row * dims.width + c; sum += dy[at] * x[at] * rstd[row]; }
  partial[i] = sum;`,
    ),
  });
  const stripGroups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) > 0 ? (STRIPS * width) / 4 : 0));
  return [
    ...program,
    gpu.dispatch(gain, { ...t, dims }, stripGroups),
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

export function rmsnormBackwardReference(
  x: Float64Array,
  weight: Float64Array,
  eps: number,
  dy: Float64Array,
): { dx: Float64Array; dweight: Float64Array } {
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
