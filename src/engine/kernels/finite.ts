/** Finds values that are not finite in stored weights. */
import type { Dispatch, Gpu, View } from '../gpu.ts';
import { defineKernel } from '../kernel.ts';
import { grid } from '../rows.ts';
import { itemMain } from './threads.ts';

/** Number of u32 words that one thread checks. */
const STRIDE = 64;

/**
 * Finds the first of `words` u32 words in `values` that holds an infinity or NaN. If its index is w, writes 2³² - 1 - w into
 * found[slot]. If no word holds one, found[slot] stays as it is. It must be 0 before.
 * @param format in f32 a word holds one value, in bf16 two values
 */
export function findNotFinite(
  gpu: Gpu,
  { values, found }: { values: View; found: View },
  { words, slot, format }: { words: number; slot: number; format: 'f32' | 'bf16' },
): Dispatch {
  const kernel = defineKernel({
    label: 'find not finite',
    dims: { words: 'u32', slot: 'u32', low: 'u32' },
    reads: { values: 'u32' },
    writes: { found: 'atomic<u32>' },
    body: itemMain(
      gpu.tuning,
      `(dims.words + ${STRIDE - 1}u) / ${STRIDE}u`,
      `
  for (var w = i * ${STRIDE}u; w < min(dims.words, (i + 1u) * ${STRIDE}u); w++) {
    let bits = values[w];
    let high = (bits & 0x7f800000u) == 0x7f800000u;
    let low = dims.low != 0u && (bits & 0x7f80u) == 0x7f80u;
    if (high || low) { atomicMax(&found[dims.slot], 0xffffffffu - w); return; }
  }`,
    ),
  });
  const groups = grid(Math.ceil(words / STRIDE), gpu.tuning.threads);
  return gpu.dispatch(kernel, { dims: { words, slot, low: format === 'bf16' ? 1 : 0 }, values, found }, () => groups);
}
