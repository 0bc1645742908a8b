/**
 * The GPU device, its buffers and its compute kernels.
 *
 * A program is a list of `Dispatch`es over buffers made once; running it only encodes commands. What changes from run to
 * run (how many tokens, how many rows) is in one small `Counts` uniform, so that no buffer, bind group or pipeline is
 * created after warm-up (design rule: a static program, no per-step allocation).
 */

/** A byte range of a buffer: a tensor, always contiguous and row-major. `offset` is a multiple of 256. */
export interface View {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

/** Sizes known only when a program runs. `tokens`: packed tokens; `rows`: rows that go through the LM head. */
export interface Counts {
  tokens: number;
  rows: number;
}

/**
 * A number of rows that depends on the run: `clamp(counts[of] * times - base, 0, max)`.
 * Examples: all tokens `{of:'tokens'}`; the heads of all tokens `{of:'tokens', times: heads}`; the second chunk of 128
 * head rows `{of:'rows', base:128, max:128}`.
 */
export interface Rows {
  of: keyof Counts;
  times?: number;
  base?: number;
  max?: number;
}

export type Access = 'uniform' | 'read' | 'read_write';
export type Workgroups = readonly [number, number?, number?];

export interface Kernel {
  readonly label: string;
  readonly access: readonly Access[];
  readonly layout: GPUBindGroupLayout;
  pipeline: GPUComputePipeline | undefined;
}

export interface Dispatch {
  readonly label: string;
  readonly kernel: Kernel;
  readonly bindGroup: GPUBindGroup;
  /** Workgroup counts for a run; any zero skips the dispatch. */
  readonly workgroups: (counts: Counts) => Workgroups;
}

export interface GpuInfo {
  vendor: string;
  architecture: string;
  description: string;
  /** True for CPU implementations (SwiftShader, lavapipe, WARP). */
  software: boolean;
  /** Smallest subgroup size, 0 without the `subgroups` feature. */
  subgroupSize: number;
}

const UINT32_MAX = 0xffffffff;

export function rowCount(rows: Rows, counts: Counts): number {
  const n = counts[rows.of] * (rows.times ?? 1) - (rows.base ?? 0);
  return Math.max(0, Math.min(n, rows.max ?? UINT32_MAX));
}

/** The first four words of a kernel's `dims` uniform, read in WGSL by `row_count` of `ROWS_WGSL`. */
export function rowWords(rows: Rows): [number, number, number, number] {
  return [rows.of === 'tokens' ? 0 : 1, rows.times ?? 1, rows.base ?? 0, rows.max ?? UINT32_MAX];
}

/** WGSL prelude: the `Counts` struct and `row_count(words, counts)`, the twin of `rowCount`. */
export const ROWS_WGSL = /* wgsl */ `
struct Counts { tokens: u32, rows: u32, pad0: u32, pad1: u32 }
fn row_count(words: vec4u, counts: Counts) -> u32 {
  let n = select(counts.rows, counts.tokens, words.x == 0u) * words.y;
  return min(select(0u, n - words.z, n > words.z), words.w);
}
`;

/** Workgroup counts for `n` work items, folded into two dimensions where one would pass the limit of 65,535. */
export function grid(n: number, perGroup: number): Workgroups {
  const groups = Math.ceil(n / perGroup);
  if (groups <= 65_535) return [groups];
  const x = Math.ceil(Math.sqrt(groups));
  return [x, Math.ceil(groups / x)];
}
/** WGSL index of the workgroup under `grid`, given `@builtin(workgroup_id) wg` and `@builtin(num_workgroups) nwg`. */
export const GRID_INDEX_WGSL = `(wg.y * nwg.x + wg.x)`;

export class GpuUnavailableError extends Error {
  override name = 'GpuUnavailableError';
}
export class GpuOutOfMemoryError extends Error {
  override name = 'GpuOutOfMemoryError';
}
/** The device refused work that it was given: nothing that it computed since can be trusted. */
export class GpuWorkError extends Error {
  override name = 'GpuWorkError';
}

export class Gpu {
  /** Buffers created so far: a test checks that training steps leave it unchanged. */
  buffersCreated = 0;
  /** Bytes of the buffers now alive. */
  bytesAllocated = 0;
  readonly #kernels = new Map<string, Kernel>();
  readonly #compiling = new Set<Promise<void>>();
  readonly #owned = new Map<GPUBuffer, number>();
  #collector: View[] | undefined;
  #failure: Error | undefined;
  readonly #encodedPerSubmit = 512;

