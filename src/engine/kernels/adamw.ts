/**
 * Global gradient norm and AdamW (Loshchilov and Hutter 2019, as in PyTorch) over the flat parameter buffer, without a
 * round trip to the CPU: the clip scale and whether the norm is finite stay on the GPU.
 */
import { type Dispatch, type Gpu, type View } from '../gpu.ts';
import type { AdamWParams } from '../types.ts';
import { checkMultiple, GRID_BUILTINS, headWgsl, itemGroups, itemKernelWgsl } from './row-kernel.ts';

/** Partial sums of the norm. */
const PARTS = 1024;
export const NORM_PARTIAL_BYTES = PARTS * 4;
/** Floats of a parameter that share one decay bit: tensors start at multiples of 256 bytes. */
const BLOCK = 64;

/** Bytes of the uniform `settings`. */
export const ADAMW_SETTINGS_BYTES = 48;
/** Contents of `settings` for optimizer step `step` (from 1). */
export function adamwSettings(params: AdamWParams, step: number): Float32Array<ArrayBuffer> {
  if (!Number.isInteger(step) || step < 1) throw new RangeError(`adamwSettings step ${step}: expected an integer from 1`);
  const { lr, beta1, beta2, eps, weight_decay, grad_clip } = params;
  // Corrections and complements in f64: 1 - 0.999 in f32 would lose four digits.
  return Float32Array.of(lr / (1 - beta1 ** step), beta1, beta2, eps, 1 - lr * weight_decay, grad_clip, 1 / Math.sqrt(1 - beta2 ** step), 1 - beta1, 1 - beta2, 0, 0, 0);
}

export interface ParameterSegment {
  /** In floats; a multiple of 64. */
  offset: number;
  size: number;
  decay: boolean;
}
/** One bit for each 64 floats of the parameter buffer: 1 where weight decay applies. @throws RangeError for a crooked offset. */
export function decayMask(segments: readonly ParameterSegment[], floats: number): Uint32Array<ArrayBuffer> {
  const mask = new Uint32Array(Math.ceil(floats / BLOCK / 32));
  for (const { offset, size, decay } of segments) {
    if (offset % BLOCK !== 0) throw new RangeError(`decayMask offset ${offset}: expected a multiple of ${BLOCK}`);
    if (!decay) continue;
    for (let block = offset / BLOCK; block * BLOCK < offset + size; block++) mask[block >> 5]! |= 1 << (block & 31);
  }
  return mask;
}

const SETTINGS_WGSL = 'struct Settings { rate: f32, beta1: f32, beta2: f32, eps: f32, keep: f32, clip: f32, correction2: f32, fresh1: f32, fresh2: f32, pad0: f32, pad1: f32, pad2: f32 }';

/**
 * norm = vec4f(global L2 norm of grads, factor that clips it to settings.clip, 1 if finite else 0, 0), 16 bytes.
 * `floats`: length of the buffer, a multiple of 4. partial: NORM_PARTIAL_BYTES.
 */
