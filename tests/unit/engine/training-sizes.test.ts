/** Which sequences a micro-batch can hold. */
import { expect, test } from 'vitest';
import { engineAllocations } from '../../../src/engine/engine-allocations.ts';
import { QWEN3_06B } from '../../../src/training/pretrained.ts';
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
