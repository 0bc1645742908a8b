/** Holds all trained tensors in one flat GPU buffer, and copies them to and from the CPU. */
import type { Gpu, View } from './gpu.ts';
import type { ParameterLayout, TensorGroup } from './parameters.ts';
import type { TensorMap } from './types.ts';

/** Maximum bytes of one transfer between CPU and GPU. */
const TRANSFER = 64 * 2 ** 20;

/** One value for each trained parameter: weights, gradients or moments. */
export class Arena {
  readonly flat: View;

  /** Allocates the buffer. All values are 0. */
  constructor(
    readonly gpu: Gpu,
    readonly layout: ParameterLayout,
    label: string,
  ) {
    this.flat = gpu.buffer(label, layout.size * 4);
  }

  readonly view = (group: TensorGroup): View => this.layout.view(this.flat, group);

  /** @throws Error that names each tensor that is missing, unknown or of a wrong shape */
  upload(tensors: TensorMap): void {
    const flat = this.layout.flatten(tensors);
    const step = TRANSFER / 4;
    for (let at = 0; at < flat.length; at += step) this.gpu.write(this.flat, flat.subarray(at, at + step), at * 4);
  }

  /** `check` throws if this buffer was freed between two transfers. */
  async download(check: () => void): Promise<TensorMap> {
    const flat = new Float32Array(this.layout.size);
    for (let at = 0; at < flat.byteLength; at += TRANSFER) {
      check();
      flat.set(new Float32Array(await this.gpu.read(this.flat, Math.min(TRANSFER, flat.byteLength - at), at)), at / 4);
    }
    return this.layout.unflatten(flat);
  }
}

/** Zeros for all tensors: the content of an arena before anything was written to it. */
export const zeros = (layout: ParameterLayout): TensorMap => layout.unflatten(new Float32Array(layout.size));
