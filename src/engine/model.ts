/** A model's weights on the GPU. Trained weights are in an f32 arena. Frozen weights are in their storage format. */
import { Arena } from './arena.ts';
import type { Gpu, View } from './gpu.ts';
import { hasScales, SCALE_GROUP, storedBytes, type WeightFormat } from './kernels/weight-format.ts';
import { loadTensors } from './load-tensors.ts';
import { initialLora, type LayerAdapters, loraLayout, loraTensors, type LoraTensors, loraViews, paddedRank } from './lora.ts';
import { type Matrix, matrixOf, type Piece } from './matrix.ts';
import { flatWeightViews, fullGradients, type GradientViews, loraGradients, type WeightViews, weightViews } from './model-views.ts';
import { groupsOf, groupSize, type ModelTensors, modelTensors, ParameterLayout, type TensorGroup } from './parameters.ts';
import type { LoraOptions, ModelConfig, TensorMap, WeightSource } from './types.ts';

export interface ModelOptions {
  /** The storage format of the frozen matrices. Trained weights are always f32. */
  precision: WeightFormat;
  lora?: LoraOptions | undefined;
  /** Random seed of new adapters. */
  seed: number;
  /** The largest buffer that a kernel can bind, in bytes. */
  bindingBytes: number;
}

/** Which weights are trained: with LoRA only the adapters; without LoRA all weights if `precision` is f32, else none. */
export class ModelPlan {
  readonly tensors: ModelTensors;
  readonly adapters: LoraTensors | undefined;
  /** Undefined if nothing is trained. */
  readonly trained: ParameterLayout | undefined;
  /** Width of LoRA's `down` in floats per token: the maximum over all adapters. 0 without LoRA. */
  readonly loraWidth: number;

  /** @throws RangeError naming the option */
  constructor(
    readonly config: ModelConfig,
    readonly options: ModelOptions,
  ) {
    const { lora, precision, bindingBytes } = options;
    this.tensors = modelTensors(config);
    this.adapters = lora && loraTensors(config, lora);
    this.trained = this.adapters
      ? loraLayout(this.adapters, bindingBytes)
      : precision === 'f32'
        ? new ParameterLayout(
            groupsOf(this.tensors).map((group) => [group]),
            bindingBytes,
          )
        : undefined;
    const parts = (this.adapters?.[0] ? Object.values(this.adapters[0]) : []).map((adapter) => adapter.parts.length);
    this.loraWidth = paddedRank(lora?.rank ?? 0) * Math.max(0, ...parts);
    for (const group of groupsOf(this.tensors)) {
      const { columns, vector } = groupSize(group);
      if (hasScales(precision) && !vector && columns % SCALE_GROUP !== 0)
        throw new RangeError(
          `precision ${precision}: ${group[0]!.name} has rows of ${columns} values: expected a multiple of ${SCALE_GROUP}`,
        );
    }
  }

  /** The adapters in an arena; undefined without LoRA. */
  adapterViews(arena: Arena): LayerAdapters[] | undefined {
    return this.adapters && loraViews(this.adapters, this.options.lora!, arena.view);
  }

  gradientViews(gradients: Arena): GradientViews {
    const adapters = this.adapterViews(gradients);
    return adapters ? loraGradients(adapters) : fullGradients(this.tensors, gradients.view);
  }
}

export class Model {
  /** The trained weights. Undefined if nothing is trained. */
  readonly arena: Arena | undefined;
  readonly views: WeightViews;
  /** The matrices of frozen weights. */
  readonly #stored = new Map<TensorGroup, Matrix>();

  /** Allocates the buffers. */
  constructor(
    readonly gpu: Gpu,
    readonly plan: ModelPlan,
  ) {
    const { trained, adapters, tensors } = plan;
    this.arena = trained && new Arena(gpu, trained, adapters ? 'adapters' : 'weights');
    if (!this.#frozen) {
      this.views = flatWeightViews(tensors, this.arena!.view);
      return;
    }
    for (const group of groupsOf(tensors)) this.#stored.set(group, this.#allocate(group));
    this.views = this.viewsWith(this.arena);
  }

  get #frozen(): boolean {
    return this.plan.adapters !== undefined || this.plan.trained === undefined;
  }

  #allocate(group: TensorGroup): Matrix {
    const { gpu } = this;
    const { name } = group[0]!;
    const { rows, columns, vector } = groupSize(group);
    if (vector) return matrixOf(gpu.buffer(name, rows * 4), rows, 1);
    const { precision: format, bindingBytes } = this.plan.options;
    const most = Math.floor(bindingBytes / storedBytes(format, columns).values / 4) * 4;
    const pieces: Piece[] = [];
    for (let first = 0; first < rows; first += most) {
      const count = Math.min(most, rows - first);
      const bytes = storedBytes(format, count * columns);
      pieces.push({
        format,
        first,
        rows: count,
        values: gpu.buffer(name, bytes.values),
        ...(bytes.scales > 0 && { scales: gpu.buffer(`${name} scales`, bytes.scales) }),
      });
    }
    return { rows, columns, pieces };
  }

  /** The weights, with those of `arena` instead of the trained ones. Without an arena, the model has no adapters. */
  viewsWith(arena: Arena | undefined): WeightViews {
    const { plan } = this;
    if (!this.#frozen) return flatWeightViews(plan.tensors, arena!.view);
    const matrix = (group: TensorGroup): Matrix => this.#stored.get(group)!;
    const vector = (group: TensorGroup): View => matrix(group).pieces[0]!.values;
    return weightViews(plan.tensors, matrix, vector, arena && plan.adapterViews(arena));
  }

  /**
   * Reads the weights and sets the adapters. Without `adapters`, the adapters are new: at first they change no output (B is 0).
   * @param check throws if this model was freed between two reads
   * @throws Error that names a tensor that is not finite
   */
  async load(source: WeightSource, adapters: TensorMap | undefined, check: () => void): Promise<void> {
    const { arena, plan } = this;
    const places = groupsOf(plan.tensors).map((group): [TensorGroup, Matrix] => {
      const { rows, columns } = groupSize(group);
      return [group, this.#stored.get(group) ?? matrixOf(arena!.view(group), rows, columns)];
    });
    await loadTensors(this.gpu, source, places, check);
    if (plan.adapters) arena!.upload(adapters ?? initialLora(plan.trained!, plan.options.lora!, plan.options.seed));
  }
}
