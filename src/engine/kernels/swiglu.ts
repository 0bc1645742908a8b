/** SwiGLU (Shazeer 2020): act = silu(gate) · up, with gate and up side by side in one tensor. */
import { type Dispatch, type Gpu, rowCount, type Rows, rowWords, type View } from '../gpu.ts';
import { checkMultiple, headWgsl, itemGroups, itemKernelWgsl } from './row-kernel.ts';

export interface SwigluSizes {
  rows: Rows;
  /** intermediate_size, a multiple of 4. */
  width: number;
}

const AT = 'let row = i / dims.p0.x; let gate_at = i + row * dims.p0.x; let up_at = gate_at + dims.p0.x;';

/** act[rows, width] from gateUp[rows, 2·width] (gate columns first). */
export function swiglu(gpu: Gpu, { gateUp, act, counts }: { gateUp: View; act: View; counts: View }, { rows, width }: SwigluSizes): Dispatch[] {
  checkMultiple('swiglu width', width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> gate_up: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> act: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', `${AT}
  let gate = gate_up[gate_at];
  act[i] = gate / (1f + exp(-gate)) * gate_up[up_at];`)}`;
  const dims = gpu.uniform('swiglu dims', [...rowWords(rows), width / 4, 0, 0, 0]);
  const kernel = gpu.kernel('swiglu', wgsl, ['uniform', 'uniform', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, gateUp, act], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
}

/** dgateUp[rows, 2·width] from dact[rows, width]: dup = silu(g) · d, dgate = σ(g) · (1 + g · (1 - σ(g))) · up · d. */
export function swigluBackward(
  gpu: Gpu,
  { gateUp, dact, dgateUp, counts }: { gateUp: View; dact: View; dgateUp: View; counts: View },
  { rows, width }: SwigluSizes,
): Dispatch[] {
  checkMultiple('swiglu width', width);
  const wgsl = `${headWgsl()}
@group(0) @binding(2) var<storage, read> gate_up: array<vec4f>;
@group(0) @binding(3) var<storage, read> dact: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> dgate_up: array<vec4f>;
${itemKernelWgsl(gpu, 'row_count(dims.rows, counts) * dims.p0.x', `${AT}
  let gate = gate_up[gate_at];
  let d = dact[i];
  let sigmoid = 1f / (1f + exp(-gate));
  dgate_up[gate_at] = sigmoid * (1f + gate * (1f - sigmoid)) * gate_up[up_at] * d;
  dgate_up[up_at] = gate * sigmoid * d;`)}`;
  const dims = gpu.uniform('swiglu backward dims', [...rowWords(rows), width / 4, 0, 0, 0]);
  const kernel = gpu.kernel('swiglu backward', wgsl, ['uniform', 'uniform', 'read', 'read', 'read_write']);
  return [gpu.dispatch(kernel, [dims, counts, gateUp, dact, dgateUp], itemGroups(gpu, (run) => (rowCount(rows, run) * width) / 4))];
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
