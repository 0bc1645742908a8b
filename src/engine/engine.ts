/** One model on the GPU: its weights, the sampler, scoring and training. */
import { DecodeProgram } from './decode-program.ts';
import type { Dispatch, Gpu, View } from './gpu.ts';
import { ropeTable } from './kernels/qk-norm-rope.ts';
import { runMicroBatches } from './micro-batches.ts';
import { Optimizer } from './optimizer.ts';
import { Model, ModelPlan } from './model.ts';
import type { WeightFormat } from './kernels/weight-format.ts';
import type { WeightViews } from './model-views.ts';
import { ignoredTensors, modelParameters, type ParameterLayout, tensorProblems } from './parameters.ts';
import { Part } from './part.ts';
import { BatchSampler } from './sampler.ts';
import { TrainingProgram } from './training-program.ts';
import { trainingSizes } from './training-sizes.ts';
import type {
  AdamWParams,
  Engine,
  LoraOptions,
  ModelConfig,
  ScoreOptions,
  Scores,
  TensorMap,
  TokenLoss,
  TrainSequence,
  WeightSource,
} from './types.ts';
import { Arena, zeros } from './arena.ts';
import { sourceOf } from './load-tensors.ts';

export interface EngineOptions {
  /** Most tokens of a sequence, in the sampler and in training. */
  maxModelLen?: number;
  /** Sequences that can be open in the sampler at once. */
  slots?: number;
  /** Most tokens of a training micro-batch; by default as many as fit into `activationBytes`. */
  maxTokens?: number;
  /** Bytes for activations in training. */
  activationBytes?: number;
  /** How matrices that are not trained are stored. Without LoRA only f32 is trained. Default f32. */
  precision?: WeightFormat;
  /** Train adapters only. */
  lora?: LoraOptions;
  /** The first adapters, under PEFT's names. Default: new ones, which change nothing. */
  adapters?: TensorMap;
  /** Seed of new adapters. */
  loraSeed?: number;
  /** Bytes of the largest piece of a matrix. Default: what the GPU can bind at once. */
  bindingBytes?: number;
}

const MAX_MODEL_LEN = 2048;
const SLOTS = 32;
const PAGE_SIZE = 16;
/** A software adapter is slow: a small batch keeps it busy, and a few decode steps take longer than a read. */
const defaults = (software: boolean) =>
  software
    ? { maxTokens: 2048, activationBytes: 512 * 2 ** 20, prefillTokens: 256, steps: 4 }
    : { maxTokens: 8192, activationBytes: 2 ** 30, prefillTokens: 1024, steps: 16 };

/**
 * Puts a model on the GPU. Gradients, moments and the KV cache are allocated at their first use.
 * The engine owns its buffers, not the device.
 * @throws Error that names tensors that do not fit; GpuOutOfMemoryError
 */
export async function createEngine(
  gpu: Gpu,
  config: ModelConfig,
  weights: TensorMap | WeightSource,
  options: EngineOptions = {},
): Promise<Engine> {
  const source = 'read' in weights ? weights : sourceOf(weights);
  const problems = tensorProblems(modelParameters(config), source.tensors, ignoredTensors(config));
  if (problems.length > 0) throw new Error(problems.join('; '));
  const engine = new GpuEngine(gpu, config, options);
  try {
    await engine.start(source, options.adapters);
  } catch (error) {
    engine.destroy();
    throw error;
  }
  return engine;
}

class GpuEngine implements Engine {
  readonly sampler: BatchSampler;
  readonly #plan: ModelPlan;
  readonly #model: Part<{ model: Model; rope: View }>;
  /** `arena` is absent if the reference is the model without adapters. */
  readonly #reference: Part<{ arena?: Arena; views: WeightViews }>;
  /** The adapters change nothing, because no one has trained or replaced them. */
  #newAdapters: boolean;
  readonly #decode: Part<DecodeProgram>;
  readonly #training: Part<TrainingProgram>;
  readonly #optimizer: Part<Optimizer>;

  constructor(
    readonly gpu: Gpu,
    readonly config: ModelConfig,
    options: EngineOptions,
  ) {
    const { maxTokens, activationBytes, prefillTokens, steps } = { ...defaults(gpu.info.software), ...definedOnly(options) };
    const slots = options.slots ?? SLOTS;
    const maxModelLen = options.maxModelLen ?? Math.min(config.max_position_embeddings, MAX_MODEL_LEN);
    for (const [name, value] of Object.entries({ maxModelLen, slots, maxTokens })) {
      if (!Number.isInteger(value) || value < 1) throw new RangeError(`engine ${name} is ${value}: expected a positive integer`);
    }
    const { precision = 'f32', lora, loraSeed: seed = 1, bindingBytes = gpu.device.limits.maxStorageBufferBindingSize } = options;
    const plan = (this.#plan = new ModelPlan(config, { precision, lora, seed, bindingBytes }));
    this.#newAdapters = lora !== undefined && options.adapters === undefined;
    const training = trainingSizes(config, maxModelLen, maxTokens, activationBytes);
    const pagesPerSlot = Math.ceil(maxModelLen / PAGE_SIZE);
    const decode = { slots, prefillTokens, steps, pageSize: PAGE_SIZE, pagesPerSlot, pages: slots * pagesPerSlot };
    this.#model = new Part(gpu, () => {
      const table = ropeTable(training.capacity, config.head_dim, config.rope_theta);
      const rope = gpu.buffer('rope', table.byteLength);
      gpu.write(rope, table);
      return { model: new Model(gpu, plan), rope };
    });
    this.#reference = new Part(gpu, () => {
      const { model } = this.#built;
      if (this.#newAdapters) return { views: model.viewsWith(undefined) };
      const arena = new Arena(gpu, this.#trained, 'reference weights');
      return { arena, views: model.viewsWith(arena) };
    });
    this.#decode = new Part(gpu, () => new DecodeProgram(gpu, config, this.#built.model.views, this.#built.rope, decode, plan.loraWidth));
    this.#training = new Part(gpu, () => new TrainingProgram(gpu, config, this.#built.rope, training, plan.loraWidth));
    this.#optimizer = new Part(gpu, () => new Optimizer(gpu, this.#trained, this.#arena.flat));
    this.sampler = new BatchSampler(maxModelLen, config.vocab_size, slots, PAGE_SIZE, this.#decode);
  }

