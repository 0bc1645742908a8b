/** SwiGLU (Shazeer 2020): act = silu(gate) · up, with gate and up side by side in one tensor. */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { rowCount, type Rows } from '../rows.ts';
import { checkMultiple, itemGroups, itemMain } from './threads.ts';

export interface SwigluSizes {
  rows: Rows;
  /** intermediate_size, a multiple of 4. */
  width: number;
}

const DIMS = { rows: 'Rows', width: 'u32' } as const;
const ITEMS = 'row_count() * dims.width';
const AT = 'let row = i / dims.width; let gate_at = i + row * dims.width; let up_at = gate_at + dims.width;';

/** Computes act[rows, width] from gateUp[rows, 2·width], whose first columns are gate. */
export function swiglu(
  gpu: Gpu,
  { gateUp, act, counts }: { gateUp: View; act: View; counts: View },
  { rows, width }: SwigluSizes,
): Dispatch[] {
  checkMultiple('swiglu width', width);
  const kernel = defineKernel({
    label: 'swiglu',
    dims: DIMS,
    reads: { gateUp: 'vec4f' },
    writes: { act: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      ITEMS,
      `${AT}
  let gate = gateUp[gate_at];
  act[i] = gate / (1f + exp(-gate)) * gateUp[up_at];`,
    ),
  });
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);
  return [gpu.dispatch(kernel, { dims: { rows, width: width / 4 }, counts, gateUp, act }, groups)];
}

/**
 * Computes dgateUp[rows, 2·width] from d = dact[rows, width]. With g = gate: dup = silu(g) · d and
 * dgate = σ(g) · (1 + g · (1 - σ(g))) · up · d.
 */
export function swigluBackward(
  gpu: Gpu,
  { gateUp, dact, dgateUp, counts }: { gateUp: View; dact: View; dgateUp: View; counts: View },
  { rows, width }: SwigluSizes,
): Dispatch[] {
  checkMultiple('swiglu width', width);
  const kernel = defineKernel({
    label: 'swiglu backward',
    dims: DIMS,
    reads: { gateUp: 'vec4f', dact: 'vec4f' },
    writes: { dgateUp: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      ITEMS,
      `${AT}
  let gate = gateUp[gate_at];
  let d = dact[i];
  let sigmoid = 1f / (1f + exp(-gate));
  dgateUp[gate_at] = sigmoid * (1f + gate * (1f - sigmoid)) * gateUp[up_at] * d;
  dgateUp[up_at] = gate * sigmoid * d;`,
    ),
  });
  const groups = itemGroups(gpu.tuning, (run) => (rowCount(rows, run) * width) / 4);
  return [gpu.dispatch(kernel, { dims: { rows, width: width / 4 }, counts, gateUp, dact, dgateUp }, groups)];
}

export function swigluReference(gateUp: Float64Array, width: number): Float64Array {
  return Float64Array.from({ length: gateUp.length / 2 }, (_, i) => {
    const at = Math.floor(i / width) * 2 * width + (i % width);
    return (gateUp[at]! / (1 + Math.exp(-gateUp[at]!))) * gateUp[at + width]!;
  });
}

export function swigluBackwardReference(gateUp: Float64Array, width: number, dact: Float64Array): Float64Array {
  const out = new Float64Array(gateUp.length);
  dact.forEach((d, i) => {
    const at = Math.floor(i / width) * 2 * width + (i % width);
    const [gate, up] = [gateUp[at]!, gateUp[at + width]!];
    const sigmoid = 1 / (1 + Math.exp(-gate));
    out[at] = sigmoid * (1 + gate * (1 - sigmoid)) * up * d;
    out[at + width] = gate * sigmoid * d;
  });
  return out;
}
