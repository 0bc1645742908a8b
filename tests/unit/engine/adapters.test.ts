/** Which adapters look like a part of the processor, and what names an adapter. The infos are those that Chromium and Dawn report. */
import { beforeEach, expect, test, vi } from 'vitest';
import { type GpuInfo, looksIntegrated } from '../../../src/engine/device.ts';
import { adapterKey, untunedKey } from '../../../src/engine/first-contact.ts';
import { Gpu } from '../../../src/engine/gpu.ts';
import { withTiles, DEFAULT_TILES } from '../../../src/engine/tuning.ts';

/** These constants are those of a browser. */
const stubConstants = () => {
  vi.stubGlobal('GPUBufferUsage', { STORAGE: 1, COPY_SRC: 2, COPY_DST: 4, UNIFORM: 8, MAP_READ: 16 });
  vi.stubGlobal('GPUShaderStage', { COMPUTE: 4 });
};
beforeEach(stubConstants);

const info = (vendor: string, architecture: string, description = '', more: Partial<GpuInfo> = {}): GpuInfo => ({
  ...{ vendor, architecture, description, software: false, subgroupSize: 32 },
  ...more,
});

test.each([
  [info('intel', 'gen-12lp'), true],
  [info('intel', 'xe-lpg', 'Intel(R) Arc(TM) Graphics'), true],
  [info('intel', 'xe-hpg'), false],
  [info('intel', 'xe-hpg', 'Intel(R) Arc(TM) A770 Graphics'), false],
  [info('amd', 'rdna-3', 'AMD Radeon(TM) Graphics'), true],
  [info('amd', 'rdna-3', 'AMD Radeon 780M Graphics'), true],
  [info('amd', 'rdna-2', 'AMD Radeon RX 6700 XT'), false],
  [info('nvidia', 'ampere', 'NVIDIA GeForce RTX 3060 Laptop GPU'), false],
  // An Apple computer has one GPU, so there is nothing to choose.
  [info('apple', 'metal-3'), false],
  [info('intel', 'gen-12lp', '', { software: true }), false],
])('%j: integrated %s', (adapter, expected) => {
  expect(looksIntegrated(adapter)).toBe(expected);
});

test('another driver, browser, model or kernel is another adapter; a choice of tiles is not', () => {
  const limits = { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 31 };
  const gpu = (more: Partial<GpuInfo> = {}) => Gpu.counting(info('nvidia', 'ampere', 'RTX', more), limits);
  const keys = [
    untunedKey(gpu()),
    untunedKey(gpu({ driver: '551.23' })),
    untunedKey(gpu({ driver: '552.01' })),
    untunedKey(gpu({ device: '0x2520' })),
    adapterKey(gpu(), ['another kernel']),
  ];
  vi.stubGlobal('navigator', { userAgent: 'a newer browser' });
  keys.push(untunedKey(gpu()));
  vi.unstubAllGlobals();
  expect(new Set(keys).size).toBe(6);
});

test('the key of measured variants does not depend on the variants in use', () => {
  const limits = { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 31 };
  const gpu = () => Gpu.counting(info('nvidia', 'ampere', 'RTX'), limits);
  const tuned = gpu();
  tuned.tuning = withTiles(tuned.tuning, { ...DEFAULT_TILES, many: 'shared 128x64' });
  expect(untunedKey(tuned)).toBe(untunedKey(gpu()));
});
