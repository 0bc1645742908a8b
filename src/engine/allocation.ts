/** An allocation is a set of GPU buffers of an engine with one lifetime: they are made together and freed together. */
import type { Gpu, View } from './gpu.ts';

export class Allocation<T> {
  #state: T | undefined;
  #complete = false;
  #closed = false;
  readonly #views: View[] = [];
  /** The last `extend`. Calls run one after the other, because a second caller must not use buffers before the device has made them. */
  #building: Promise<unknown> = Promise.resolve();

  constructor(
    readonly gpu: Gpu,
    /** Makes the state and its buffers. It must be synchronous. */
    readonly create: () => T,
  ) {}

  /** The state, or undefined before the first `get` has succeeded. */
  get state(): T | undefined {
    return this.#complete ? this.#state : undefined;
  }

  /** Returns the state. The first call allocates and compiles. @throws GpuOutOfMemoryError; Error if the engine was closed */
  async get(): Promise<T> {
    this.check();
    return this.state ?? this.extend((state) => state);
  }

  /**
   * Runs `build`, which may add buffers to this allocation. If `build` fails, all buffers of this allocation are freed, and the next
   * call creates the state again.
   */
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

  /**
   * Call this after each `await`, because work on freed buffers destroys the device.
   * @throws Error if the engine was closed, or `state` was freed
   */
  check(state?: T): void {
    if (this.#closed) throw new Error('this engine was closed: another model is in use');
    if (state !== undefined && state !== this.#state) throw new Error('this work has lost its buffers: the GPU ran out of memory');
  }

  free(): void {
    this.#state = undefined;
    this.#complete = false;
    for (const view of this.#views.splice(0)) this.gpu.destroyBuffer(view);
  }

  /** Frees the buffers. Later calls of `get` and `extend` fail. */
  close(): void {
    this.#closed = true;
    this.free();
  }
}
