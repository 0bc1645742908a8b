/**
 * Computes the global gradient norm and AdamW (Loshchilov and Hutter 2019, as in PyTorch) over flat parameter buffers. The GPU also
 * computes the factor that clips the gradient, and checks whether the norm is finite. So a step needs no round trip to the CPU.
 */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { subview } from '../gpu-memory.ts';
import { defineKernel } from '../kernel.ts';
import type { AdamWParams } from '../types.ts';
import { checkMultiple, itemGroups, itemMain } from './threads.ts';

/** Number of partial sums of the norm. */
const PARTS = 1024;
/** Bytes of the partial sums of one part of the gradient. */
export const NORM_PARTIAL_BYTES = PARTS * 4;
/** Number of consecutive floats that share one decay bit. Tensors start at multiples of 256 bytes, so each bit belongs to one tensor. */
const BLOCK = 64;

/** Bytes of the uniform `settings`. */
export const ADAMW_SETTINGS_BYTES = 48;
/** The values of the uniform `settings` for optimizer step `step` (from 1). */
export function adamwSettings(params: AdamWParams, step: number): Float32Array<ArrayBuffer> {
  if (!Number.isInteger(step) || step < 1) throw new RangeError(`adamwSettings step ${step}: expected an integer from 1`);
  const { lr, beta1, beta2, eps, weight_decay, decay_all_parameters = false, grad_clip } = params;
  // JavaScript computes these in f64. In f32, 1 - 0.999 would lose four digits.
  return Float32Array.of(
    lr / (1 - beta1 ** step),
    beta1,
    beta2,
    eps,
    1 - lr * weight_decay,
    grad_clip,
    1 / Math.sqrt(1 - beta2 ** step),
    1 - beta1,
    1 - beta2,
    Number(decay_all_parameters),
    0,
    0,
  );
}

export interface ParameterSegment {
  /** Offset in its buffer, in floats; a multiple of 64. */
  offset: number;
  size: number;
  decay: boolean;
}
/**
 * One bit for each 64 floats of the parameter buffer: 1 where weight decay applies.
 * @throws RangeError if an offset is not a multiple of 64.
 */
export function decayMask(segments: readonly ParameterSegment[], floats: number): Uint32Array<ArrayBuffer> {
  const mask = new Uint32Array(Math.ceil(floats / BLOCK / 32));
  for (const { offset, size, decay } of segments) {
    if (offset % BLOCK !== 0) throw new RangeError(`decayMask offset ${offset}: expected a multiple of ${BLOCK}`);
    if (!decay) continue;
    for (let block = offset / BLOCK; block * BLOCK < offset + size; block++) mask[block >> 5]! |= 1 << (block & 31);
  }
  return mask;
}

/** Fields of the uniform `settings`, in the order of `adamwSettings`. */
const SETTINGS = {
  rate: 'f32',
  beta1: 'f32',
  beta2: 'f32',
  eps: 'f32',
  keep: 'f32',
  clip: 'f32',
  correction2: 'f32',
  fresh1: 'f32',
  fresh2: 'f32',
  decay_all: 'f32',
  pad1: 'f32',
  pad2: 'f32',
} as const;

/**
 * norm = vec4f(global L2 norm of grads, factor that clips the norm to settings.clip, 1 if the norm is finite else 0, 0), 16 bytes.
 * `floats` is the length of each part of the gradient, a multiple of 4. `partial` is scratch of NORM_PARTIAL_BYTES for each part.
 */
