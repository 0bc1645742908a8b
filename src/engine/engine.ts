/** One model on the GPU: its weights, the sampler, scoring and training. */
import { DecodeProgram } from './decode-program.ts';
import type { Dispatch, Gpu, View } from './gpu.ts';
import { ropeTable } from './kernels/qk-norm-rope.ts';
import { runMicroBatches } from './micro-batches.ts';
import { Optimizer } from './optimizer.ts';
import { ParameterLayout } from './parameters.ts';
import { Part } from './part.ts';
import { BatchSampler } from './sampler.ts';
import { TrainingProgram } from './training-program.ts';
import { trainingSizes } from './training-sizes.ts';
import type { AdamWParams, Engine, ModelConfig, ScoreOptions, Scores, TensorMap, TokenLoss, TrainSequence } from './types.ts';
import { Weights, zeros } from './weights.ts';

export interface EngineOptions {
  /** Most tokens of a sequence, in the sampler and in training. */
  maxModelLen?: number;
  /** Sequences that can be open in the sampler at once. */
  slots?: number;
  /** Most tokens of a training micro-batch; by default as many as fit into `activationBytes`. */
  maxTokens?: number;
  /** Bytes for activations in training. */
  activationBytes?: number;
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
export async function createEngine(gpu: Gpu, config: ModelConfig, weights: TensorMap, options: EngineOptions = {}): Promise<Engine> {
  const engine = new GpuEngine(gpu, config, options);
  try {
    await engine.start(weights);
  } catch (error) {
    engine.destroy();
    throw error;
  }
  return engine;
}

class GpuEngine implements Engine {
  readonly sampler: BatchSampler;
  readonly #layout: ParameterLayout;
  readonly #model: Part<{ weights: Weights; rope: View }>;
  readonly #reference: Part<Weights>;
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
    const layout = (this.#layout = new ParameterLayout(config));
    const training = trainingSizes(config, maxModelLen, maxTokens, activationBytes);
    const pagesPerSlot = Math.ceil(maxModelLen / PAGE_SIZE);
    const decode = { slots, prefillTokens, steps, pageSize: PAGE_SIZE, pagesPerSlot, pages: slots * pagesPerSlot };
    this.#model = new Part(gpu, () => {
      const table = ropeTable(training.capacity, config.head_dim, config.rope_theta);
      const rope = gpu.buffer('rope', table.byteLength);
      gpu.write(rope, table);
      return { weights: new Weights(gpu, layout, 'weights'), rope };
    });
    this.#reference = new Part(gpu, () => new Weights(gpu, layout, 'reference weights'));
    this.#decode = new Part(gpu, () => new DecodeProgram(gpu, config, this.#built.weights.views, this.#built.rope, decode));
    this.#training = new Part(gpu, () => new TrainingProgram(gpu, config, this.#built.rope, training));
    this.#optimizer = new Part(gpu, () => new Optimizer(gpu, layout, this.#built.weights.flat));
    this.sampler = new BatchSampler(maxModelLen, config.vocab_size, slots, PAGE_SIZE, this.#decode);
  }

  /** The model's own buffers. @throws Error if the engine was closed */
  get #built(): { weights: Weights; rope: View } {
    this.#model.check();
    return this.#model.state!;
  }

  get tokensPrefilled(): number {
    return this.sampler.tokensPrefilled;
  }

  async start(weights: TensorMap): Promise<void> {
    await this.#model.get();
    this.loadWeights(weights);
  }

  // ── scoring and training ──────────────────────────────────────────────────────────────────────────────────────

  async score(
    sequences: readonly TrainSequence[],
    { temperature = 1, weights = 'policy', topLogprobs = 0, signal }: ScoreOptions = {},
  ): Promise<Scores> {
    const chosen = weights === 'policy' ? this.#built.weights : this.#reference.state;
    if (!chosen) throw new Error("score with weights 'reference': call snapshotReference first");
    const { training, program } = await this.#compile((built) => built.scoring(chosen.views, topLogprobs));
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
        built.training(this.#built.weights.views, optimizer.gradients.views, loss),
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
    this.gpu.copy(this.#built.weights.flat, reference.flat);
  }

  // ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────

  async weights(): Promise<TensorMap> {
    return this.#download(this.#built.weights);
  }

  loadWeights(weights: TensorMap): void {
    this.#built.weights.upload(weights);
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
  async #download(from: Weights | undefined): Promise<TensorMap> {
    this.#model.check();
    return from ? from.download(() => this.#model.check()) : zeros(this.#layout);
  }

  destroy(): void {
    for (const part of [this.#model, this.#reference, this.#decode, this.#training, this.#optimizer]) part.close();
  }
}

/** The options that are not undefined: an undefined option must not hide a default. */
const definedOnly = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
