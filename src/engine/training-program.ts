/**
 * The GPU side of scoring and training: one micro-batch of packed tokens forward, through the LM head in chunks of rows
 * (the whole logits matrix never exists), and back. Programs are built once; a run only uploads the batch.
 */
import { type Dispatch, type Gpu, subview, type View } from './gpu.ts';
import { attention } from './kernels/attention.ts';
import { biasPartialBytes } from './kernels/bias.ts';
import { bucketWords, embedding, embeddingBuckets, embeddingGradient } from './kernels/embedding.ts';
import { zero } from './kernels/elementwise.ts';
import { gatherRows, scatterAddRows } from './kernels/gather-rows.ts';
import { HEAD_SETTINGS_BYTES, headPartialBytes, headSettings, rowLossGradient, rowStatistics } from './kernels/head.ts';
import { matmul } from './kernels/matmul.ts';
import { qkPartialBytes } from './kernels/qk-norm-rope.ts';
import { rmsnorm, rmsnormBackward, rmsnormPartialBytes } from './kernels/rmsnorm.ts';
import { topBytes, topPartialBytes, topTokens } from './kernels/top-tokens.ts';
import {
  type ActivationGradients, type Activations, activationWidths, headSizes, layerBackward, type LayerContext, layerForward, type Residual, widths,
} from './layer.ts';
import type { MicroBatch } from './packing.ts';
import type { WeightViews } from './parameters.ts';
import type { ModelConfig, TokenLoss, TopTokens } from './types.ts';

export interface TrainingSizes {
  /** Tokens of a micro-batch; a multiple of 64. */
  capacity: number;
  /** Keep only each layer's input and compute its activations again in backward. */
  recompute: boolean;
}

/** Rows of logits at a time, by their size; a multiple of 64 so that chunks of every per-row tensor are aligned. */
const LOGITS_BYTES = 64 * 2 ** 20;
const STATISTICS_BYTES = 16;

/** Bytes of activations a token takes in training. */
function trainingBytesPerToken(config: ModelConfig, recompute: boolean): number {
  const one = Object.values(activationWidths(config)).reduce((a, b) => a + b, 0);
  const { hidden } = widths(config);
  const layers = config.num_hidden_layers;
  const saved = recompute ? layers * hidden + one + hidden : layers * (one + 2 * hidden);
  return 4 * (saved + one + 6 * hidden + 16);
}

/** The capacity to build for: what `budget` bytes of activations hold, up to `most`, but one sequence of `longest` tokens always. */
export function trainingSizes(config: ModelConfig, longest: number, most: number, budget: number): TrainingSizes {
  const fits = (recompute: boolean): number => Math.floor(budget / trainingBytesPerToken(config, recompute));
  const recompute = fits(false) < longest;
  const capacity = Math.max(longest, Math.min(most, fits(recompute)));
  return { capacity: Math.ceil(capacity / 64) * 64, recompute };
}

export class TrainingProgram {
  readonly #context: LayerContext;
  readonly #inputs: { tokens: View; spans: View; rowTokens: View; targets: View; rowInputs: View; settings: View };
  /** Of the first layer in training, and of every layer in scoring. */
  readonly #activations: Activations;
  readonly #stream: View;
  readonly #head: { gathered: View; normed: View; rstd: View; logits: View; partial: View; stats: View };
  readonly #chunk: number;
  readonly #stride: number;
  readonly #scoring = new Map<WeightViews, Map<number, Dispatch[]>>();
  readonly #top = new Map<number, { partial: View; top: View }>();
  readonly #training = new Map<string, Dispatch[]>();
  #saved: ReturnType<TrainingProgram['makeSaved']> | undefined;