export function gradNorm(
  gpu: Gpu,
  gradients: readonly { grads: View; floats: number }[],
  { partial, norm, settings }: { partial: View; norm: View; settings: View },
): Dispatch[] {
  const sums = defineKernel({
    label: 'grad norm parts',
    dims: { vectors: 'u32' },
    reads: { grads: 'vec4f' },
    writes: { partial: 'f32' },
    body: itemMain(
      gpu.tuning,
      `${PARTS}u`,
      `
  var sum = vec4f();
  for (var at = i; at < dims.vectors; at += ${PARTS}u) { let g = grads[at]; sum += g * g; }
  partial[i] = sum.x + sum.y + sum.z + sum.w;`,
    ),
  });
  const join = defineKernel({
    label: 'grad norm',
    dims: { vectors: 'u32' },
    uniforms: { settings: SETTINGS },
    reads: { partial: 'vec4f' },
    writes: { norm: 'vec4f' },
    body: /* wgsl */ `
@compute @workgroup_size(1) fn main() {
  var sum = vec4f();
  for (var p = 0u; p < dims.vectors; p++) { sum += partial[p]; }
  let total = sum.x + sum.y + sum.z + sum.w;
  // The exponent bits tell: compilers may assume that floats are finite.
  let finite = (bitcast<u32>(total) & 0x7f800000u) != 0x7f800000u;
  let length = sqrt(total);
  var factor = 1f;
  if (settings.clip > 0f) { factor = min(1f, settings.clip / (length + 1e-6f)); }
  norm[0] = vec4f(length, factor, select(0f, 1f, finite), 0f);
}`,
  });
  const groups = itemGroups(gpu.tuning, () => PARTS);
  return [
    ...gradients.map(({ grads, floats }, part) => {
      checkMultiple('gradNorm floats', floats);
      const own = subview(partial, part * NORM_PARTIAL_BYTES, NORM_PARTIAL_BYTES);
      return gpu.dispatch(sums, { dims: { vectors: floats / 4 }, grads, partial: own }, groups);
    }),
    gpu.dispatch(join, { dims: { vectors: (gradients.length * PARTS) / 4 }, settings, partial, norm }, () => [1]),
  ];
}

/**
 * Makes one AdamW step on params, m and v [floats], and sets grads to 0. If `norm` is not finite, only grads change. `decay` holds the
 * `decayMask`.
 */
export function adamw(
  gpu: Gpu,
  t: { params: View; grads: View; m: View; v: View; decay: View; norm: View; settings: View },
  { floats }: { floats: number },
): Dispatch[] {
  checkMultiple('adamw floats', floats);
  const kernel = defineKernel({
    label: 'adamw',
    dims: { vectors: 'u32' },
    uniforms: { settings: SETTINGS },
    reads: { norm: 'vec4f', decay: 'u32' },
    writes: { params: 'vec4f', grads: 'vec4f', m: 'vec4f', v: 'vec4f' },
    body: itemMain(
      gpu.tuning,
      'dims.vectors',
      `
  let state = norm[0];
  let g = grads[i] * state.y;
  grads[i] = vec4f();
  if (state.z == 0f) { return; }
  let first = settings.beta1 * m[i] + settings.fresh1 * g;
  let second = settings.beta2 * v[i] + settings.fresh2 * g * g;
  m[i] = first;
  v[i] = second;
  let block = i / ${BLOCK / 4}u;
  let keep = select(1f, settings.keep, settings.decay_all != 0f || ((decay[block / 32u] >> (block % 32u)) & 1u) == 1u);
  params[i] = params[i] * keep - settings.rate * first / (sqrt(second) * settings.correction2 + settings.eps);`,
    ),
  });
  const groups = itemGroups(gpu.tuning, () => floats / 4);
  return [gpu.dispatch(kernel, { ...t, dims: { vectors: floats / 4 } }, groups)];
}

function gradNormReference(grads: Float64Array): number {
  return Math.sqrt(grads.reduce((sum, g) => sum + g * g, 0));
}

/** Makes one step in place, with clipping. `decays(i)` says whether weight decay applies to entry i. Returns the norm before clipping. */
export function adamwReference(
  state: { params: Float64Array; grads: Float64Array; m: Float64Array; v: Float64Array },
  { lr, beta1, beta2, eps, weight_decay, decay_all_parameters, grad_clip }: AdamWParams,
  step: number,
  decays: (i: number) => boolean,
): number {
  const { params, grads, m, v } = state;
  const norm = gradNormReference(grads);
  const factor = grad_clip > 0 ? Math.min(1, grad_clip / (norm + 1e-6)) : 1;
  if (Number.isFinite(norm)) {
    grads.forEach((gradient, i) => {
      const g = gradient * factor;
      m[i] = beta1 * m[i]! + (1 - beta1) * g;
      v[i] = beta2 * v[i]! + (1 - beta2) * g * g;
      const decayed = params[i]! * (decay_all_parameters || decays(i) ? 1 - lr * weight_decay : 1);
      params[i] = decayed - (lr * (m[i]! / (1 - beta1 ** step))) / (Math.sqrt(v[i]! / (1 - beta2 ** step)) + eps);
    });
  }
  grads.fill(0);
  return norm;
}
