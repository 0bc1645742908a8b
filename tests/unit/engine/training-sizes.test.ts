/** Which sequences a micro-batch can hold. */
import { expect, test } from 'vitest';
import { engineAllocations } from '../../../src/engine/engine-allocations.ts';
import { QWEN3_06B, SMOLLM2_135M } from '../../../src/training/pretrained.ts';
import { countingGpu } from '../../support/programs.ts';

test('training takes every sequence that fits into a binding, and names the length of one that does not', () => {
  const gpu = countingGpu({ software: false, subgroupSize: 32 });
  Object.assign(gpu.device.limits, { maxBufferSize: 2 ** 27, maxStorageBufferBindingSize: 2 ** 27 });
  const { trainingSizes } = engineAllocations(gpu, QWEN3_06B.config, { precision: 'bf16', maxModelLen: 8192, slots: 1 });
  // Of each token, the kernels bind four bytes for each of the 2 · 3,072 outputs of gate and up: 5,461 tokens, or 5,440 in whole units of 64.
  expect(trainingSizes(5400).capacity).toBe(5440);
  expect(trainingSizes(5440).capacity).toBe(5440);
  expect(() => trainingSizes(5441)).toThrow('training on sequences of 5441 tokens needs a larger binding');
});

test.each([true, false])(
  'a model with 135 M parameters keeps the activations of most layers, on software adapters too (%s)',
  (software) => {
    const { trainingSizes } = engineAllocations(countingGpu({ software, subgroupSize: 8 }), SMOLLM2_135M.config, {
      slots: 1,
      maxModelLen: 768,
    });
    const { capacity, sharing } = trainingSizes(768);
    expect(capacity).toBeGreaterThanOrEqual(1024);
    // All but one of the layers that share their activations are computed again.
    expect(sharing - 1).toBeLessThan(30 / 6);
  },
);
