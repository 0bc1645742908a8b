/** A model on the GPU: weights, gradients and moments, the programs that run on them, and the sampler. */
import { DecodeProgram } from './decode-program.ts';
import { type Dispatch, type Gpu, type View } from './gpu.ts';
import { adamw, ADAMW_SETTINGS_BYTES, adamwSettings, decayMask, gradNorm, NORM_PARTIAL_BYTES } from './kernels/adamw.ts';
import { ropeTable } from './kernels/qk-norm-rope.ts';
import { pack, type MicroBatch } from './packing.ts';
import { ParameterLayout, type WeightViews } from './parameters.ts';
import { BatchSampler } from './sampler.ts';
import { TrainingProgram, trainingSizes, type TrainingSizes } from './training-program.ts';
import type { AdamWParams, Engine, ModelConfig, ScoreOptions, Scores, TensorMap, TokenLoss, TrainSequence } from './types.ts';

export interface EngineOptions {
  /** Tokens of the longest sequence, in the sampler and in training. */
  maxModelLen?: number;
  /** Sequences that can be open in the sampler at once. */
  slots?: number;
  /** Tokens of a training micro-batch at most; by default what memory allows. */
  maxTokens?: number;
  /** Bytes for activations in training. */
  activationBytes?: number;
}

const MAX_MODEL_LEN = 2048;
const SLOTS = 32;
const PAGE_SIZE = 16;
/** Software adapters are slow enough that a small batch fills them, and a short block of steps hides the read back. */
const defaults = (software: boolean) =>
  software ? { maxTokens: 2048, activationBytes: 512 * 2 ** 20, prefillTokens: 256, steps: 4 } : { maxTokens: 8192, activationBytes: 2 ** 30, prefillTokens: 1024, steps: 16 };

/** Bytes of one transfer between CPU and GPU. */
const TRANSFER = 64 * 2 ** 20;

/**
 * Puts a model on the GPU. What a use does not need (gradients and moments, KV cache) is allocated when it is first used.
 * The engine owns its buffers, not the device.
 * @throws Error naming tensors that do not fit; GpuOutOfMemoryError
 */
export async function createEngine(gpu: Gpu, config: ModelConfig, weights: TensorMap, options: EngineOptions = {}): Promise<Engine> {
  const engine = new GpuEngine(gpu, config, options);
  try {
    await gpu.allocating(() => engine.start(weights));
  } catch (error) {
    engine.destroy();
    throw error;
  }
  return engine;
}

/** Of an engine's buffers: made together, and freed where that fails. */
type Part = 'model' | 'decode' | 'training' | 'optimizer';

interface Optimizer {
  gradients: View;
  gradientViews: WeightViews;
  m: View;
  v: View;
  norm: View;
  settings: View;
  program: Dispatch[];
  /** Updates done. */
  step: number;
}

class GpuEngine implements Engine {
  readonly sampler: BatchSampler;
  readonly #layout: ParameterLayout;
  readonly #buffers: Record<Part, View[]> = { model: [], decode: [], training: [], optimizer: [] };
  readonly #sizes: TrainingSizes;
  readonly #maxModelLen: number;
  #policy!: { flat: View; views: WeightViews };
  #rope!: View;
  #reference: { flat: View; views: WeightViews } | undefined;
  #training: TrainingProgram | undefined;
  #optimizer: Optimizer | undefined;
  #destroyed = false;

