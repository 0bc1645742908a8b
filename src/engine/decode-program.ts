/**
 * The GPU side of generation: buffers and programs that extend sequences in the KV cache and sample from them.
 * A prefill run takes packed tokens of many slots, and samples the next token after chosen ones. A decode run takes one token per
 * slot and makes several steps. The tokens that a step samples are the input of the next step, without a round trip to the CPU.
 */
import { type Dispatch, type Gpu, subview, type View } from './gpu.ts';
import { embedding } from './kernels/embedding.ts';
import { gatherRows } from './kernels/gather-rows.ts';
import { kvWrite } from './kernels/kv-cache.ts';
import { KV, type KvFormat } from './kernels/kv-format.ts';
import { pagedAttention, pagedPartBytes } from './kernels/paged-attention.ts';
import { rmsnorm } from './kernels/rmsnorm.ts';
import { SAMPLE_ROW_BYTES, type SampleRow, packSampleRows, sample, sampleScratch } from './kernels/sample.ts';
import { type Activations, activationWidths, attentionSizes, type LayerContext, layerForward } from './layer.ts';
import type { WeightViews } from './model-views.ts';
import type { Counts } from './rows.ts';
import type { ModelConfig } from './types.ts';
import { product } from './work.ts';

export interface DecodeSizes {
  /** Maximum number of sequences in one run. */
  slots: number;
  /** Maximum number of tokens in one prefill run. */
  prefillTokens: number;
  /** Maximum number of steps in one decode run. */
  steps: number;
  pageSize: number;
  pagesPerSlot: number;
  pages: number;
  kvFormat: KvFormat;
}

/** A sampled token and its log-probability. */
export interface Sampled {
  token: number;
  logprob: number;
}

/** Bytes of the keys and values of one layer. */
export const kvBytes = (config: ModelConfig, { pages, pageSize, kvFormat }: DecodeSizes): number =>
  2 * pages * pageSize * config.num_key_value_heads * config.head_dim * KV[kvFormat].bytes;

const RESULT_BYTES = 8;
const LOGITS_BYTES = 128 * 2 ** 20;

/** Inputs of a run, which the CPU writes. */
interface Inputs {
  tokens: View;
  positions: View;
  slotOf: View;
  params: View;
  counts: View;
}

export class DecodeProgram {
  readonly #inputs: { prefill: Inputs; decode: Inputs };
  readonly #pageTable: View;
  /** For each prefill row: the index of its packed token, its position, and the sampled token (which no kernel reads). */
  readonly #rowTokens: View;
  readonly #rowPositions: View;
  readonly #rowSamples: View;
  readonly #results: View;
  /** Samples of all runs since the last `collect`. */
  readonly #collected: View;
  #collectedRows = 0;
  readonly #prefill: Record<'plain' | 'truncated', Dispatch[]>;
  /** One program per step, because each step writes its results to another row of `results`. */
  readonly #decode: Record<'plain' | 'truncated', Dispatch[][]>;

