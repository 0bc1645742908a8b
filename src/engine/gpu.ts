/**
 * The GPU device and its compute kernels.
 *
 * A program is a list of `Dispatch`es over buffers that are made once. The numbers of tokens and rows are in one small `Counts`
 * uniform, so a run only encodes commands. No buffer, bind group or pipeline is created after warm-up.
 */
import { Activities } from '../base/activities.ts';
import { type GpuInfo, GpuOutOfMemoryError, openDevice } from './device.ts';
import { GpuMemory, type View } from './gpu-memory.ts';
import { type Bindings, type Dispatch, dimsWords, type Kernel, type KernelDefinition } from './kernel.ts';
import type { Counts, Workgroups } from './rows.ts';
import { SubmitPacer } from './submit-pacer.ts';
import { type Tuning, tuningFor } from './tuning.ts';

export { GpuOutOfMemoryError, GpuUnavailableError, GpuWorkError } from './device.ts';
export { subview, type View } from './gpu-memory.ts';
export type { Dispatch } from './kernel.ts';

/** The device limits that decide whether a buffer fits. */
export type GpuLimits = Pick<GPUSupportedLimits, 'maxBufferSize' | 'maxStorageBufferBindingSize'>;

/** Estimated operations of a workgroup whose threads each compute a few values: 64 threads · 4 values · 16 operations. */
const WORKGROUP_WORK = 4096;

export class Gpu extends GpuMemory {
  readonly pacer: SubmitPacer;
  /** What is compiled or computed now. The owner of the device may replace it by its own. */
  activities = new Activities();
  readonly #kernels = new Map<string, Kernel>();
  readonly #compiling = new Set<Promise<void>>();
  /** Work submitted since the current measurement began, in operations. */
  #unmeasured = 0;
  #measuring = false;

  private constructor(
    device: GPUDevice,
    info: GpuInfo,
    /** The kernel variants to use. A program uses the variants that are set when it is built. */
    public tuning: Tuning,
  ) {
    super(device, info);
    this.pacer = new SubmitPacer(info.software);
  }

  /**
   * Opens the high-performance adapter with all of its limits.
   * @param gpu `navigator.gpu`, or another implementation (Dawn for Node in the benches).
   * @param tuning kernel variants to use instead of those for this adapter, so that tests can run all variants
   * @throws GpuUnavailableError if there is no WebGPU or no adapter.
   */
  static async create(gpu: GPU | undefined = globalThis.navigator?.gpu, tuning?: Tuning): Promise<Gpu> {
    const { device, info } = await openDevice(gpu);
    return new Gpu(device, info, tuning ?? tuningFor(info));
  }

  /** Makes a fake device that has no buffers and runs nothing. `bytesAllocated` counts the bytes that a real device would hold. */
  static counting(info: GpuInfo, limits: GpuLimits): Gpu {
    const nothing = (): object => ({});
    const device = {
      limits,
      addEventListener: nothing,
      createBuffer: ({ label }: GPUBufferDescriptor) => ({ label, destroy: nothing }),
      createBindGroup: nothing,
      createBindGroupLayout: nothing,
      createPipelineLayout: nothing,
      createShaderModule: nothing,
      createComputePipelineAsync: async () => nothing(),
      queue: { writeBuffer: nothing },
    };
    return new Gpu(device as unknown as GPUDevice, info, tuningFor(info));
  }