  private constructor(
    readonly device: GPUDevice,
    readonly info: GpuInfo,
  ) {
    // WebGPU drops invalid work and goes on. Whoever awaits results must hear of it, now and later: the device ends here.
    device.addEventListener('uncapturederror', ({ error }) => {
      if (this.#failure) return;
      this.#failure = error instanceof GPUOutOfMemoryError ? shortage(error) : new GpuWorkError(`the GPU refused its work: ${error.message}`);
      queueMicrotask(() => device.destroy()); // not inside of the device's own report
    });
  }

  /**
   * Opens the high-performance adapter with every limit it offers.
   * @param gpu `navigator.gpu`, or another implementation of it (Dawn for Node in the benches).
   * @throws GpuUnavailableError when there is no WebGPU or no adapter.
   */
  static async create(gpu: GPU | undefined = globalThis.navigator?.gpu): Promise<Gpu> {
    if (!gpu) throw new GpuUnavailableError('This browser has no WebGPU (navigator.gpu is missing).');
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw new GpuUnavailableError('WebGPU is present but gave no adapter: the GPU is blocked or its driver is not supported.');
    const features = (['subgroups'] as GPUFeatureName[]).filter((name) => adapter.features.has(name));
    const limits: Record<string, number> = {};
    for (const name of [
      'maxBufferSize', 'maxStorageBufferBindingSize', 'maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupStorageSize',
      'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupSizeY',
    ] as const) limits[name] = adapter.limits[name];
    const device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits: limits });
    // Browsers of the first years have no `info`.
    const { vendor = '', architecture = '', description = '', device: model = '', isFallbackAdapter = false, subgroupMinSize = 4 } = (adapter.info ?? {}) as Partial<GPUAdapterInfo>;
    const software = isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|warp|basic render/.test(`${vendor} ${architecture} ${description} ${model}`.toLowerCase());
    return new Gpu(device, { vendor, architecture, description, software, subgroupSize: features.includes('subgroups') ? subgroupMinSize : 0 });
  }

