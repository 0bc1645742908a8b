/**
 * The GPU side of scoring and training. A program takes one micro-batch of packed tokens forward through all layers and the LM head,
 * and in training also backward. Each program is built once. Before a run, only the batch is uploaded.
 */
import type { Dispatch, Gpu, View } from './gpu.ts';
import { LmHead } from './lm-head.ts';
import { attention } from './kernels/attention.ts';
import { type KvFormat, kvRound } from './kernels/kv-format.ts';
import { biasPartialBytes } from './kernels/bias.ts';
import { bucketWords, embedding, embeddingBuckets, embeddingGradient } from './kernels/embedding.ts';
import { tnPartialBytes } from './kernels/matmul.ts';
import { qkPartialBytes } from './kernels/qk-norm-rope-backward.ts';
import { rmsnormPartialBytes } from './kernels/rmsnorm.ts';
import {
  type ActivationGradients,
  type Activations,
  activationWidths,
  attentionSizes,
  layerBackward,
  type LayerContext,
  layerForward,
  type Residual,
  widths,
} from './layer.ts';
import type { MicroBatch } from './packing.ts';
import type { GradientViews, WeightViews } from './model-views.ts';
import type { RunBounds } from './token-ranges.ts';
import type { TrainingSizes } from './training-sizes.ts';
import type { ModelConfig, TokenLoss, TopTokens } from './types.ts';

/** Buffers that only training needs. */
interface TrainingBuffers {
  /** The activations of each layer. The first `sharing` layers share one set. */
  activations: Activations[];
  residuals: Required<Residual>[];
  d: ActivationGradients & { headNormed: View; gathered: View; buckets: View };
}

export class TrainingProgram {
  readonly #context: LayerContext;
  readonly #inputs: { tokens: View; ends: View };
  /** Activations of the first `sharing` layers in training, and of every layer in scoring. */
  readonly #activations: Activations;
  /** [tokens, hidden], the residual stream in scoring. */
  readonly #stream: View;
  readonly #head: LmHead;
  /** Scoring programs: weights → number of likeliest tokens → program. */
  readonly #scoring = new Map<WeightViews, Map<number, Dispatch[]>>();
  /** Training programs: WGSL of the loss → program. */
  readonly #training = new Map<string, Dispatch[]>();
  #buffers: TrainingBuffers | undefined;

  constructor(
    readonly gpu: Gpu,
    readonly config: ModelConfig,
    rope: View,
    /** Keys and values are rounded to `kvFormat`, as in the KV cache. `longest`: tokens of the longest sequence of the sampler. */
    readonly sizes: TrainingSizes & { longest: number; kvFormat: KvFormat },
    /** Width of LoRA's `down` in floats per token: the maximum over all adapters. 0 without LoRA. */
    loraWidth: number,
  ) {
    const counts = gpu.uniform('counts', [0, 0, 0, 0]);
    this.#inputs = { tokens: this.#tensor('tokens', 1), ends: this.#tensor('ends', 1) };
    this.#context = { gpu, config, tokens: { of: 'tokens' }, counts, positions: this.#tensor('positions', 1), rope };
    if (loraWidth > 0) this.#context.lora = { down: this.#tensor('lora down', loraWidth), ddown: this.#tensor('d lora down', loraWidth) };
    this.#activations = this.#makeActivations('0');
    this.#stream = this.#tensor('residual stream', config.hidden_size);
    this.#head = new LmHead(gpu, config, sizes.capacity, counts);
  }

