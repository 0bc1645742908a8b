/** One model on the GPU: its weights, the sampler, scoring and training. */
import { type Arena, zeros } from './arena.ts';
import type { DecodeProgram } from './decode-program.ts';
import { type BuiltModel, engineAllocations, type EngineSizes } from './engine-allocations.ts';
import type { Dispatch, Gpu } from './gpu.ts';
import { sourceOf } from './load-tensors.ts';
import { changeNothing } from './lora.ts';
import { type MicroBatchOptions, runMicroBatches } from './micro-batches.ts';
import type { ModelPlan } from './model.ts';
import type { WeightViews } from './model-views.ts';
import type { Optimizer } from './optimizer.ts';
import { ignoredTensors, modelParameters, type ParameterLayout, tensorProblems } from './parameters.ts';
import { Allocation } from './allocation.ts';
import { BatchSampler } from './sampler.ts';
import { Turns } from './turns.ts';
import type { TrainingProgram } from './training-program.ts';
import type { TrainingSizes } from './training-sizes.ts';
import type { AdamWParams, Engine, ModelConfig, ScoreOptions, Scores, TensorMap, TokenLoss, TrainSequence, WeightSource } from './types.ts';

export interface EngineOptions extends EngineSizes {
  /** The adapters to start with, under PEFT's names. Default: new adapters, which do not change the model's outputs (B is 0). */
  adapters?: TensorMap;
}

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
  readonly #model: Allocation<BuiltModel>;
  /** `arena` is absent if the reference is the model without adapters. */
  readonly #reference: Allocation<{ arena?: Arena; views: WeightViews }>;
  /** The adapters are new: the model computes the same with and without them. */
  #newAdapters: boolean;
  readonly #decode: Allocation<DecodeProgram>;
  readonly #training: Allocation<TrainingProgram>;
  readonly #sizes: (tokens: number) => TrainingSizes;
  /** Sizes with which the training buffers are allocated. They grow with the longest sequence. */
  #allocated: TrainingSizes | undefined;
  /** The last run of a training program. Runs follow each other, because a run with longer sequences makes new buffers. */
  #lastRun: Promise<unknown> = Promise.resolve();
  readonly #optimizer: Allocation<Optimizer>;
  readonly #turns: Turns;

  constructor(
    readonly gpu: Gpu,
    readonly config: ModelConfig,
    options: EngineOptions,
  ) {
    const allocations = engineAllocations(gpu, config, options);
    this.#plan = allocations.plan;
    this.#newAdapters = options.lora !== undefined && changeNothing(options.adapters ?? new Map());
    this.#model = new Allocation(gpu, allocations.model);
    this.#reference = new Allocation(gpu, () => allocations.reference(this.#built, this.#trained, !this.#newAdapters));
    this.#decode = new Allocation(gpu, () => allocations.decode(this.#built));
    this.#sizes = allocations.trainingSizes;
    this.#training = new Allocation(gpu, () => allocations.training(this.#built, this.#allocated!));
    this.#optimizer = new Allocation(gpu, () => allocations.optimizer(this.#trained, this.#arena));
    this.#turns = new Turns([this.#decode, this.#training], allocations.takeTurns);
    const program = {
      get: () => this.#decode.get(),
      check: (state: DecodeProgram) => this.#decode.check(state),
      turn: (work: () => Promise<void>) => this.#turns.use(this.#decode, work),
    };
    this.sampler = new BatchSampler(allocations.maxModelLen, config.vocab_size, allocations.slots, allocations.pages, program);
  }

  /** The buffers of the weights and of RoPE. @throws Error if the engine was closed */
  get #built(): BuiltModel {
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
    { temperature = 1, weights = 'trained', topLogprobs = 0, signal }: ScoreOptions = {},
  ): Promise<Scores> {
    const chosen = weights === 'trained' ? this.#built.model.views : this.#reference.state?.views;
    if (!chosen) throw new Error("score with weights 'reference': call snapshotReference first");
    return this.#run((built) => built.scoring(chosen, topLogprobs), sequences, { temperature, topLogprobs, signal });
  }

  async accumulate(
    sequences: readonly TrainSequence[],
    loss: TokenLoss,
    { temperature = 1, signal }: { temperature?: number; signal?: AbortSignal } = {},
  ): Promise<Scores> {
    const optimizer = await this.#optimizer.get();
    try {
      const scores = await this.#run(
        (built) => built.training(this.#built.model.views, this.#plan.gradientViews(optimizer.gradients), loss),
        sequences,
        { temperature, signal, loss },
      );
      optimizer.accumulated();
      return scores;
    } catch (error) {
      // The sum of the gradients may lack some micro-batches.
      this.#optimizer.state?.discard();
      throw error;
    }
  }

  /** Compiles the program of `build`, and runs it on all sequences. */
  #run(
    build: (training: TrainingProgram) => Dispatch[],
    sequences: readonly TrainSequence[],
    options: Omit<MicroBatchOptions, 'check' | 'capacity'>,
  ): Promise<Scores> {
    const longest = sequences.reduce((most, { tokens }) => Math.max(most, tokens.length), 1);
    const run = (): Promise<Scores> =>
      this.#turns.use(this.#training, async () => {
        const { capacity } = this.#grow(longest);
        const { training, program } = await this.#training.extend((own) => ({ training: own, program: build(own) }));
        const check = (): void => this.#training.check(training);
        return runMicroBatches(this.gpu, training, program, sequences, { ...options, capacity, check });
      });
    const running = this.#lastRun.then(run);
    this.#lastRun = running.catch(() => {});
    return running;
  }

  /** Frees the training buffers if they are too small for `longest` tokens, so that larger ones are made. Returns the sizes for `longest`. */
  #grow(longest: number): TrainingSizes {
    const sizes = this.#sizes(longest);
    if (this.#allocated && this.#allocated.capacity >= sizes.capacity) return sizes;
    this.#allocated = sizes;
    this.#training.free();
    return sizes;
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
    reference.arena?.copyFrom(this.#arena);
  }

  // ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────

  async weights(): Promise<TensorMap> {
    return this.#download(this.#arena);
  }

  loadWeights(weights: TensorMap): void {
    this.#arena.upload(weights);
    this.#newAdapters = this.#plan.adapters !== undefined && changeNothing(weights);
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

  /** Downloads an arena. If it was not allocated yet, the result is zeros. */
  async #download(from: Arena | undefined): Promise<TensorMap> {
    this.#model.check();
    return from ? from.download(() => this.#model.check()) : zeros(this.#trained);
  }

  destroy(): void {
    for (const allocation of [this.#model, this.#reference, this.#decode, this.#training, this.#optimizer]) allocation.close();
  }
}

function frozen({ options: { precision } }: ModelPlan): never {
  throw new Error(`the weights are in ${precision} and not trained: expected precision f32, or LoRA, for training`);
}
