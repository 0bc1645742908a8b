/** Helpers of the kernel tests: seeded data, upload, run, and comparison with the float64 references. */
import { expect } from 'vitest';
import type { Dispatch, Gpu, View } from '../../src/engine/gpu.ts';
import type { Counts } from '../../src/engine/rows.ts';

/** Seeded values in [-1, 1). f32 represents them exactly, so that the references get the same inputs. */
export function random(length: number, seed = 1): Float64Array {
  let state = seed * 2654435761 + 12345;
  return Float64Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.fround(state / 2 ** 31 - 1);
  });
}

export function upload(gpu: Gpu, values: Float64Array | Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>): View {
  const view = gpu.buffer('test data', values.byteLength);
  gpu.write(view, values instanceof Float64Array ? Float32Array.from(values) : values);
  return view;
}
export const uploadWords = (gpu: Gpu, values: readonly number[]): View => upload(gpu, Uint32Array.from(values));
export const uploadCounts = (gpu: Gpu, { tokens, rows }: Counts): View => gpu.uniform('counts', [tokens, rows, 0, 0]);
export function uploadUniform(gpu: Gpu, values: Float32Array): View {
  return gpu.uniform('settings', new Uint32Array(values.buffer, values.byteOffset, values.length));
}

export async function run(gpu: Gpu, program: readonly Dispatch[], counts: Counts): Promise<void> {
  await gpu.ready();
  gpu.run(program, counts);
}
export const download = async (gpu: Gpu, view: View, floats: number): Promise<Float32Array> =>
  new Float32Array(await gpu.read(view, floats * 4));

/** Largest difference relative to the largest expected magnitude (at least 1). */
export function expectClose(got: ArrayLike<number>, expected: Float64Array, tolerance = 2e-6, what = ''): void {
  expect(got.length, what).toBe(expected.length);
  const magnitude = expected.reduce((most, v) => Math.max(most, Math.abs(v)), 1);
  let worst = 0;
  expected.forEach((v, i) => {
    const error = Math.abs(got[i]! - v) / magnitude;
    if (!(error <= worst)) worst = error; // keeps NaN
  });
  expect(worst, what).toBeLessThanOrEqual(tolerance);
}

/** Checks `gradient` of Σ upstream · f(x) against central differences at every entry of x. */
export function expectGradient(
  f: (x: Float64Array) => Float64Array,
  x: Float64Array,
  upstream: Float64Array,
  gradient: Float64Array,
  what = '',
): void {
  const loss = (at: Float64Array): number => f(at).reduce((sum, v, i) => sum + v * upstream[i]!, 0);
  const h = 1e-5;
  const numeric = x.map((v, i) => {
    const probe = Float64Array.from(x);
    probe[i] = v + h;
    const above = loss(probe);
    probe[i] = v - h;
    return (above - loss(probe)) / (2 * h);
  });
  expectClose(gradient, numeric, 1e-8, `finite differences ${what}`);
}
