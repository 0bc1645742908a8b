/** Allocates, writes, reads and frees the buffers of a device, and reports errors such as a lack of memory. */
import { type GpuInfo, gpuError, GpuOutOfMemoryError } from './device.ts';

/** A byte range of a buffer: a tensor, always contiguous and row-major. `offset` is a multiple of 256. */
export interface View {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

/** The part of `view` that has `bytes` bytes and begins at `byteOffset` (a multiple of 256). */
export function subview(view: View, byteOffset: number, bytes: number): View {
  return { buffer: view.buffer, offset: view.offset + byteOffset, size: bytes };
}

export class GpuMemory {
  /** Number of buffers created so far. A test checks that training steps leave this number unchanged. */
  buffersCreated = 0;
  /** Bytes of all live buffers. */
  bytesAllocated = 0;
  readonly #owned = new Map<GPUBuffer, number>();
  readonly #idleStaging: View[] = [];
  #collector: View[] | undefined;
  #failure: Error | undefined;

  constructor(
    readonly device: GPUDevice,
    readonly info: GpuInfo,
  ) {
    // WebGPU drops invalid work and continues. All callers must get the error, so the device is destroyed.
    device.addEventListener('uncapturederror', ({ error }) => {
      if (this.#failure) return;
      this.#failure = gpuError(error, error instanceof GPUOutOfMemoryError ? 'memory' : 'work');
      queueMicrotask(() => device.destroy()); // destroying inside the event handler is not safe
    });
  }

  /** Makes a zero-filled storage buffer that can be copied from and to. `bytes` is rounded up to a multiple of 256. */
  buffer(
    label: string,
    bytes: number,
    usage: GPUBufferUsageFlags = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
  ): View {
    const size = Math.max(256, Math.ceil(bytes / 256) * 256);
    const limit = this.device.limits.maxBufferSize;
    if (size > limit) throw new GpuOutOfMemoryError(`buffer "${label}" needs ${size} bytes; this GPU allows ${limit} in one buffer`);
    const buffer = this.device.createBuffer({ label, size, usage });
    this.buffersCreated += 1;
    this.bytesAllocated += size;
    this.#owned.set(buffer, size);
    const view = { buffer, offset: 0, size };
    this.#collector?.push(view);
    return view;
  }

  /** Makes a uniform buffer that holds `words` (u32). */
  uniform(label: string, words: ArrayLike<number>): View {
    const view = this.buffer(label, words.length * 4, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    this.device.queue.writeBuffer(view.buffer, 0, Uint32Array.from(words));
    return view;
  }

  destroyBuffer(view: View): void {
    this.bytesAllocated -= this.#owned.get(view.buffer) ?? 0;
    this.#owned.delete(view.buffer);
    view.buffer.destroy();
  }

  /** Runs `build` and adds each buffer that it creates to `into`, so that the caller can free them. */
  collecting<T>(into: View[] | undefined, build: () => T): T {
    const before = this.#collector;
    this.#collector = into;
    try {
      return build();
    } finally {
      this.#collector = before;
    }
  }

  /**
   * Runs `allocate` and waits until the device has made its buffers.
   * `allocate` must be synchronous: a device has only one stack of error scopes, and the scopes of two callers must not overlap.
   * @throws GpuOutOfMemoryError if a buffer does not fit; GpuWorkError for other invalid use of the device
   */
  async allocating<T>(allocate: () => T): Promise<T> {
    const { value, valid } = this.#scoped(allocate);
    await valid;
    return value();
  }

  /**
   * Runs `work` in error scopes. `valid` rejects if the device reports an error of `work`. `value()` returns what `work` returned, or
   * throws what it threw.
   */
  #scoped<T>(work: () => T): { value: () => T; valid: Promise<void> } {
    // If a buffer gets no memory, every use of it is invalid too. The outer scope ('validation') catches those errors.
    this.device.pushErrorScope('validation');
    this.device.pushErrorScope('out-of-memory');
    let value: () => T;
    try {
      const result = work();
      value = () => result;
    } catch (error) {
      value = () => {
        throw error;
      };
    }
    const errors = Promise.all([this.device.popErrorScope(), this.device.popErrorScope()]);
    const valid = this.sound(errors).then(([shortage, invalid]) => {
      if (shortage) throw gpuError(shortage, 'memory');
      if (invalid) throw gpuError(invalid, 'work');
    });
    return { value, valid };
  }

  /** Waits for `work`. @throws the first error that the device reported outside error scopes, if it reported one */
  protected async sound<T>(work: Promise<T>): Promise<T> {
    const [outcome] = await Promise.allSettled([work]);
    if (this.#failure) throw this.#failure;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  /** Waits until all submitted work is done. @throws GpuWorkError */
  async done(): Promise<void> {
    await this.sound(this.device.queue.onSubmittedWorkDone());
  }

  /** @throws RangeError if `data` passes the end of `view` */
  write(view: View, data: ArrayBufferView<ArrayBuffer>, byteOffset = 0): void {
    if (byteOffset + data.byteLength > view.size) {
      throw new RangeError(`write of ${data.byteLength} bytes at ${byteOffset} passes the end of "${view.buffer.label}" (${view.size})`);
    }
    this.device.queue.writeBuffer(view.buffer, view.offset + byteOffset, data.buffer, data.byteOffset, data.byteLength);
  }

  /** Sets all bytes of `view` to 0. */
  clear(view: View): void {
    this.#submit((encoder) => encoder.clearBuffer(view.buffer, view.offset, view.size));
  }

  /** Copies all bytes of `from` to the start of `to`. */
  copy(from: View, to: View): void {
    this.#submit((encoder) => encoder.copyBufferToBuffer(from.buffer, from.offset, to.buffer, to.offset, from.size));
  }

  /**
   * Reads `bytes` of `view` from `byteOffset`. The copy is submitted before this function returns: later work may change `view`.
   * @throws GpuOutOfMemoryError if there is no memory for the copy; GpuWorkError
   */
  async read(view: View, bytes = view.size, byteOffset = 0): Promise<ArrayBuffer> {
    // Staging buffers are pooled, and their sizes are powers of two. So repeated reads allocate nothing.
    const size = Math.max(4096, 2 ** Math.ceil(Math.log2(bytes)));
    const pooled = this.#idleStaging.findIndex((staging) => staging.size === size);
    const copyTo = (staging: View): View => {
      this.#submit((encoder) => encoder.copyBufferToBuffer(view.buffer, view.offset + byteOffset, staging.buffer, 0, bytes));
      return staging;
    };
    if (pooled >= 0) return this.#map(copyTo(this.#idleStaging.splice(pooled, 1)[0]!), bytes);
    const { value, valid } = this.#scoped(() => copyTo(this.#newStaging(size)));
    const mapped = valid.then(() => this.#map(value(), bytes));
    return mapped.catch((error: unknown) => {
      this.destroyBuffer(value());
      throw error;
    });
  }

  /** Makes a staging buffer. It belongs to the device, so `collecting` must not add it to the buffers of a program. */
  #newStaging(size: number): View {
    return this.collecting(undefined, () => this.buffer('staging', size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST));
  }

  async #map(staging: View, bytes: number): Promise<ArrayBuffer> {
    await this.sound(staging.buffer.mapAsync(GPUMapMode.READ, 0, bytes));
    const copy = staging.buffer.getMappedRange(0, bytes).slice(0);
    staging.buffer.unmap();
    this.#idleStaging.push(staging);
    return copy;
  }

  #submit(encode: (encoder: GPUCommandEncoder) => void): void {
    const encoder = this.device.createCommandEncoder();
    encode(encoder);
    this.device.queue.submit([encoder.finish()]);
  }

  destroy(): void {
    this.device.destroy();
  }
}