  /** The WGSL of all kernels that were compiled. */
  get kernelTexts(): string[] {
    return [...this.#kernels.keys()];
  }

  /** Compiles a kernel in the background. Kernels are cached by their WGSL text. `ready()` waits for all of them. */
  #kernel({ label, wgsl, bindings }: KernelDefinition): Kernel {
    const cached = this.#kernels.get(wgsl);
    if (cached) return cached;
    const types = { uniform: 'uniform', read: 'read-only-storage', read_write: 'storage' } as const;
    const layout = this.device.createBindGroupLayout({
      label,
      entries: bindings.map(({ access }, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: types[access] },
      })),
    });
    const kernel: Kernel = { layout, pipeline: undefined };
    this.#kernels.set(wgsl, kernel);
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

  /** Waits until all kernels are compiled. @throws the first compilation error. */
  async ready(): Promise<void> {
    const total = this.#compiling.size;
    if (total === 0) return void (await this.sound(Promise.resolve()));
    const text = (compiled: number) => `compiling kernels: ${compiled} of ${total}`;
    await this.activities.during(text(0), async ({ now }) => {
      let compiled = 0;
      for (const kernel of this.#compiling) kernel.then(() => now(text(++compiled))).catch(() => {});
      await this.sound(Promise.all(this.#compiling));
    });
  }

  /**
   * Makes one use of a kernel in a program: starts to compile the kernel, writes its `dims` and binds its buffers by name.
   * @throws GpuOutOfMemoryError if a tensor is larger than this GPU can bind
   */
  dispatch<D extends KernelDefinition['dims'], Names extends string>(
    definition: KernelDefinition<D, Names>,
    bound: Bindings<D, Names>,
    workgroups: (counts: Counts) => Workgroups,
  ): Dispatch {
    const { label, bindings, dims } = definition;
    const kernel = this.#kernel(definition);
    const limit = this.device.limits.maxStorageBufferBindingSize;
    const given = bound as unknown as Record<string, View> & { dims: Parameters<typeof dimsWords>[1] };
    const entries = bindings.map(({ name, access }, binding) => {
      const { buffer, offset, size } = name === 'dims' ? this.uniform(`${label} dims`, dimsWords(dims, given.dims)) : given[name]!;
      if (access !== 'uniform' && size > limit) {
        throw new GpuOutOfMemoryError(
          `kernel "${label}" needs ${size} bytes of buffer "${buffer.label}" at once; this GPU allows ${limit} (maxStorageBufferBindingSize): choose a smaller model`,
        );
      }
      return { binding, resource: { buffer, offset, size } };
    });
    const bindGroup = this.device.createBindGroup({ label, layout: kernel.layout, entries });
    return { label, kernel, bindGroup, workgroups };
  }

  /** Submits the dispatches of a program in order, in submits of about 50 ms. It does not wait for the GPU. */
  run(program: readonly Dispatch[], counts: Counts): void {
    const active: { dispatch: Dispatch; groups: [number, number, number] }[] = [];
    for (const dispatch of program) {
      const [x, y = 1, z = 1] = dispatch.workgroups(counts);
      if (x * y * z === 0) continue;
      if (!dispatch.kernel.pipeline) throw new Error(`kernel "${dispatch.label}" is not compiled: await gpu.ready() first`);
      active.push({ dispatch, groups: [x, y, z] });
    }
    const work = active.map(({ dispatch, groups: [x, y, z] }) => dispatch.work?.(counts) ?? x * y * z * WORKGROUP_WORK);
    let from = 0;
    for (const end of this.pacer.cut(work)) {
      const encoder = this.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (const { dispatch, groups } of active.slice(from, end)) {
        pass.setPipeline(dispatch.kernel.pipeline!);
        pass.setBindGroup(0, dispatch.bindGroup);
        pass.dispatchWorkgroups(...groups);
      }
      pass.end();
      this.device.queue.submit([encoder.finish()]);
      from = end;
    }
    this.#unmeasured += work.reduce((sum, own) => sum + own, 0);
    if (!this.#measuring) void this.#measure();
  }

  /** Measures the speed of the GPU while it has work. Each measurement begins at the end of the one before. */
  async #measure(): Promise<void> {
    this.#measuring = true;
    let begin = performance.now();
    while (this.#unmeasured > 0) {
      const work = this.#unmeasured;
      this.#unmeasured = 0;
      try {
        await this.device.queue.onSubmittedWorkDone();
      } catch {
        continue; // the device was lost: do not measure
      }
      const end = performance.now();
      this.pacer.measured(work, end - begin);
      begin = end;
    }
    this.#measuring = false;
  }
}
