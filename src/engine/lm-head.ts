/**
 * The LM head of scoring and training. Only rows with a loss pass through it, in chunks. So memory never holds the logits of all rows
 * at once.
 */
import { type Dispatch, type Gpu, subview, type View } from './gpu.ts';
import { zero } from './kernels/elementwise.ts';
import { gatherRows, scatterAddRows } from './kernels/gather-rows.ts';
import { nnPartialBytes } from './kernels/matmul.ts';
import { rmsnorm, rmsnormBackward } from './kernels/rmsnorm.ts';
import { LOSS_SETTINGS_BYTES, lossSettings, rowLossGradient, rowStatistics, statisticsPartialBytes } from './kernels/token-loss.ts';
import { topBytes, topPartialBytes, topTokens } from './kernels/top-tokens.ts';
import { type MicroBatch, TERMS_PER_TOKEN } from './packing.ts';
import type { GradientViews, WeightViews } from './model-views.ts';
import type { ModelConfig, TokenLoss, TopTokens } from './types.ts';
import { product } from './work.ts';

/** Maximum bytes of the logits of one chunk. */
const LOGITS_BYTES = 64 * 2 ** 20;

interface Chunk {
  of: 'rows';
  base: number;
  max: number;
}

/** Gradients that the backward pass of the head writes. */
export interface LmHeadGradients {
  /** [rows, hidden] */
  normed: View;
  /** [rows, hidden] */
  gathered: View;
  /** [tokens, hidden], gradient of the residual stream. */
  x: View;
  /** Scratch for partial sums of the weight gradients. */
  partial: View;
}

export class LmHead {
  readonly #inputs: { rowTokens: View; firstTerms: View; targets: View; inputs: View; settings: View };
  readonly #gathered: View;
  readonly #normed: View;
  readonly #rstd: View;
  readonly #logits: View;
  readonly #partial: View;
  /** Scratch for the gradient of `#normed`, a sum over the vocabulary: so few workgroups write it that each needs a part of the sum. */
  readonly #normedPartial: View | undefined;
  /** Holds `#stats` [rows, 2], then `#logprobs` [terms]. They share one buffer because each read waits for the GPU. */
  readonly #results: View;
  readonly #stats: View;
  readonly #logprobs: View;
  readonly #top = new Map<number, { partial: View; top: View }>();
  /** Rows of a chunk: a multiple of 64, so that each chunk of a per-row tensor begins at an aligned offset. */
  readonly #chunk: number;
  /** Floats from one row of logits to the next. */
  readonly #stride: number;

  constructor(
    readonly gpu: Gpu,
    readonly config: ModelConfig,
    /** Maximum number of rows in a micro-batch. */
    readonly capacity: number,
    readonly counts: View,
  ) {
    const { hidden_size: hidden, vocab_size: vocab } = config;
    const tensor = (label: string, width: number): View => gpu.buffer(label, capacity * width * 4);
    this.#inputs = {
      rowTokens: tensor('loss rows', 1),
      firstTerms: gpu.buffer('first terms', (capacity + 1) * 4),
      targets: tensor('targets', TERMS_PER_TOKEN),
      inputs: tensor('loss inputs', 4 * TERMS_PER_TOKEN),
      settings: gpu.uniform('loss settings', new Uint32Array(LOSS_SETTINGS_BYTES / 4)),
    };
    this.#stride = Math.ceil(vocab / 4) * 4;
    this.#chunk = Math.min(capacity, Math.max(64, Math.floor(LOGITS_BYTES / (this.#stride * 4 * 64)) * 64));
    this.#gathered = tensor('loss rows hidden', hidden);
    this.#normed = tensor('loss rows normed', hidden);
    this.#rstd = tensor('loss rows rstd', 1);
    this.#logits = gpu.buffer('logits', this.#chunk * this.#stride * 4);
    this.#partial = gpu.buffer('row statistics parts', statisticsPartialBytes(this.#chunk, vocab));
    const bytes = nnPartialBytes(gpu.tuning.matmul, this.#chunk, hidden);
    this.#normedPartial = bytes > 0 ? gpu.buffer('head gradient parts', bytes) : undefined;
    this.#results = tensor('row statistics', 2 + TERMS_PER_TOKEN);
    this.#stats = subview(this.#results, 0, capacity * 8);
    this.#logprobs = subview(this.#results, capacity * 8, capacity * TERMS_PER_TOKEN * 4);
  }

