/** Holds the gradients and AdamW moments, and runs the update. */
import type { Dispatch, Gpu, View } from './gpu.ts';
import { adamw, ADAMW_SETTINGS_BYTES, adamwSettings, decayMask, gradNorm, NORM_PARTIAL_BYTES } from './kernels/adamw.ts';
import type { ParameterLayout } from './parameters.ts';
import type { AdamWParams, TensorMap } from './types.ts';
import { Arena } from './arena.ts';

export class Optimizer {
  readonly gradients: Arena;
  readonly m: Arena;
  readonly v: Arena;
  readonly #norm: View;
  readonly #settings: View;
  readonly #program: Dispatch[];
  /** Number of updates so far. */
  #step = 0;
  /** True after a failed `accumulate`, which cleared the gradients: a step would then move the weights by momentum alone. */
  #discarded = false;

  /** Allocates the buffers. `weights` are the buffers to update. */
  constructor(
    readonly gpu: Gpu,
    layout: ParameterLayout,
    weights: readonly View[],
  ) {
    this.gradients = new Arena(gpu, layout, 'gradients');
    this.m = new Arena(gpu, layout, 'adam m');
    this.v = new Arena(gpu, layout, 'adam v');
    this.#norm = gpu.buffer('gradient norm', 16);
    const partial = gpu.buffer('gradient norm parts', layout.parts.length * NORM_PARTIAL_BYTES);
    this.#settings = gpu.uniform('adamw settings', new Uint32Array(ADAMW_SETTINGS_BYTES / 4));
    const [norm, settings] = [this.#norm, this.#settings];
    const updates = layout.parts.flatMap(({ size: floats, segments }, part) => {
      const mask = decayMask(segments, floats);
      const decay = gpu.buffer('decay mask', mask.byteLength);
      gpu.write(decay, mask);
      const [params, grads, m, v] = [weights, this.gradients.flats, this.m.flats, this.v.flats].map((flats) => flats[part]!);
      return adamw(gpu, { params: params!, grads: grads!, m: m!, v: v!, decay, norm, settings }, { floats });
    });
    const gradients = layout.parts.map(({ size: floats }, part) => ({ grads: this.gradients.flats[part]!, floats }));
    this.#program = [...gradNorm(gpu, gradients, { partial, norm, settings }), ...updates];
  }

  get updates(): number {
    return this.#step;
  }

  /** Call this when an `accumulate` has added all its gradients. */
  accumulated(): void {
    this.#discarded = false;
  }

  /** Clears the gradients. */
  zero(): void {
    this.gradients.clear();
    this.#discarded = false;
  }

  /** Clears the gradients after a failed `accumulate`. Until a later `accumulate` succeeds, `step` throws. */
  discard(): void {
    this.zero();
    this.#discarded = true;
  }

  /**
   * Updates the weights and clears the gradients. Resolves to the gradient norm before clipping.
   * @throws Error if the last `accumulate` failed
   */
  async step(params: AdamWParams): Promise<number> {
    if (this.#discarded) throw new Error('there are no gradients to step with: the last accumulate was aborted or failed');
    this.gpu.write(this.#settings, adamwSettings(params, this.#step + 1));
    this.gpu.run(this.#program, { tokens: 0, rows: 0 });
    const norm = new Float32Array(await this.gpu.read(this.#norm, 16))[0]!;
    // The program changes nothing if the norm is not finite.
    if (Number.isFinite(norm)) this.#step += 1;
    return norm;
  }

  load({ step, m, v }: { step: number; m: TensorMap; v: TensorMap }): void {
    this.m.upload(m);
    this.v.upload(v);
    this.#step = step;
  }
}
