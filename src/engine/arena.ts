/** Holds all trained tensors in flat GPU buffers, and copies them to and from the CPU. */
import type { Gpu, View } from './gpu.ts';
import type { ParameterLayout, TensorGroup } from './parameters.ts';
import type { TensorMap } from './types.ts';

/** Maximum bytes of one transfer between CPU and GPU. */
const TRANSFER = 64 * 2 ** 20;

/** One value for each trained parameter: weights, gradients or moments. */
export class Arena {
  /** The buffers of the layout's parts. A kernel can bind each of them as a whole. */
  readonly flats: readonly View[];

  /** Allocates the buffers. All values are 0. */
  constructor(
    readonly gpu: Gpu,
    readonly layout: ParameterLayout,
    label: string,
  ) {
    this.flats = layout.parts.map(({ size }) => gpu.buffer(label, size * 4));
  }

  readonly view = (group: TensorGroup): View => this.layout.view(this.flats, group);

  /** @throws Error that names each tensor that is missing, unknown or of a wrong shape */
  upload(tensors: TensorMap): void {
    const flat = this.layout.flatten(tensors);
    for (const { part, at, from, bytes } of this.#transfers())
      this.gpu.write(this.flats[part]!, flat.subarray(from / 4, (from + bytes) / 4), at);
  }

  /** `check` throws if the buffers were freed between two transfers. */
  async download(check: () => void): Promise<TensorMap> {
    const flat = new Float32Array(this.layout.size);
    for (const { part, at, from, bytes } of this.#transfers()) {
      check();
      flat.set(new Float32Array(await this.gpu.read(this.flats[part]!, bytes, at)), from / 4);
    }
    return this.layout.unflatten(flat);
  }

  copyFrom(other: Arena): void {
    this.flats.forEach((flat, part) => this.gpu.copy(other.flats[part]!, flat));
  }

  clear(): void {
    for (const flat of this.flats) this.gpu.clear(flat);
  }

  /** Bytes `at` … `at + bytes - 1` of a part, which are the bytes from `from` of all parts together. */
  *#transfers(): Generator<{ part: number; at: number; from: number; bytes: number }> {
    for (const [part, { offset, size }] of this.layout.parts.entries())
      for (let at = 0; at < size * 4; at += TRANSFER) yield { part, at, from: offset * 4 + at, bytes: Math.min(TRANSFER, size * 4 - at) };
  }
}

/** Zeros for all tensors: the content of an arena before anything was written to it. */
export const zeros = (layout: ParameterLayout): TensorMap => layout.unflatten(new Float32Array(layout.size));