  constructor(
    readonly gpu: Gpu,
    config: ModelConfig,
    weights: WeightViews,
    rope: View,
    readonly sizes: DecodeSizes,
    /** Width of LoRA's `down` in floats per token: the maximum over all adapters. 0 without LoRA. */
    loraWidth: number,
  ) {
    const { slots, prefillTokens, steps, pageSize, pagesPerSlot, kvFormat: format } = sizes;
    const capacity = Math.max(slots, prefillTokens);
    const caches = weights.layers.map((_, layer) => ({
      kCache: gpu.buffer(`k cache ${layer}`, kvBytes(config, sizes) / 2),
      vCache: gpu.buffer(`v cache ${layer}`, kvBytes(config, sizes) / 2),
    }));
    const activations = decodeActivations(config, (label, width) => gpu.buffer(label, capacity * width * 4));
    const lora = loraWidth > 0 ? { down: gpu.buffer('lora down', capacity * loraWidth * 4) } : undefined;
    const x = gpu.buffer('residual stream', capacity * config.hidden_size * 4);
    const hidden = gpu.buffer('last hidden', slots * config.hidden_size * 4);
    const normed = gpu.buffer('last normed', slots * config.hidden_size * 4);
    const rstd = gpu.buffer('last rstd', slots * 4);
    const partBytes = pagedPartBytes(
      gpu.tuning.pagedAttention,
      { heads: config.num_attention_heads, kvHeads: config.num_key_value_heads, headDim: config.head_dim, pageSize, pagesPerSlot },
      slots,
    );
    const attentionParts = partBytes > 0 ? gpu.buffer('attention parts', partBytes) : undefined;
    const stride = Math.ceil(config.vocab_size / 4) * 4;
    const chunk = Math.min(slots, Math.max(64, Math.floor(LOGITS_BYTES / (stride * 4 * 64)) * 64));
    const logits = gpu.buffer('sampler logits', chunk * stride * 4);
    const scratch = sampleScratch(gpu, chunk, config.vocab_size);
    const inputs = (count: number): Inputs => ({
      tokens: gpu.buffer('sampler tokens', count * 4),
      positions: gpu.buffer('sampler positions', count * 4),
      slotOf: gpu.buffer('sampler slots', count * 4),
      params: gpu.buffer('sampling parameters', slots * SAMPLE_ROW_BYTES),
      counts: gpu.uniform('sampler counts', [0, 0, 0, 0]),
    });
    this.#inputs = { prefill: inputs(prefillTokens), decode: inputs(slots) };
    this.#pageTable = gpu.buffer('page table', slots * pagesPerSlot * 4);
    this.#rowTokens = gpu.buffer('sampled rows', slots * 4);
    this.#rowPositions = gpu.buffer('sampled positions', slots * 4);
    this.#rowSamples = gpu.buffer('first samples', slots * 4);
    this.#results = gpu.buffer('samples', slots * steps * RESULT_BYTES);
    this.#collected = gpu.buffer('collected samples', slots * (1 + steps) * RESULT_BYTES);

    const trunk = ({ tokens, positions, slotOf, counts }: Inputs, parts?: View): Dispatch[] => {
      const context: LayerContext = { gpu, config, tokens: { of: 'tokens' }, counts, positions, rope, lora };
      return [
        ...embedding(gpu, { table: weights.embed, ids: tokens, x, counts }, { rows: context.tokens, width: config.hidden_size }),
        ...weights.layers.flatMap((layer, i) => {
          const cache = { qk: activations.qk, qkv: activations.qkv, slotOf, positions, pageTable: this.#pageTable, ...caches[i]!, counts };
          const kv = { ...attentionSizes(context), pageSize, pagesPerSlot, format, capacity };
          return layerForward(context, layer, activations, { in: x, mid: x, out: x }, () => [
            ...kvWrite(gpu, cache, kv),
            ...pagedAttention(gpu, { ...cache, out: activations.attended, parts }, kv),
          ]);
        }),
      ];
    };
    const head = (
      { from, counts, positions, tokens, params, most }: { from: View; most: number } & Omit<Inputs, 'slotOf'>,
      step: number,
      truncate: boolean,
    ): Dispatch[] => {
      const program = rmsnorm(
        gpu,
        { x: from, weight: weights.norm, y: normed, rstd, counts },
        { rows: { of: 'rows' }, width: config.hidden_size, eps: config.rms_norm_eps },
      );
      for (let base = 0; base < most; base += chunk) {
        const rows = { of: 'rows', base, max: Math.min(chunk, most - base) } as const;
        const a = subview(normed, base * config.hidden_size * 4, rows.max * config.hidden_size * 4);
        program.push(
          ...product(
            gpu,
            { a, b: weights.head, c: logits, counts },
            { form: 'nt', rows, n: config.vocab_size, k: config.hidden_size, ldc: stride },
          ),
          ...sample(
            gpu,
            { logits, params, positions, tokens, results: this.#results, scratch, counts },
            { rows, vocab: config.vocab_size, stride, step, resultRows: slots, truncate },
          ),
        );
      }
      return program;
    };
    const { prefill, decode } = this.#inputs;
    const prefillTrunk = [
      ...trunk(prefill),
      ...gatherRows(
        gpu,
        { x, index: this.#rowTokens, out: hidden, counts: prefill.counts },
        { rows: { of: 'rows' }, width: config.hidden_size },
      ),
    ];
    const decodeTrunk = trunk(decode, attentionParts);
    const prefillWith = (truncate: boolean): Dispatch[] => [
      ...prefillTrunk,
      ...head({ ...prefill, from: hidden, positions: this.#rowPositions, tokens: this.#rowSamples, most: slots }, 0, truncate),
    ];
    const decodeWith = (truncate: boolean): Dispatch[][] =>
      Array.from({ length: steps }, (_, step) => [...decodeTrunk, ...head({ ...decode, from: x, most: slots }, step, truncate)]);
    this.#prefill = { plain: prefillWith(false), truncated: prefillWith(true) };
    this.#decode = { plain: decodeWith(false), truncated: decodeWith(true) };
  }

  setPages(slot: number, pages: readonly number[]): void {
    this.gpu.write(this.#pageTable, Uint32Array.from(pages), slot * this.sizes.pagesPerSlot * 4);
  }

  /**
   * Computes packed tokens, and samples the next token after some of them.
   * @param rows indices of the packed tokens to sample after, ascending; `collect` returns the samples in this order
   */
  prefill(tokens: { token: number; position: number; slot: number }[], rows: { index: number; params: SampleRow }[]): void {
    const counts = { tokens: tokens.length, rows: rows.length };
    const { prefill } = this.#inputs;
    this.#write(
      prefill,
      tokens,
      rows.map(({ params }) => params),
      counts,
    );
    this.gpu.write(
      this.#rowTokens,
      Uint32Array.from(rows, ({ index }) => index),
    );
    this.gpu.write(
      this.#rowPositions,
      Uint32Array.from(rows, ({ index }) => tokens[index]!.position),
    );
    this.gpu.run(this.#prefill[variant(rows)], counts);
    this.#keep(rows.length, 1);
  }

  /** Runs `steps` decode steps with one row per slot. `collect` returns all samples of the first step, then those of the second, … */
  decode(rows: { token: number; position: number; slot: number; params: SampleRow }[], steps: number): void {
    const longest = Math.max(...rows.map(({ position }) => position)) + steps;
    const counts = { tokens: rows.length, rows: rows.length, longest };
    this.#write(
      this.#inputs.decode,
      rows,
      rows.map(({ params }) => params),
      counts,
    );
    this.gpu.run(this.#decode[variant(rows)].slice(0, steps).flat(), counts);
    this.#keep(rows.length, steps);
  }

  /** Drops the samples of a failed round, which nobody has collected. */
  discard(): void {
    this.#collectedRows = 0;
  }

  /** Returns all samples since the last call, in the order of the runs. */
  async collect(): Promise<Sampled[]> {
    const rows = this.#collectedRows;
    this.#collectedRows = 0;
    if (rows === 0) {
      await this.gpu.done();
      return [];
    }
    // Always reads the whole buffer, so that every read needs a staging buffer of the same size.
    const bytes = await this.gpu.read(this.#collected);
    const [ids, logprobs] = [new Uint32Array(bytes), new Float32Array(bytes)];
    return Array.from({ length: rows }, (_, i) => ({ token: ids[2 * i]!, logprob: logprobs[2 * i + 1]! }));
  }

  #write(inputs: Inputs, tokens: { token: number; position: number; slot: number }[], params: SampleRow[], counts: Counts): void {
    this.gpu.write(
      inputs.tokens,
      Uint32Array.from(tokens, ({ token }) => token),
    );
    this.gpu.write(
      inputs.positions,
      Uint32Array.from(tokens, ({ position }) => position),
    );
    this.gpu.write(
      inputs.slotOf,
      Uint32Array.from(tokens, ({ slot }) => slot),
    );
    this.gpu.write(inputs.params, packSampleRows(params));
    this.gpu.write(inputs.counts, Uint32Array.of(counts.tokens, counts.rows, 0, 0));
  }

  #keep(rows: number, steps: number): void {
    if (rows === 0) return;
    const encoder = this.gpu.device.createCommandEncoder();
    for (let step = 0; step < steps; step++) {
      encoder.copyBufferToBuffer(
        this.#results.buffer,
        step * this.sizes.slots * RESULT_BYTES,
        this.#collected.buffer,
        (this.#collectedRows + step * rows) * RESULT_BYTES,
        rows * RESULT_BYTES,
      );
    }
    this.gpu.device.queue.submit([encoder.finish()]);
    this.#collectedRows += rows * steps;
  }
}

/** The activations of decoding. Without a backward pass, the second half of a layer can reuse the memory of the first half. */
function decodeActivations(config: ModelConfig, tensor: (label: string, width: number) => View): Activations {
  const { normed1, rstd1, qkv, qk, qkRstd, attended, lse, gateUp, act } = activationWidths(config);
  const normed = tensor('normed', normed1);
  const rstd = tensor('rstd', rstd1);
  const [first, second] = [tensor('qkv, gateUp', Math.max(qkv, gateUp)), tensor('qk, act', Math.max(qk, act))];
  return {
    normed1: normed,
    rstd1: rstd,
    qkv: first,
    qk: second,
    qkRstd: tensor('qkRstd', qkRstd),
    attended: tensor('attended', attended),
    lse: tensor('lse', lse),
    normed2: normed,
    rstd2: rstd,
    gateUp: first,
    act: second,
  };
}

const variant = (rows: { params: SampleRow }[]): 'plain' | 'truncated' =>
  rows.some(({ params }) => params.topK > 0 || params.topP < 1) ? 'truncated' : 'plain';
