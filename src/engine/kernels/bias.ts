/** Biases of linear layers (Qwen2's q, k and v) and their gradient. */
import { type Dispatch, type Gpu, rowCount, type Rows, rowWords, type View } from '../gpu.ts';
import { addStrips, checkMultiple, headWgsl, itemGroups, itemKernelWgsl, STRIP_WGSL, STRIPS } from './row-kernel.ts';

export { partialBytes as biasPartialBytes } from './row-kernel.ts';

/** y[rows, width] += bias[width]. */
export function addBias(gpu: Gpu, { bias, y, counts }: { bias: View; y: View; counts: View }, { rows, width }: { rows: Rows; width: number }): Dispatch[] {
  checkMultiple('bias width', width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> bias: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', 'y[i] += bias[i % dims.p0.x];')}`;
  const dims = gpu.uniform('bias dims', [...rowWords(rows), width / 4, 0, 0, 0]);
  const kernel = gpu.kernel('add bias', wgsl, ['uniform', 'uniform', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, bias, y], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
}

/** dbias[width] += Σ dy[rows, width] over rows. `partial`: scratch of `biasPartialBytes(width)`. */
export function biasGradient(
  gpu: Gpu,
  { dy, dbias, partial, counts }: { dy: View; dbias: View; partial: View; counts: View },
  { rows, width }: { rows: Rows; width: number },
): Dispatch[] {
  checkMultiple('bias width', width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> dy: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> partial: array<vec4f>;
${itemKernelWgsl(gpu, `${STRIPS}u * dims.p0.x`, `
  let n = row_count(dims.rows, counts);
  let strip = i / dims.p0.x; let c = i % dims.p0.x;
  ${STRIP_WGSL}
  var sum = vec4f();
  for (var row = begin; row < to; row++) { sum += dy[row * dims.p0.x + c]; }
  partial[i] = sum;`)}`;
  const dims = gpu.uniform('bias gradient dims', [...rowWords(rows), width / 4, 0, 0, 0]);
  const kernel = gpu.kernel('bias gradient', wgsl, ['uniform', 'uniform', 'read', 'read_write']);
  return [
    gpu.dispatch(kernel, [dims, counts, dy, partial], itemGroups(gpu, (run) => (rowCount(rows, run) > 0 ? (STRIPS * width) / 4 : 0))),
    addStrips(gpu, { partial, out: dbias, counts }, { rows, width }),
  ];
}

export function addBiasReference(y: Float64Array, bias: Float64Array): Float64Array {
  return y.map((v, i) => v + bias[i % bias.length]!);
}
export function biasGradientReference(dy: Float64Array, width: number): Float64Array {
  const out = new Float64Array(width);
  dy.forEach((v, i) => (out[i % width]! += v));
  return out;
}