  /** Makes a tensor [tokens, width] of 4-byte values. */
  #tensor(label: string, width: number): View {
    return this.gpu.buffer(label, this.sizes.capacity * width * 4);
  }

  #makeActivations(label: string): Activations {
    return Object.fromEntries(
      Object.entries(activationWidths(this.config)).map(([name, width]) => [name, this.#tensor(`${name} ${label}`, width)]),
    ) as unknown as Activations;
  }

  /** Returns the forward program. With `k` > 0 it also finds the k likeliest tokens of each row. */
  scoring(weights: WeightViews, k = 0): Dispatch[] {
    const programs = this.#scoring.get(weights) ?? new Map<number, Dispatch[]>();
    this.#scoring.set(weights, programs);
    let program = programs.get(k);
    if (!program) {
      const x = this.#stream;
      program = [
        ...this.#embed(weights, x),
        ...weights.layers.flatMap((layer) => this.#layer(layer, this.#activations, { in: x, mid: x, out: x })),
        ...this.#head.forward(weights, x, k),
      ];
      programs.set(k, program);
    }
    return program;
  }

  /** Returns the program that runs forward and backward, and adds to `gradients`. */
  training(weights: WeightViews, gradients: GradientViews, loss: TokenLoss): Dispatch[] {
    let program = this.#training.get(loss.wgsl);
    if (!program) {
      const { activations, residuals, d } = (this.#buffers ??= this.#makeBuffers());
      const last = residuals.at(-1)!.out;
      const backward = weights.layers.map((layer, i) => {
        const [a, x] = [activations[i]!, residuals[i]!];
        const again = i + 1 < this.sizes.sharing ? this.#layer(layer, a, { in: x.in, mid: x.mid }) : [];
        return [...again, ...layerBackward(this.#context, this.#attention, layer, gradients.layers[i]!, a, x, d)];
      });
      program = [
        ...this.#embed(weights, residuals[0]!.in),
        ...weights.layers.flatMap((layer, i) => this.#layer(layer, activations[i]!, residuals[i]!)),
        ...this.#head.forwardBackward(weights, gradients, last, { ...d, normed: d.headNormed }, loss),
        ...backward.reverse().flat(),
        ...(gradients.embed
          ? embeddingGradient(
              this.gpu,
              { dx: d.x, buckets: d.buckets, dtable: gradients.embed, counts: this.#context.counts },
              { rows: { of: 'tokens' }, width: this.config.hidden_size, capacity: this.sizes.capacity },
            )
          : []),
      ];
      this.#training.set(loss.wgsl, program);
    }
    return program;
  }

  #makeBuffers(): TrainingBuffers {
    const { config, gpu, sizes } = this;
    const { hidden, q, kv, intermediate } = widths(config);
    const layers = Array.from({ length: config.num_hidden_layers }, (_, i) => i);
    const activations = layers.map((i) => (i < sizes.sharing ? this.#activations : this.#makeActivations(String(i))));
    const streams = [...layers, layers.length].map((i) => this.#tensor(`residual stream ${i}`, hidden));
    const mids = layers.map((i) => (i > 0 && i < sizes.sharing ? undefined : this.#tensor(`residual stream ${i} mid`, hidden)));
    const residuals = layers.map((i) => ({ in: streams[i]!, mid: mids[i] ?? mids[0]!, out: streams[i + 1]! }));
    const d = {
      x: this.#tensor('d residual stream', hidden),
      normed: this.#tensor('d normed', hidden),
      act: this.#tensor('d act', intermediate),
      gateUp: this.#tensor('d gateUp', 2 * intermediate),
      attended: this.#tensor('d attended', q),
      delta: this.#tensor('delta', config.num_attention_heads),
      qk: this.#tensor('d qk', q + kv),
      qkv: this.#tensor('d qkv', q + 2 * kv),
      partial: gpu.buffer(
        'partial',
        Math.max(
          rmsnormPartialBytes(hidden),
          qkPartialBytes(config.head_dim),
          biasPartialBytes(q + 2 * kv),
          tnPartialBytes(gpu.tuning.matmul),
        ),
      ),
      headNormed: this.#tensor('d loss rows normed', hidden),
      gathered: this.#tensor('d loss rows hidden', hidden),
      buckets: gpu.buffer('token buckets', bucketWords(sizes.capacity) * 4),
    };
    return { activations, residuals, d };
  }

  /** Uploads a batch. Pass `loss` only before a run of a training program. */
  upload(batch: MicroBatch, temperature: number, loss?: TokenLoss): { tokens: number; rows: number } {
    const { gpu } = this;
    const counts = { tokens: batch.tokens.length, rows: batch.rowTokens.length };
    gpu.write(this.#context.counts, Uint32Array.of(counts.tokens, counts.rows, 0, 0));
    gpu.write(this.#context.positions, batch.positions);
    gpu.write(this.#inputs.tokens, batch.tokens);
    gpu.write(this.#inputs.ends, batch.ends);
    this.#head.upload(batch, temperature, loss);
    if (loss) gpu.write(this.#buffers!.d.buckets, embeddingBuckets(batch.tokens, this.sizes.capacity));
    return counts;
  }

  /** The log-probability of each term and the entropy of each row of the last run. */
  statistics(): Promise<{ logprobs: Float32Array; entropies: Float32Array }> {
    return this.#head.statistics();
  }

  /** The `k` likeliest tokens of the first `rows` rows of the last run. The run's program must be built for the same `k`. */
  topTokens(rows: number, k: number): Promise<Omit<TopTokens, 'k'>> {
    return this.#head.likeliest(rows, k);
  }

  #embed(weights: WeightViews, x: View): Dispatch[] {
    const { counts, tokens } = this.#context;
    return embedding(
      this.gpu,
      { table: weights.embed, ids: this.#inputs.tokens, x, counts },
      { rows: tokens, width: this.config.hidden_size },
    );
  }

  get #attention(): { ends: View } & RunBounds {
    const { capacity, longest } = this.sizes;
    return { ends: this.#inputs.ends, capacity, longest };
  }

  #layer(weights: WeightViews['layers'][number], a: Activations, x: Residual): Dispatch[] {
    const { ends, ...bounds } = this.#attention;
    const { counts } = this.#context;
    const { qk, qkv, attended, lse } = a;
    const sizes = attentionSizes(this.#context);
    return layerForward(this.#context, weights, a, x, () => [
      ...kvRound(this.gpu, { qk, qkv, counts }, sizes, this.sizes.kvFormat),
      ...attention(this.gpu, { qk, qkv, ends, out: attended, lse, counts }, { ...sizes, ...bounds }),
    ]);
  }
}
