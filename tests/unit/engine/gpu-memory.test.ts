/** Behaviour without GPU memory, on a fake device that follows WebGPU's rules about error scopes. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Gpu, GpuOutOfMemoryError, GpuWorkError } from '../../../src/engine/gpu.ts';

class OutOfMemory {
  constructor(readonly message: string) {}
}
class Validation {
  constructor(readonly message: string) {}
}
type DeviceError = OutOfMemory | Validation;

interface FakeBuffer {
  label: string;
  valid: boolean;
  destroy: () => void;
}

/** A device that has no memory for buffers with a label in `full` or above `most` bytes. */
class FakeDevice extends EventTarget {
  limits = { maxBufferSize: 2 ** 30 };
  destroyed = false;
  lost = new Promise(() => {});
  readonly full = new Set<string>();
  readonly #scopes: { filter: GPUErrorFilter; error: DeviceError | null }[] = [];

  readonly queue = {
    writeBuffer: (buffer: FakeBuffer) => this.#use(buffer),
    submit: (buffers: FakeBuffer[][]) => buffers.flat().forEach((buffer) => this.#use(buffer)),
    onSubmittedWorkDone: async () => {},
  };

  createBuffer({ label, size }: { label: string; size: number }): FakeBuffer {
    const valid = !this.full.has(label);
    if (!valid) this.#report('out-of-memory', new OutOfMemory(`no memory for ${label}`));
    const data = new ArrayBuffer(valid ? size : 0);
    return Object.assign(
      { label, valid, destroy: () => {} },
      {
        mapAsync: async () => {},
        getMappedRange: () => data,
        unmap: () => {},
      },
    );
  }

  createCommandEncoder() {
    const used: FakeBuffer[] = [];
    return { copyBufferToBuffer: (from: FakeBuffer, _: number, to: FakeBuffer) => used.push(from, to), finish: () => used };
  }

  #use({ label, valid }: FakeBuffer): void {
    if (!valid) this.#report('validation', new Validation(`${label} is invalid`));
  }

  #report(filter: GPUErrorFilter, error: DeviceError): void {
    const scope = this.#scopes.findLast((open) => open.filter === filter);
    if (!scope) this.dispatchEvent(Object.assign(new Event('uncapturederror'), { error }));
    else scope.error ??= error;
  }

  pushErrorScope(filter: GPUErrorFilter): void {
    this.#scopes.push({ filter, error: null });
  }
  async popErrorScope(): Promise<DeviceError | null> {
    return this.#scopes.pop()!.error;
  }
  destroy(): void {
    this.destroyed = true;
  }
}

let device: FakeDevice;
let gpu: Gpu;
beforeEach(async () => {
  vi.stubGlobal('GPUOutOfMemoryError', OutOfMemory);
  vi.stubGlobal('GPUBufferUsage', {});
  vi.stubGlobal('GPUMapMode', {});
  device = new FakeDevice();
  const adapter = { features: new Set(), limits: {}, requestDevice: async () => device };
  gpu = await Gpu.create({ requestAdapter: async () => adapter } as unknown as GPU);
});
afterEach(() => void vi.unstubAllGlobals());

test('of two parallel callers, the caller whose buffer has no memory gets the error', async () => {
  device.full.add('large');
  const small = gpu.allocating(() => gpu.buffer('small', 4));
  const large = gpu.allocating(() => gpu.buffer('large', 4));
  const last = gpu.allocating(() => gpu.buffer('last', 4));
  await expect(large).rejects.toThrow(GpuOutOfMemoryError);
  await expect(small).resolves.toMatchObject({ size: 256 });
  await expect(last).resolves.toMatchObject({ size: 256 });
});

test('a buffer without memory does not end the device when it is filled', async () => {
  device.full.add('dims');
  await expect(gpu.allocating(() => gpu.uniform('dims', [1, 2, 3, 4]))).rejects.toThrow(
    new GpuOutOfMemoryError('the GPU ran out of memory: no memory for dims'),
  );
  expect(device.destroyed).toBe(false);
  await expect(gpu.allocating(() => gpu.buffer('weights', 4))).resolves.toBeTruthy();
});

test('other errors of the device during allocation are reported too', async () => {
  device.full.add('dims');
  const view = gpu.allocating(() => gpu.buffer('dims', 4));
  await expect(view).rejects.toThrow(GpuOutOfMemoryError);
  const invalid = { buffer: device.createBuffer({ label: 'other', size: 4 }), offset: 0, size: 4 };
  invalid.buffer.valid = false;
  const write = gpu.allocating(() => gpu.write(invalid as never, new Uint32Array(1)));
  await expect(write).rejects.toThrow(new GpuWorkError('the GPU refused its work: other is invalid'));
});

test('a read without memory for its copy fails, frees the copy, and leaves the device alive', async () => {
  const view = await gpu.allocating(() => gpu.buffer('weights', 512));
  const before = gpu.bytesAllocated;
  device.full.add('staging');
  await expect(gpu.read(view)).rejects.toThrow(GpuOutOfMemoryError);
  expect(gpu.bytesAllocated).toBe(before);
  device.full.clear();
  expect(await gpu.read(view)).toEqual(new ArrayBuffer(512));
  await new Promise((resolve) => setTimeout(resolve));
  expect(device.destroyed).toBe(false);
});