  /** The model's own buffers. @throws Error if the engine was closed */
  get #built(): { model: Model; rope: View } {
    this.#model.check();
    return this.#model.state!;
  }

  /** @throws Error if nothing is trained */
  get #trained(): ParameterLayout {
    return this.#plan.trained ?? frozen(this.#plan);
  }

  /** The trained weights. @throws Error if nothing is trained */
  get #arena(): Arena {
    return this.#built.model.arena ?? frozen(this.#plan);
  }

  get tokensPrefilled(): number {
    return this.sampler.tokensPrefilled;
  }

  async start(source: WeightSource, adapters: TensorMap | undefined): Promise<void> {
    const built = await this.#model.get();
    await built.model.load(source, adapters, () => this.#model.check(built));
  }

  // ── scoring and training ──────────────────────────────────────────────────────────────────────────────────────

  async score(
    sequences: readonly TrainSequence[],
    { temperature = 1, weights = 'policy', topLogprobs = 0, signal }: ScoreOptions = {},
  ): Promise<Scores> {
    const chosen = weights === 'policy' ? this.#built.model.views : this.#reference.state?.views;
    if (!chosen) throw new Error("score with weights 'reference': call snapshotReference first");
    const { training, program } = await this.#compile((built) => built.scoring(chosen, topLogprobs));
    const check = (): void => this.#training.check(training);
    return runMicroBatches(this.gpu, training, program, sequences, { temperature, topLogprobs, signal, check });
  }

  async accumulate(
    sequences: readonly TrainSequence[],
    loss: TokenLoss,
    { temperature = 1, signal }: { temperature?: number; signal?: AbortSignal } = {},
  ): Promise<Scores> {
    const optimizer = await this.#optimizer.get();
    try {
      const { training, program } = await this.#compile((built) =>
        built.training(this.#built.model.views, this.#plan.gradientViews(optimizer.gradients), loss),
      );
      const check = (): void => this.#training.check(training);
      const scores = await runMicroBatches(this.gpu, training, program, sequences, { temperature, signal, loss, check });
      optimizer.accumulated();
      return scores;
    } catch (error) {
      // Some micro-batches may be missing from the sum.
      this.#optimizer.state?.discard();
      throw error;
    }
  }

  #compile(build: (training: TrainingProgram) => Dispatch[]): Promise<{ training: TrainingProgram; program: Dispatch[] }> {
    return this.#training.extend((training) => ({ training, program: build(training) }));
  }

  async step(params: AdamWParams): Promise<{ gradNorm: number }> {
    const optimizer = await this.#optimizer.get();
    this.#optimizer.check(optimizer);
    const stepping = optimizer.step(params);
    this.#newAdapters = false;
    this.sampler.invalidate();
    return { gradNorm: await stepping };
  }

  async gradients(): Promise<TensorMap> {
    return this.#download(this.#optimizer.state?.gradients);
  }

  zeroGradients(): void {
    this.#optimizer.check();
    this.#optimizer.state?.zero();
  }

  async snapshotReference(): Promise<void> {
    const reference = await this.#reference.get();
    this.#reference.check(reference);
    if (reference.arena) this.gpu.copy(this.#arena.flat, reference.arena.flat);
  }

  // ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────

  async weights(): Promise<TensorMap> {
    return this.#download(this.#arena);
  }

  loadWeights(weights: TensorMap): void {
    this.#arena.upload(weights);
    this.#newAdapters = false;
    this.sampler.invalidate();
  }

  async optimizerState(): Promise<{ step: number; m: TensorMap; v: TensorMap }> {
    const optimizer = this.#optimizer.state;
    return { step: optimizer?.updates ?? 0, m: await this.#download(optimizer?.m), v: await this.#download(optimizer?.v) };
  }

  async loadOptimizerState(state: { step: number; m: TensorMap; v: TensorMap }): Promise<void> {
    const { step } = state;
    if (!Number.isInteger(step) || step < 0) throw new RangeError(`optimizer state: step is ${step}: expected an integer of at least 0`);
    const optimizer = await this.#optimizer.get();
    this.#optimizer.check(optimizer);
    optimizer.load(state);
  }

  /** Zeros for weights that were not allocated yet. */
  async #download(from: Arena | undefined): Promise<TensorMap> {
    this.#model.check();
    return from ? from.download(() => this.#model.check()) : zeros(this.#trained);
  }

  destroy(): void {
    for (const part of [this.#model, this.#reference, this.#decode, this.#training, this.#optimizer]) part.close();
  }
}

function frozen({ options: { precision } }: ModelPlan): never {
  throw new Error(`the weights are in ${precision} and not trained: expected precision f32, or LoRA, for training`);
}

/** The options that are not undefined: an undefined option must not hide a default. */
const definedOnly = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
