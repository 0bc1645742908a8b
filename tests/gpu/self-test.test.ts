/** The start-up check, in every variant that a device could use. */
import { expect, test } from 'vitest';
import { Gpu } from '../../src/engine/gpu.ts';
import { kernelChecks, quadsFollowLocalIndex } from '../../src/engine/self-test.ts';
import { firstFailure } from '../../src/engine/check.ts';
import { exchangesLanes, MATMUL_VARIANTS, tuningFor } from '../../src/engine/tuning.ts';

const selfTest = async (...parameters: Parameters<typeof kernelChecks>) => firstFailure(await kernelChecks(...parameters));
const HARDWARE = { software: false, subgroupSize: 32 };

// The kernel tests run every format in the tiles of every variant. Here only the software variant runs in every format. The other variants
// take long to compile and run in one format.
test.each([
  ['software', tuningFor({ software: true, subgroupSize: 4 }), ['bf16', 'int8', 'int4']],
  ['software with 8 lanes', tuningFor({ software: true, subgroupSize: 8 }), ['int8']],
  ['software without subgroups', tuningFor({ software: true, subgroupSize: 0 }), ['int4']],
  ['hardware', tuningFor(HARDWARE), ['int8']],
  // The matmul kernels of `hardware` take long to compile here, and the test above covers them. So use those of `register`.
  ['hardware without subgroups', { ...tuningFor({ ...HARDWARE, subgroupSize: 0 }), matmul: MATMUL_VARIANTS.register }, ['bf16']],
] as const)('the kernels for %s compute what float64 computes, and no buffer is left', async (_, tuning, formats) => {
  const gpu = await Gpu.create(undefined, tuning);
  if (exchangesLanes(tuning) && gpu.info.subgroupSize === 0) return;
  expect(await selfTest(gpu, { attention: true })).toBeNull();
  expect(gpu.tuning).toBe(tuning);
  for (const format of formats) expect(await selfTest(gpu, { format })).toBeNull();
  expect(await selfTest(gpu, { format: 'f32', adapter: true })).toBeNull();
  const before = gpu.bytesAllocated;
  expect(await selfTest(gpu, { attention: true })).toBeNull();
  expect(gpu.bytesAllocated).toBe(before);
  gpu.destroy();
});

test('a kernel that leaves out rows is found', async () => {
  const tuning = tuningFor({ software: true, subgroupSize: 0 });
  const [first] = MATMUL_VARIANTS.register.rows;
  const gpu = await Gpu.create(undefined, { ...tuning, matmul: { ...tuning.matmul, rows: [first!] } });
  expect(await selfTest(gpu)).toMatch(/^matmul nt of 33 rows is off by/);
  gpu.destroy();
});

test('lanes in another order than the local index: kernels that exchange no lanes are used', async () => {
  const gpu = await Gpu.create(undefined, tuningFor({ software: true, subgroupSize: 4 }));
  if (gpu.info.subgroupSize === 0) return;
  expect(exchangesLanes(gpu.tuning)).toBe(true);
  expect(await quadsFollowLocalIndex(gpu)).toBe(true);
  // A driver that swaps the middle lanes of each quad.
  const read = gpu.read.bind(gpu);
  gpu.read = async (view, ...rest) => {
    const bytes = await read(view, ...rest);
    if (view.buffer.label === 'self-test lanes') new Uint32Array(bytes).forEach((v, i, all) => (all[i] = [0, 2, 1, 3][v & 3]! | (v & ~3)));
    return bytes;
  };
  expect(await quadsFollowLocalIndex(gpu)).toBe(false);
  expect(await selfTest(gpu)).toBeNull();
  expect(exchangesLanes(gpu.tuning)).toBe(false);
  gpu.destroy();
});
