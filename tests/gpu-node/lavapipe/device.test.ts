/** What lavapipe has and SwiftShader lacks. The other tests of this project rely on it. */
import { expect, test } from 'vitest';
import { Gpu } from '../../../src/engine/gpu.ts';

test('the device has subgroups of 8 lanes, f16 and bindings of at most 128 MiB', async () => {
  const adapter = await navigator.gpu.requestAdapter();
  expect(adapter?.features.has('shader-f16')).toBe(true);
  const gpu = await Gpu.create();
  expect(gpu.info).toMatchObject({ software: true, subgroupSize: 8 });
  expect(gpu.device.limits.maxStorageBufferBindingSize).toBe(128 * 2 ** 20);
  gpu.destroy();
});