  /** A zero-filled storage buffer that can be copied from and to. `bytes` is rounded up to 256. */
  buffer(label: string, bytes: number, usage: GPUBufferUsageFlags = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST): View {
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

  /** A read-only uniform holding `words` (u32) for the life of the program. Floats: pass them through `floatBits`. */
  uniform(label: string, words: ArrayLike<number>): View {
    const view = this.buffer(label, words.length * 4, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    this.device.queue.writeBuffer(view.buffer, 0, Uint32Array.from(words));
    return view;
  }

  /** What `work` gives. @throws what made the device refuse work, if anything did by then */
  async #sound<T>(work: Promise<T>): Promise<T> {
    const [outcome] = await Promise.allSettled([work]);
    if (this.#failure) throw this.#failure;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  /** Waits until all that was submitted is done. @throws GpuWorkError */
  async done(): Promise<void> {
    await this.#sound(this.device.queue.onSubmittedWorkDone());
  }

  /** Runs `allocate` and turns a failed GPU allocation inside it into a GpuOutOfMemoryError. */
  async allocating<T>(allocate: () => T | Promise<T>): Promise<T> {
    this.device.pushErrorScope('out-of-memory');
    const result = await Promise.resolve()
      .then(allocate)
      .then((value) => ({ value }), (error: unknown) => ({ error }));
    const failed = await this.#sound(this.device.popErrorScope());
    if (failed) throw shortage(failed);
    if ('error' in result) throw result.error;
    return result.value;
  }

  /** Runs `build` (synchronous) and adds every buffer made in it, kernels' uniforms included, to `into`: who builds a program frees it. */
  collecting<T>(into: View[], build: () => T): T {
    const before = this.#collector;
    this.#collector = into;
    try {
      return build();
    } finally {
      this.#collector = before;
    }
  }

  destroyBuffer(view: View): void {
    this.bytesAllocated -= this.#owned.get(view.buffer) ?? 0;
    this.#owned.delete(view.buffer);
    view.buffer.destroy();
  }

  destroy(): void {
    this.device.destroy();
  }

  /**
   * A compute kernel with entry point `main` and bindings 0… of group 0 in the order of `access`.
   * Compiled in the background and cached by its text; `ready()` waits for all. `access` must match the WGSL exactly
   * (`read` is `var<storage, read>`): a mismatch gives wrong data silently on some drivers.
   */
  kernel(label: string, wgsl: string, access: readonly Access[]): Kernel {
    const key = `${access.join()}\n${wgsl}`;
    const cached = this.#kernels.get(key);
    if (cached) return cached;
    const types = { uniform: 'uniform', read: 'read-only-storage', read_write: 'storage' } as const;
    const layout = this.device.createBindGroupLayout({
      label,
      entries: access.map((a, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type: types[a] } })),
    });
    const kernel: Kernel = { label, access, layout, pipeline: undefined };
    this.#kernels.set(key, kernel);
    const module = this.device.createShaderModule({ label, code: wgsl });
    const job = this.device
      .createComputePipelineAsync({
        label,
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main' },
      })
      .then((pipeline) => {
        kernel.pipeline = pipeline;
      });
    const tracked = job.finally(() => this.#compiling.delete(tracked));
    tracked.catch(() => {}); // reported by ready()
    this.#compiling.add(tracked);
    return kernel;
  }

  /** Waits until every kernel asked for is compiled. @throws the first compilation error. */
  async ready(): Promise<void> {
    await this.#sound(Promise.all(this.#compiling));
  }

  /** @throws GpuOutOfMemoryError for a tensor that is larger than this GPU lets a kernel see at once */
  dispatch(kernel: Kernel, bindings: readonly View[], workgroups: (counts: Counts) => Workgroups): Dispatch {
    const limit = this.device.limits.maxStorageBufferBindingSize;
    bindings.forEach(({ buffer, size }, binding) => {
      if (size > limit && kernel.access[binding] !== 'uniform') {
        throw new GpuOutOfMemoryError(`kernel "${kernel.label}" needs ${size} bytes of buffer "${buffer.label}" at once; this GPU allows ${limit} (maxStorageBufferBindingSize): choose a smaller model`);
      }
    });
    const bindGroup = this.device.createBindGroup({
      label: kernel.label,
      layout: kernel.layout,
      entries: bindings.map(({ buffer, offset, size }, binding) => ({ binding, resource: { buffer, offset, size } })),
    });
    return { label: kernel.label, kernel, bindGroup, workgroups };
  }

  /** Encodes and submits a program in order. Does not wait. */
  run(program: readonly Dispatch[], counts: Counts): void {
    for (let from = 0; from < program.length; from += this.#encodedPerSubmit) {
      const encoder = this.device.createCommandEncoder();
      this.encode(encoder, program.slice(from, from + this.#encodedPerSubmit), counts);
      this.device.queue.submit([encoder.finish()]);
    }
  }

  /** Encodes a program as one compute pass into `encoder`. */
  encode(encoder: GPUCommandEncoder, program: readonly Dispatch[], counts: Counts): void {
    const pass = encoder.beginComputePass();
    for (const { label, kernel, bindGroup, workgroups } of program) {
      const [x, y = 1, z = 1] = workgroups(counts);
      if (x * y * z === 0) continue;
      if (!kernel.pipeline) throw new Error(`kernel "${label}" is not compiled: await gpu.ready() first`);
      pass.setPipeline(kernel.pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(x, y, z);
    }
    pass.end();
  }

  write(view: View, data: ArrayBufferView<ArrayBuffer>, byteOffset = 0): void {
    if (byteOffset + data.byteLength > view.size) {
      throw new RangeError(`write of ${data.byteLength} bytes at ${byteOffset} passes the end of "${view.buffer.label}" (${view.size})`);
    }
    this.device.queue.writeBuffer(view.buffer, view.offset + byteOffset, data.buffer, data.byteOffset, data.byteLength);
  }

  /** Copies `bytes` of `view` from `byteOffset` back to the CPU, through `staging` (a MAP_READ buffer reused between calls). */
  async read(view: View, bytes = view.size, byteOffset = 0, staging = this.#staging(bytes)): Promise<ArrayBuffer> {
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(view.buffer, view.offset + byteOffset, staging, 0, bytes);
    this.device.queue.submit([encoder.finish()]);
    await this.#sound(staging.mapAsync(GPUMapMode.READ, 0, bytes));
    const copy = staging.getMappedRange(0, bytes).slice(0);
    staging.unmap();
    this.#idleStaging.push(staging);
    return copy;
  }

  readonly #idleStaging: GPUBuffer[] = [];
  /** Staging buffers are pooled by power of two, so that steady reads allocate nothing. */
  #staging(bytes: number): GPUBuffer {
    const size = Math.max(4096, 2 ** Math.ceil(Math.log2(bytes)));
    const at = this.#idleStaging.findIndex((buffer) => buffer.size === size);
    if (at >= 0) return this.#idleStaging.splice(at, 1)[0]!;
    return this.buffer('staging', size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST).buffer;
  }
}

const shortage = ({ message }: GPUError) => new GpuOutOfMemoryError(`the GPU ran out of memory: ${message}`);

/** The u32 with the same bits as the f32 nearest to `x`. */
export function floatBits(x: number): number {
  return new Uint32Array(Float32Array.of(x).buffer)[0]!;
}
/** `view` narrowed to `bytes` from `byteOffset` (a multiple of 256). */
export function subview(view: View, byteOffset: number, bytes: number): View {
  return { buffer: view.buffer, offset: view.offset + byteOffset, size: bytes };
}