export function gradNorm(
  gpu: Gpu,
  { grads, partial, norm, settings, counts }: { grads: View; partial: View; norm: View; settings: View; counts: View },
  { floats }: { floats: number },
): Dispatch[] {
  checkMultiple('gradNorm floats', floats);
  const parts = `${headWgsl(0)}
@group(0) @binding(2) var<storage, read> grads: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> partial: array<f32>;
${itemKernelWgsl(gpu, `${PARTS}u`, `
  var sum = vec4f();
  for (var at = i; at < dims.rows.x; at += ${PARTS}u) { let g = grads[at]; sum += g * g; }
  partial[i] = sum.x + sum.y + sum.z + sum.w;`)}`;
  const join = `${headWgsl(0)}
${SETTINGS_WGSL}
@group(0) @binding(2) var<uniform> settings: Settings;
@group(0) @binding(3) var<storage, read> partial: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> norm: array<vec4f>;
@compute @workgroup_size(1) fn main(${GRID_BUILTINS}) {
  var sum = vec4f();
  for (var p = 0u; p < ${PARTS / 4}u; p++) { sum += partial[p]; }
  let total = sum.x + sum.y + sum.z + sum.w;
  // By bits: compilers may assume that floats are finite.
  let finite = (bitcast<u32>(total) & 0x7f800000u) != 0x7f800000u;
  let length = sqrt(total);
  var factor = 1f;
  if (settings.clip > 0f) { factor = min(1f, settings.clip / (length + 1e-6f)); }
  norm[0] = vec4f(length, factor, select(0f, 1f, finite), 0f);
}`;
  const dims = gpu.uniform('grad norm dims', [floats / 4, 0, 0, 0]);
  const partsKernel = gpu.kernel('grad norm parts', parts, ['uniform', 'uniform', 'read', 'read_write']);
  const joinKernel = gpu.kernel('grad norm', join, ['uniform', 'uniform', 'uniform', 'read', 'read_write']);
  return [
    gpu.dispatch(partsKernel, [dims, counts, grads, partial], itemGroups(gpu, () => PARTS)),
    gpu.dispatch(joinKernel, [dims, counts, settings, partial, norm], () => [1]),
  ];
}

/** One AdamW step on params, m and v [floats]; clears grads. With a non-finite `norm` only the clearing happens. `decay`: `decayMask`. */
export function adamw(
  gpu: Gpu,
  t: { params: View; grads: View; m: View; v: View; decay: View; norm: View; settings: View; counts: View },
  { floats }: { floats: number },
): Dispatch[] {
  checkMultiple('adamw floats', floats);
  const wgsl = `${headWgsl(0)}
${SETTINGS_WGSL}
@group(0) @binding(2) var<uniform> settings: Settings;
@group(0) @binding(3) var<storage, read> norm: array<vec4f>;
@group(0) @binding(4) var<storage, read> decay: array<u32>;
@group(0) @binding(5) var<storage, read_write> params: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> grads: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> m: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> v: array<vec4f>;
${itemKernelWgsl(gpu, 'dims.rows.x', `
  let state = norm[0];
  let g = grads[i] * state.y;
  grads[i] = vec4f();
  if (state.z == 0f) { return; }
  let first = settings.beta1 * m[i] + settings.fresh1 * g;
  let second = settings.beta2 * v[i] + settings.fresh2 * g * g;
  m[i] = first;
  v[i] = second;
  let block = i / ${BLOCK / 4}u;
  let keep = select(1f, settings.keep, ((decay[block / 32u] >> (block % 32u)) & 1u) == 1u);
  params[i] = params[i] * keep - settings.rate * first / (sqrt(second) * settings.correction2 + settings.eps);`)}`;
  const dims = gpu.uniform('adamw dims', [floats / 4, 0, 0, 0]);
  const kernel = gpu.kernel('adamw', wgsl, ['uniform', 'uniform', 'uniform', 'read', 'read', 'read_write', 'read_write', 'read_write', 'read_write']);
  return [gpu.dispatch(kernel, [dims, t.counts, t.settings, t.norm, t.decay, t.params, t.grads, t.m, t.v], itemGroups(gpu, () => floats / 4))];
}

function gradNormReference(grads: Float64Array): number {
  return Math.sqrt(grads.reduce((sum, g) => sum + g * g, 0));
}

/** One step in place; `decays(i)` tells whether weight decay applies to entry i. Clips first. Returns the norm before clipping. */
export function adamwReference(
  state: { params: Float64Array; grads: Float64Array; m: Float64Array; v: Float64Array },
  { lr, beta1, beta2, eps, weight_decay, grad_clip }: AdamWParams,
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
      const decayed = params[i]! * (decays(i) ? 1 - lr * weight_decay : 1);
      params[i] = decayed - (lr * (m[i]! / (1 - beta1 ** step))) / (Math.sqrt(v[i]! / (1 - beta2 ** step)) + eps);
    });
  }
  grads.fill(0);
  return norm;
}
