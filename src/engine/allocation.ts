/** An allocation is what an engine puts on the GPU with one lifetime: its buffers are made together and freed together. */
import type { Gpu, View } from './gpu.ts';

export class Allocation<T> {
  #state: T | undefined;
  #complete = false;
  #closed = false;
  readonly #views: View[] = [];
  /** Builds run one after the other: the second caller must not use buffers before the device has made them. */
  #building: Promise<unknown> = Promise.resolve();

  constructor(
    readonly gpu: Gpu,
    /** Makes the state and its buffers; synchronous. */
    readonly create: () => T,
  ) {}

  /** The state, or undefined before the first `get` has succeeded. */
  get state(): T | undefined {
    return this.#complete ? this.#state : undefined;
  }

  /** The state; allocates and compiles at the first call. @throws GpuOutOfMemoryError; Error if the engine was closed */
  async get(): Promise<T> {
    this.check();
    return this.state ?? this.extend((state) => state);
  }

  /** Runs `build`, which may allocate more buffers for this allocation. If it fails, all its buffers are freed: the next call starts again. */
  extend<U>(build: (state: T) => U): Promise<U> {
    const result = this.#building.then(() => this.#extend(build));
    this.#building = result.catch(() => {});
    return result;
  }

  async #extend<U>(build: (state: T) => U): Promise<U> {
    this.check();
    try {
      const built = await this.gpu.allocating(() => this.gpu.collecting(this.#views, () => build((this.#state ??= this.create()))));
      await this.gpu.ready();
      this.check();
      this.#complete = true;
      return built;
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Call this after each `await`: work on freed buffers ends the device. @throws Error if the engine was closed, or `state` was freed */
  check(state?: T): void {
    if (this.#closed) throw new Error('this engine was closed: another model is in use');
    if (state !== undefined && state !== this.#state) throw new Error('this work has lost its buffers: the GPU ran out of memory');
  }

  free(): void {
    this.#state = undefined;
    this.#complete = false;
    for (const view of this.#views.splice(0)) this.gpu.destroyBuffer(view);
  }

  /** Frees the buffers for good. */
  close(): void {
    this.#closed = true;
    this.free();
  }
}