  constructor(
    readonly gpu: Gpu,
    readonly config: ModelConfig,
    options: EngineOptions,
  ) {
    const { maxTokens, activationBytes, prefillTokens, steps } = { ...defaults(gpu.info.software), ...definedOnly(options) };
    const slots = options.slots ?? SLOTS;
    this.#maxModelLen = options.maxModelLen ?? Math.min(config.max_position_embeddings, MAX_MODEL_LEN);
    for (const [name, value] of Object.entries({ maxModelLen: this.#maxModelLen, slots, maxTokens })) {
      if (!Number.isInteger(value) || value < 1) throw new RangeError(`engine ${name} is ${value}: expected a positive integer`);
    }
    this.#layout = new ParameterLayout(config);
    this.#sizes = trainingSizes(config, this.#maxModelLen, maxTokens, activationBytes);
    const pagesPerSlot = Math.ceil(this.#maxModelLen / PAGE_SIZE);
    const sizes = { slots, prefillTokens, steps, pageSize: PAGE_SIZE, pagesPerSlot, pages: slots * pagesPerSlot };
    let program: Promise<DecodeProgram> | undefined;
    const load = async (): Promise<DecodeProgram> => {
      this.#refuseDestroyed();
      return (program ??= this.#build('decode', () => new DecodeProgram(gpu, config, this.#policy.views, this.#rope, sizes), () => (program = undefined)));
    };
    this.sampler = new BatchSampler(this.#maxModelLen, config.vocab_size, slots, PAGE_SIZE, load);
  }

  get tokensPrefilled(): number {
    return this.sampler.tokensPrefilled;
  }

  start(weights: TensorMap): void {
    const { gpu, config } = this;
    this.#policy = this.#collecting(() => this.#weightBuffer('weights'));
    this.loadWeights(weights);
    const table = ropeTable(this.#sizes.capacity, config.head_dim, config.rope_theta);
    this.#rope = this.#collecting(() => gpu.buffer('rope', table.byteLength));
    gpu.write(this.#rope, table);
  }

  #collecting<T>(build: () => T, part: Part = 'model'): T {
    return this.gpu.collecting(this.#buffers[part], build);
  }

  /** Allocates and compiles what `build` makes. Where that fails, all of the part is freed and forgotten, to be made anew. */
  async #build<T>(part: Part, build: () => T, forget: () => void): Promise<T> {
    this.#refuseDestroyed();
    try {
      const built = await this.gpu.allocating(() => this.#collecting(build, part));
      await this.gpu.ready();
      return built;
    } catch (error) {
      forget();
      this.#free(part);
      throw error;
    }
  }

  #free(part: Part): void {
    for (const view of this.#buffers[part].splice(0)) this.gpu.destroyBuffer(view);
  }

  /** Work on freed buffers would end the device, which others use by then. */
  #refuseDestroyed(): void {
    if (this.#destroyed) throw new Error('this engine was closed: another model is in use');
  }

  #weightBuffer(label: string): { flat: View; views: WeightViews } {
    const flat = this.gpu.buffer(label, this.#layout.size * 4);
    return { flat, views: this.#layout.views(flat) };
  }

  // ── scoring and training ──────────────────────────────────────────────────────────────────────────────────────

  async score(sequences: readonly TrainSequence[], { temperature = 1, weights = 'policy', topLogprobs = 0, signal }: ScoreOptions = {}): Promise<Scores> {
    const chosen = weights === 'policy' ? this.#policy : this.#reference;
    if (!chosen) throw new Error("score with weights 'reference': call snapshotReference first");
    const program = await this.#buildTraining((training) => training.scoring(chosen.views, topLogprobs));
    return this.#run(sequences, program, temperature, { topLogprobs, signal });
  }

  async accumulate(sequences: readonly TrainSequence[], loss: TokenLoss, { temperature = 1, signal }: { temperature?: number; signal?: AbortSignal } = {}): Promise<Scores> {
    const { gradientViews } = await this.#builtOptimizer();
    const program = await this.#buildTraining((training) => training.training(this.#policy.views, gradientViews, loss));
    return this.#run(sequences, program, temperature, { signal, loss });
  }

  #buildTraining(program: (training: TrainingProgram) => Dispatch[]): Promise<Dispatch[]> {
    const build = () => program((this.#training ??= new TrainingProgram(this.gpu, this.config, this.#rope, this.#sizes)));
    return this.#build('training', build, () => (this.#training = undefined));
  }

  async #builtOptimizer(): Promise<Optimizer> {
    if (!this.#optimizer) return this.#build('optimizer', () => this.#optimizerState(), () => (this.#optimizer = undefined));
    this.#refuseDestroyed();
    await this.gpu.ready();
    return this.#optimizer;
  }

  /** Runs every micro-batch; while one is computed, the results of the one before are read. */
  async #run(
    sequences: readonly TrainSequence[],
    program: readonly Dispatch[],
    temperature: number,
    { topLogprobs: k = 0, signal, loss }: { topLogprobs?: number; signal?: AbortSignal; loss?: TokenLoss },
  ): Promise<Scores> {
    checkTokens(sequences, this.config.vocab_size);
    const empty = (): Float32Array[] => sequences.map(({ tokens }) => new Float32Array(tokens.length));
    const top = k > 0 ? sequences.map(({ tokens }) => ({ k, ids: new Uint32Array(k * tokens.length), logprobs: new Float32Array(k * tokens.length) })) : undefined;
    const scores: Scores = { logprobs: empty(), entropies: empty(), ...(top && { top }) };
    const training = this.#training!;
    const read = async ({ rowSequences, rowPositions }: MicroBatch): Promise<void> => {
      // Both copies are asked for at once, before the next batch overwrites what they copy.
      const rows = rowSequences.length;
      const [{ logprobs, entropies }, likeliest] = await Promise.all([training.statistics(rows), k > 0 ? training.topTokens(rows, k) : undefined]);
      rowSequences.forEach((sequence, row) => {
        scores.logprobs[sequence]![rowPositions[row]!] = logprobs[row]!;
        scores.entropies[sequence]![rowPositions[row]!] = entropies[row]!;
        if (!likeliest) return;
        const own = top![sequence]!;
        own.ids.set(likeliest.ids.subarray(row * k, (row + 1) * k), rowPositions[row]! * k);
        own.logprobs.set(likeliest.logprobs.subarray(row * k, (row + 1) * k), rowPositions[row]! * k);
      });
    };
    let before: Promise<void> | undefined;
    for (const batch of pack(sequences, this.#sizes.capacity)) {
      signal?.throwIfAborted();
      this.#refuseDestroyed();
      const counts = training.upload(batch, temperature, loss);
      this.gpu.run(program, counts);
      const reading = read(batch);
      await before;
      before = reading;
    }
    await before;
    return scores;
  }

  async step(params: AdamWParams): Promise<{ gradNorm: number }> {
    const optimizer = await this.#builtOptimizer();
    this.gpu.write(optimizer.settings, adamwSettings(params, optimizer.step + 1));
    this.gpu.run(optimizer.program, { tokens: 0, rows: 0 });
    this.sampler.invalidate();
    const norm = new Float32Array(await this.gpu.read(optimizer.norm, 16))[0]!;
    if (Number.isFinite(norm)) optimizer.step += 1;
    return { gradNorm: norm };
  }

  #optimizerState(): Optimizer {
    if (this.#optimizer) return this.#optimizer;
    const { gpu } = this;
    const { size: floats, segments } = this.#layout;
    const { flat: gradients, views: gradientViews } = this.#weightBuffer('gradients');
    const [m, v] = [gpu.buffer('adam m', floats * 4), gpu.buffer('adam v', floats * 4)];
    const [norm, partial] = [gpu.buffer('gradient norm', 16), gpu.buffer('gradient norm parts', NORM_PARTIAL_BYTES)];
    const settings = gpu.uniform('adamw settings', new Uint32Array(ADAMW_SETTINGS_BYTES / 4));
    const counts = gpu.uniform('adamw counts', [0, 0, 0, 0]);
    const mask = decayMask(segments, floats);
    const decay = gpu.buffer('decay mask', mask.byteLength);
    gpu.write(decay, mask);
    const program = [
      ...gradNorm(gpu, { grads: gradients, partial, norm, settings, counts }, { floats }),
      ...adamw(gpu, { params: this.#policy.flat, grads: gradients, m, v, decay, norm, settings, counts }, { floats }),
    ];
    return (this.#optimizer = { gradients, gradientViews, m, v, norm, settings, program, step: 0 });
  }

  async gradients(): Promise<TensorMap> {
    return this.#download(this.#optimizer?.gradients);
  }

  zeroGradients(): void {
    if (!this.#optimizer) return;
    this.#refuseDestroyed();
    const encoder = this.gpu.device.createCommandEncoder();
    encoder.clearBuffer(this.#optimizer.gradients.buffer);
    this.gpu.device.queue.submit([encoder.finish()]);
  }

  snapshotReference(): void {
    this.#refuseDestroyed();
    this.#reference ??= this.#collecting(() => this.#weightBuffer('reference weights'));
    const encoder = this.gpu.device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#policy.flat.buffer, 0, this.#reference.flat.buffer, 0, this.#policy.flat.size);
    this.gpu.device.queue.submit([encoder.finish()]);
  }

  // ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────

  async weights(): Promise<TensorMap> {
    return this.#download(this.#policy.flat);
  }

  loadWeights(weights: TensorMap): void {
    this.#upload(this.#policy.flat, weights);
    this.sampler.invalidate();
  }

  async optimizerState(): Promise<{ step: number; m: TensorMap; v: TensorMap }> {
    return { step: this.#optimizer?.step ?? 0, m: await this.#download(this.#optimizer?.m), v: await this.#download(this.#optimizer?.v) };
  }

  loadOptimizerState({ step, m, v }: { step: number; m: TensorMap; v: TensorMap }): void {
    if (!Number.isInteger(step) || step < 0) throw new RangeError(`optimizer state: step is ${step}: expected an integer of at least 0`);
    const optimizer = this.#collecting(() => this.#optimizerState(), 'optimizer');
    this.#upload(optimizer.m, m);
    this.#upload(optimizer.v, v);
    optimizer.step = step;
  }

  #upload(to: View, tensors: TensorMap): void {
    this.#refuseDestroyed();
    const flat = this.#layout.flatten(tensors);
    const step = TRANSFER / 4;
    for (let at = 0; at < flat.length; at += step) this.gpu.write(to, flat.subarray(at, at + step), at * 4);
  }

  /** Zeros where nothing has been allocated yet. */
  async #download(from: View | undefined): Promise<TensorMap> {
    const flat = new Float32Array(this.#layout.size);
    if (from) {
      for (let at = 0; at < flat.byteLength; at += TRANSFER) {
        this.#refuseDestroyed();
        flat.set(new Float32Array(await this.gpu.read(from, Math.min(TRANSFER, flat.byteLength - at), at)), at / 4);
      }
    }
    return this.#layout.unflatten(flat);
  }

  destroy(): void {
    this.#destroyed = true;
    for (const part of Object.keys(this.#buffers) as Part[]) this.#free(part);
  }
}

/** Options that are given, so that `undefined` does not hide a default. */
const definedOnly = <T extends object>(options: T): T => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

function checkTokens(sequences: readonly TrainSequence[], vocab: number): void {
  sequences.forEach(({ tokens }, i) => {
    for (let t = 0; t < tokens.length; t++) {
      if (!(tokens[t]! >= 0 && tokens[t]! < vocab)) throw new RangeError(`sequence ${i}: token ${t} is ${tokens[t]}: expected an id from 0 to ${vocab - 1}`);
    }
  });
}