  constructor(
    readonly gpu: Gpu,
    readonly config: ModelConfig,
    rope: View,
    readonly sizes: TrainingSizes,
  ) {
    const { capacity } = sizes;
    const { hidden } = widths(config);
    const uint = (label: string, words: number): View => gpu.buffer(label, capacity * words * 4);
    this.#inputs = {
      tokens: uint('tokens', 1),
      spans: uint('spans', 4),
      rowTokens: uint('loss rows', 1),
      targets: uint('targets', 1),
      rowInputs: uint('loss inputs', 4),
      settings: gpu.uniform('head settings', new Uint32Array(HEAD_SETTINGS_BYTES / 4)),
    };
    this.#context = { gpu, config, tokens: { of: 'tokens' }, counts: gpu.uniform('counts', [0, 0, 0, 0]), positions: uint('positions', 1), rope };
    this.#stride = Math.ceil(config.vocab_size / 4) * 4;
    this.#chunk = Math.min(capacity, Math.max(64, Math.floor(LOGITS_BYTES / (this.#stride * 4 * 64)) * 64));
    this.#activations = this.#makeActivations('0');
    this.#stream = this.#tensor('residual stream', hidden);
    this.#head = {
      gathered: this.#tensor('loss rows hidden', hidden),
      normed: this.#tensor('loss rows normed', hidden),
      rstd: this.#tensor('loss rows rstd', 1),
      logits: gpu.buffer('logits', this.#chunk * this.#stride * 4),
      partial: gpu.buffer('head partial', headPartialBytes(this.#chunk, config.vocab_size)),
      stats: this.#tensor('row statistics', STATISTICS_BYTES / 4),
    };
  }

  #tensor(label: string, width: number): View {
    return this.gpu.buffer(label, this.sizes.capacity * width * 4);
  }