  upload(batch: MicroBatch, temperature: number, loss?: TokenLoss): void {
    const { gpu } = this;
    gpu.write(this.#inputs.rowTokens, batch.rowTokens);
    gpu.write(this.#inputs.firstTerms, batch.firstTerms);
    gpu.write(this.#inputs.targets, batch.targets);
    gpu.write(this.#inputs.inputs, batch.inputs);
    gpu.write(this.#inputs.settings, lossSettings(temperature, loss?.settings));
  }

  /** Computes the statistics of all rows of the residual stream `x`, and the `k` likeliest tokens of each row if `k` > 0. */
  forward(weights: WeightViews, x: View, k: number): Dispatch[] {
    return [
      ...this.#gather(weights, x),
      ...this.#chunks((chunk) => [...this.#statistics(weights, chunk), ...(k > 0 ? this.#topTokens(k, chunk) : [])]),
    ];
  }

  /** Computes the statistics, the gradient `d.x` and the weight gradients. */
  forwardBackward(weights: WeightViews, gradients: GradientViews, x: View, d: LmHeadGradients, loss: TokenLoss): Dispatch[] {
    return [
      ...this.#gather(weights, x),
      ...this.#chunks((chunk) => [...this.#statistics(weights, chunk), ...this.#chunkBackward(weights, gradients, d, loss, chunk)]),
      ...this.#gatherBackward(weights, gradients, d),
    ];
  }

  /** The log-probability of each term and the entropy of each row of the last run. */
  async statistics(): Promise<{ logprobs: Float32Array; entropies: Float32Array }> {
    // Always reads all rows and terms, so that every read needs a staging buffer of the same size.
    const results = new Float32Array(await this.gpu.read(this.#results));
    return {
      logprobs: results.subarray(2 * this.capacity),
      entropies: Float32Array.from({ length: this.capacity }, (_, row) => results[2 * row + 1]!),
    };
  }

  /** The `k` likeliest tokens of the first `rows` rows of the last run. The run's program must be built for the same `k`. */
  async likeliest(rows: number, k: number): Promise<Omit<TopTokens, 'k'>> {
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
        top: this.gpu.buffer('top tokens', this.capacity * topBytes(k)),
      };
      this.#top.set(k, buffers);
    }
    return buffers;
  }

  #gather(weights: WeightViews, x: View): Dispatch[] {
    const { gpu, counts } = this;
    const { hidden_size: width, rms_norm_eps: eps } = this.config;
    const rows = { of: 'rows' } as const;
    return [
      ...gatherRows(gpu, { x, index: this.#inputs.rowTokens, out: this.#gathered, counts }, { rows, width }),
      ...rmsnorm(gpu, { x: this.#gathered, weight: weights.norm, y: this.#normed, rstd: this.#rstd, counts }, { rows, width, eps }),
    ];
  }

  #gatherBackward(weights: WeightViews, gradients: GradientViews, d: LmHeadGradients): Dispatch[] {
    const { gpu, counts } = this;
    const width = this.config.hidden_size;
    const rows = { of: 'rows' } as const;
    const norm = { x: this.#gathered, weight: weights.norm, rstd: this.#rstd, dy: d.normed, dx: d.gathered, dweight: gradients.norm };
    return [
      ...rmsnormBackward(gpu, { ...norm, partial: d.partial, counts }, { rows, width }),
      ...zero(gpu, { y: d.x, counts }, { rows: { of: 'tokens' }, width }),
      ...scatterAddRows(gpu, { dout: d.gathered, index: this.#inputs.rowTokens, dx: d.x, counts }, { rows, width }),
    ];
  }

  #chunks(build: (chunk: Chunk) => Dispatch[]): Dispatch[] {
    const program: Dispatch[] = [];
    for (let base = 0; base < this.capacity; base += this.#chunk) program.push(...build({ of: 'rows', base, max: this.#chunk }));
    return program;
  }

  /** The rows of a chunk in a tensor [rows, hidden]. */
  #rowsOf(view: View, { base, max }: Chunk): View {
    const bytes = this.config.hidden_size * 4;
    return subview(view, base * bytes, Math.min(max, this.capacity - base) * bytes);
  }

  #statistics(weights: WeightViews, rows: Chunk): Dispatch[] {
    const { gpu, counts } = this;
    const { vocab_size: vocab, hidden_size: hidden } = this.config;
    const { firstTerms, targets, settings } = this.#inputs;
    const [logits, partial, stats, logprobs] = [this.#logits, this.#partial, this.#stats, this.#logprobs];
    return [
      ...product(
        gpu,
        { a: this.#rowsOf(this.#normed, rows), b: weights.head, c: logits, counts },
        { form: 'nt', rows, n: vocab, k: hidden, ldc: this.#stride },
      ),
      ...rowStatistics(gpu, { logits, firstTerms, targets, settings, partial, stats, logprobs, counts }, { rows, vocab }),
    ];
  }

  #topTokens(k: number, rows: Chunk): Dispatch[] {
    const { counts } = this;
    const tensors = { logits: this.#logits, stats: this.#stats, settings: this.#inputs.settings, counts, ...this.#topBuffers(k) };
    return topTokens(this.gpu, tensors, { rows, vocab: this.config.vocab_size, k });
  }

  #chunkBackward(weights: WeightViews, gradients: GradientViews, d: LmHeadGradients, loss: TokenLoss, rows: Chunk): Dispatch[] {
    const { gpu, counts } = this;
    const { firstTerms, targets, settings, inputs } = this.#inputs;
    const { vocab_size: vocab, hidden_size: hidden } = this.config;
    const [logits, stats, logprobs, lda] = [this.#logits, this.#stats, this.#logprobs, this.#stride];
    return [
      ...rowLossGradient(gpu, { logits, firstTerms, targets, settings, stats, logprobs, inputs, counts }, { rows, vocab, wgsl: loss.wgsl }),
      ...product(
        gpu,
        { a: logits, b: weights.head, c: this.#rowsOf(d.normed, rows), counts, partial: this.#normedPartial },
        { form: 'nn', rows, n: hidden, k: vocab, lda },
      ),
      ...(gradients.head
        ? product(
            gpu,
            { a: logits, b: this.#rowsOf(this.#normed, rows), c: gradients.head, counts, partial: d.partial },
            { form: 'tn', rows, n: vocab, k: hidden, lda, accumulate: true },
          )
        : []),
    ];
  }
}
