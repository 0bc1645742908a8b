import { expect, test } from 'vitest';
import { Gpu, GpuOutOfMemoryError, GpuWorkError } from '../../src/engine/gpu.ts';
import { defineKernel } from '../../src/engine/kernel.ts';
import { type Counts, grid, GRID_INDEX_WGSL, rowCount, type Rows } from '../../src/engine/rows.ts';

test('row counts agree between TypeScript and WGSL', async () => {
  const gpu = await Gpu.create();
  const counts: Counts = { tokens: 10, rows: 300 };
  const ranges: Rows[] = [
    { of: 'tokens' },
    { of: 'tokens', times: 4 },
    { of: 'rows', base: 256, max: 128 },
    { of: 'rows', base: 512, max: 128 },
    { of: 'rows', max: 128 },
  ];
  const countsView = gpu.uniform('counts', [counts.tokens, counts.rows, 0, 0]);
  const out = gpu.buffer('out', 4);
  const kernel = defineKernel({
    label: 'row count',
    dims: { rows: 'Rows' },
    writes: { out: 'u32' },
    body: `@compute @workgroup_size(1) fn main(@builtin(workgroup_id) wg: vec3u, @builtin(num_workgroups) nwg: vec3u) {
      if (${GRID_INDEX_WGSL} == 0u) { out[0] = row_count(); }
    }`,
  });
  for (const rows of ranges) {
    const program = [gpu.dispatch(kernel, { dims: { rows }, counts: countsView, out }, () => grid(70_000, 1))];
    await gpu.ready();
    gpu.run(program, counts);
    expect(new Uint32Array(await gpu.read(out, 4))[0], JSON.stringify(rows)).toBe(rowCount(rows, counts));
  }
  gpu.destroy();
});

const FILL = defineKernel({ label: 'fill', writes: { out: 'u32' }, body: '@compute @workgroup_size(1) fn main() { out[0] = 1u; }' });

test('a tensor above the maximum binding size is refused by name', async () => {
  const gpu = await Gpu.create();
  Object.defineProperty(gpu.device, 'limits', { value: { maxBufferSize: 2 ** 20, maxStorageBufferBindingSize: 1024 } });
  expect(() => gpu.dispatch(FILL, { out: gpu.buffer('weights', 1024) }, () => [1])).not.toThrow();
  const refused = () => gpu.dispatch(FILL, { out: gpu.buffer('weights', 2048) }, () => [1]);
  expect(refused).toThrow(GpuOutOfMemoryError);
  expect(refused).toThrow('kernel "fill" needs 2048 bytes of buffer "weights" at once; this GPU allows 1024 (maxStorageBufferBindingSize)');
  gpu.destroy();
});

test('work that the GPU refuses rejects pending and later reads with the reason', async () => {
  const gpu = await Gpu.create();
  const [out, other] = [gpu.buffer('out', 4), gpu.buffer('other', 4)];
  const program = [gpu.dispatch(FILL, { out }, () => [1])];
  await gpu.ready();
  gpu.run(program, { tokens: 0, rows: 0 });
  expect(new Uint32Array(await gpu.read(out, 4))[0]).toBe(1);
  gpu.destroyBuffer(out);
  gpu.run(program, { tokens: 0, rows: 0 });
  await expect(gpu.read(other)).rejects.toThrow(GpuWorkError);
  await expect(gpu.done()).rejects.toThrow(/the GPU refused its work: .*out.*destroyed/s);
  await expect(gpu.allocating(() => gpu.buffer('more', 4))).rejects.toThrow(GpuWorkError);
  expect((await gpu.device.lost).reason).toBe('destroyed');
});