  #makeActivations(label: string): Activations {
    return Object.fromEntries(
      Object.entries(activationWidths(this.config)).map(([name, width]) => [name, this.#tensor(`${name} ${label}`, width)]),
    ) as unknown as Activations;
  }

  /** Forward only. `k`: finds the so many likeliest tokens of each row too. */
  scoring(weights: WeightViews, k = 0): Dispatch[] {
    const programs = this.#scoring.get(weights) ?? new Map<number, Dispatch[]>();
    this.#scoring.set(weights, programs);
    let program = programs.get(k);
    if (!program) {
      const x = this.#stream;
      program = [
        ...this.#embed(weights, x),
        ...weights.layers.flatMap((layer) => this.#layer(layer, this.#activations, { in: x, mid: x, out: x })),
        ...this.#gather(weights, x),
        ...this.#chunks((chunk) => [...this.#statistics(weights, chunk), ...(k > 0 ? this.#topTokens(k, chunk) : [])]),
      ];
      programs.set(k, program);
    }
    return program;
  }

  /** Forward and backward; adds to `gradients`. */
  training(weights: WeightViews, gradients: WeightViews, loss: TokenLoss): Dispatch[] {
    let program = this.#training.get(loss.wgsl);
    if (!program) {
      const { activations, residuals, d } = (this.#saved ??= this.makeSaved());
      const last = residuals.at(-1)!.out!;
      program = [
        ...this.#embed(weights, residuals[0]!.in),
        ...weights.layers.flatMap((layer, i) => this.#layer(layer, activations[i]!, residuals[i]!)),
        ...this.#gather(weights, last),
        ...this.#chunks((chunk) => [...this.#statistics(weights, chunk), ...this.#headBackward(weights, gradients, d.headNormed, loss, chunk)]),
        ...this.#gatherBackward(weights, gradients, d),
        ...weights.layers
          .map((layer, i) => {
            const a = activations[i]!;
            const x = residuals[i]!;
            const again = this.sizes.recompute ? this.#layer(layer, a, { in: x.in, mid: x.mid }) : [];
            return [...again, ...layerBackward(this.#context, this.#inputs.spans, layer, gradients.layers[i]!, a, x, d)];
          })
          .reverse()
          .flat(),
        ...embeddingGradient(
          this.gpu,
          { dx: d.x, buckets: d.buckets, dtable: gradients.embed, counts: this.#context.counts },
          { rows: { of: 'tokens' }, width: this.config.hidden_size, capacity: this.sizes.capacity },
        ),
      ];
      this.#training.set(loss.wgsl, program);
    }
    return program;
  }

  /** Buffers that only training needs. */
  private makeSaved() {
    const { config, gpu, sizes } = this;
    const { hidden, q, kv, intermediate } = widths(config);
    const layers = Array.from({ length: config.num_hidden_layers }, (_, i) => i);
    const activations = layers.map((i) => (i === 0 || sizes.recompute ? this.#activations : this.#makeActivations(String(i))));
    const streams = [...layers, layers.length].map((i) => this.#tensor(`residual stream ${i}`, hidden));
    const mids = layers.map((i) => (i > 0 && sizes.recompute ? undefined : this.#tensor(`residual stream ${i} mid`, hidden)));
    const residuals = layers.map((i): Required<Residual> => ({ in: streams[i]!, mid: mids[i] ?? mids[0]!, out: streams[i + 1]! }));
    const d: ActivationGradients & { headNormed: View; gathered: View; buckets: View } = {
      x: this.#tensor('d residual stream', hidden),
      normed: this.#tensor('d normed', hidden),
      act: this.#tensor('d act', intermediate),
      gateUp: this.#tensor('d gateUp', 2 * intermediate),
      attended: this.#tensor('d attended', q),
      delta: this.#tensor('delta', config.num_attention_heads),
      qk: this.#tensor('d qk', q + kv),
      qkv: this.#tensor('d qkv', q + 2 * kv),
      partial: gpu.buffer('partial', Math.max(rmsnormPartialBytes(hidden), qkPartialBytes(config.head_dim), biasPartialBytes(q + 2 * kv))),
      headNormed: this.#tensor('d loss rows normed', hidden),
      gathered: this.#tensor('d loss rows hidden', hidden),
      buckets: gpu.buffer('token buckets', bucketWords(sizes.capacity) * 4),
    };
    return { activations, residuals, d };
  }

  /** Puts a batch in place. `loss`: when it is going to be trained on. */
  upload(batch: MicroBatch, temperature: number, loss?: TokenLoss): { tokens: number; rows: number } {
    const { gpu } = this;
    const counts = { tokens: batch.tokens.length, rows: batch.targets.length };
    gpu.write(this.#context.counts, Uint32Array.of(counts.tokens, counts.rows, 0, 0));
    gpu.write(this.#inputs.tokens, batch.tokens);
    gpu.write(this.#context.positions, batch.positions);
    gpu.write(this.#inputs.spans, batch.spans);
    gpu.write(this.#inputs.rowTokens, batch.rowTokens);
    gpu.write(this.#inputs.targets, batch.targets);
    gpu.write(this.#inputs.rowInputs, batch.rowInputs);
    gpu.write(this.#inputs.settings, headSettings(temperature, loss?.settings));
    if (loss) gpu.write(this.#saved!.d.buckets, embeddingBuckets(batch.tokens, this.sizes.capacity));
    return counts;
  }

  /** Log-probability and entropy of the rows of the batch that was run last. */
  async statistics(rows: number): Promise<{ logprobs: Float32Array; entropies: Float32Array }> {
    // Always all rows: one size of staging buffer.
    const stats = new Float32Array(await this.gpu.read(this.#head.stats));
    return {
      logprobs: Float32Array.from({ length: rows }, (_, row) => stats[4 * row + 2]!),
      entropies: Float32Array.from({ length: rows }, (_, row) => stats[4 * row + 3]!),
    };
  }

  /** The `k` likeliest tokens of each row of the batch that was run last by a program that finds them. */
  async topTokens(rows: number, k: number): Promise<Omit<TopTokens, 'k'>> {
    const pairs = await this.gpu.read(this.#topBuffers(k).top);
    const [words, floats] = [new Uint32Array(pairs), new Float32Array(pairs)];
    return {
      ids: Uint32Array.from({ length: rows * k }, (_, i) => words[2 * i]!),
      logprobs: Float32Array.from({ length: rows * k }, (_, i) => floats[2 * i + 1]!),
    };
  }

  #topBuffers(k: number): { partial: View; top: View } {
    let buffers = this.#top.get(k);
    if (!buffers) {
      buffers = {
        partial: this.gpu.buffer('top tokens partial', topPartialBytes(this.#chunk, this.config.vocab_size, k)),
        top: this.gpu.buffer('top tokens', this.sizes.capacity * topBytes(k)),
      };
      this.#top.set(k, buffers);
    }
    return buffers;
  }

  #embed(weights: WeightViews, x: View): Dispatch[] {
    const { counts, tokens } = this.#context;
    return embedding(this.gpu, { table: weights.embed, ids: this.#inputs.tokens, x, counts }, { rows: tokens, width: this.config.hidden_size });
  }

  #layer(weights: WeightViews['layers'][number], a: Activations, x: Residual): Dispatch[] {
    const { spans } = this.#inputs;
    const { counts } = this.#context;
    const { qk, qkv, attended, lse } = a;
    return layerForward(this.#context, weights, a, x, () => attention(this.gpu, { qk, qkv, spans, out: attended, lse, counts }, headSizes(this.#context)));
  }

  /** Only rows with loss go on from here. */
  #gather(weights: WeightViews, x: View): Dispatch[] {
    const { gathered, normed, rstd } = this.#head;
    const { counts } = this.#context;
    const rows = { of: 'rows' } as const;
    const width = this.config.hidden_size;
    return [
      ...gatherRows(this.gpu, { x, index: this.#inputs.rowTokens, out: gathered, counts }, { rows, width }),
      ...rmsnorm(this.gpu, { x: gathered, weight: weights.norm, y: normed, rstd, counts }, { rows, width, eps: this.config.rms_norm_eps }),
    ];
  }

  #gatherBackward(weights: WeightViews, gradients: WeightViews, d: { headNormed: View; gathered: View; x: View; partial: View }): Dispatch[] {
    const { gathered, rstd } = this.#head;
    const { counts, tokens } = this.#context;
    const rows = { of: 'rows' } as const;
    const width = this.config.hidden_size;
    return [
      ...rmsnormBackward(
        this.gpu,
        { x: gathered, weight: weights.norm, rstd, dy: d.headNormed, dx: d.gathered, dweight: gradients.norm, partial: d.partial, counts },
        { rows, width },
      ),
      ...zero(this.gpu, { y: d.x, counts }, { rows: tokens, width }),
      ...scatterAddRows(this.gpu, { dout: d.gathered, index: this.#inputs.rowTokens, dx: d.x, counts }, { rows, width }),
    ];
  }

  #chunks(build: (chunk: { of: 'rows'; base: number; max: number }) => Dispatch[]): Dispatch[] {
    const program: Dispatch[] = [];
    for (let base = 0; base < this.sizes.capacity; base += this.#chunk) program.push(...build({ of: 'rows', base, max: this.#chunk }));
    return program;
  }

  #rowsOf(view: View, { base, max }: { base: number; max: number }): View {
    const bytes = this.config.hidden_size * 4;
    return subview(view, base * bytes, Math.min(max, this.sizes.capacity - base) * bytes);
  }

  #statistics(weights: WeightViews, rows: { of: 'rows'; base: number; max: number }): Dispatch[] {
    const { gpu, config } = this;
    const { logits, partial, stats, normed } = this.#head;
    const { targets, settings } = this.#inputs;
    const { counts } = this.#context;
    return [
      ...matmul(
        gpu, { a: this.#rowsOf(normed, rows), b: weights.head, c: logits, counts },
        { form: 'nt', rows, n: config.vocab_size, k: config.hidden_size, ldc: this.#stride },
      ),
      ...rowStatistics(gpu, { logits, targets, settings, partial, stats, counts }, { rows, vocab: config.vocab_size }),
    ];
  }

  #topTokens(k: number, rows: { of: 'rows'; base: number; max: number }): Dispatch[] {
    const { logits, stats } = this.#head;
    const tensors = { logits, stats, settings: this.#inputs.settings, counts: this.#context.counts, ...this.#topBuffers(k) };
    return topTokens(this.gpu, tensors, { rows, vocab: this.config.vocab_size, k });
  }

  #headBackward(weights: WeightViews, gradients: WeightViews, dnormed: View, loss: TokenLoss, rows: { of: 'rows'; base: number; max: number }): Dispatch[] {
    const { gpu, config } = this;
    const { logits, stats, normed } = this.#head;
    const { targets, settings, rowInputs } = this.#inputs;
    const { counts } = this.#context;
    const { vocab_size: vocab, hidden_size: hidden } = config;
    return [
      ...rowLossGradient(gpu, { logits, targets, settings, stats, inputs: rowInputs, counts }, { rows, vocab, wgsl: loss.wgsl }),
      ...matmul(gpu, { a: logits, b: weights.head, c: this.#rowsOf(dnormed, rows), counts }, { form: 'nn', rows, n: hidden, k: vocab, lda: this.#stride }),
      ...matmul(
        gpu, { a: logits, b: this.#rowsOf(normed, rows), c: gradients.head, counts },
        { form: 'tn', rows, n: vocab, k: hidden, lda: this.#stride, accumulate: true },
      ),
    ];
  }
}
