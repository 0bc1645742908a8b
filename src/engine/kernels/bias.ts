/** Biases of linear layers (Qwen2's q, k and v) and their gradient. */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { addStrips, STRIP_WGSL, STRIPS } from './strips.ts';
import { checkMultiple, itemGroups, itemMain } from './threads.ts';

export { partialBytes as biasPartialBytes } from './strips.ts';

/** y[rows, width] += bias[width]. */
export function addBias(
  gpu: Gpu,
  { bias, y, counts }: { bias: View; y: View; counts: View },
  { rows, width }: { rows: Rows; width: number },
): Dispatch[] {
  checkMultiple('bias width', width);
  const kernel = defineKernel({
    label: 'add bias',
    dims: { rows: 'Rows', width: 'u32' },
    reads: { bias: 'vec4f' },
    writes: { y: 'vec4f' },
    body: itemMain(gpu.tuning, 'row_count() * dims.width', 'y[i] += bias[i % dims.width];'),
  });
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);
  return [gpu.dispatch(kernel, { dims: { rows, width: width / 4 }, counts, bias, y }, groups)];
}

/** dbias[width] += the sum of dy[rows, width] over rows. `partial` is scratch of `biasPartialBytes(width)`. */
export function biasGradient(
  gpu: Gpu,
  { dy, dbias, partial, counts }: { dy: View; dbias: View; partial: View; counts: View },
  { rows, width }: { rows: Rows; width: number },
): Dispatch[] {
  checkMultiple('bias width', width);
  const kernel = defineKernel({
    label: 'bias gradient',
    dims: { rows: 'Rows', width: 'u32' },
    reads: { dy: 'vec4f' },
    writes: { partial: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      `${STRIPS}u * dims.width`,
      `
  let strip = i / dims.width; let c = i % dims.width;
  ${STRIP_WGSL}
  var sum = vec4f();
  for (var row = begin; row < to; row++) { sum += dy[row * dims.width + c]; }
  partial[i] = sum;`,
    ),
  });
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) > 0 ? (STRIPS * width) / 4 : 0));
  return [
    gpu.dispatch(kernel, { dims: { rows, width: width / 4 }, counts, dy, partial }, groups),
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
