/** Plays an exported decoder through onnxruntime-web, as transformers.js does: a prompt at once or token by token, with the cache. */
import type * as Ort from 'onnxruntime-web';
import type { ModelConfig } from '../../src/records/model.ts';

interface PlayerOptions {
  cacheType?: 'float32' | 'float16';
  provider?: 'wasm' | 'webgpu';
}

export class OnnxPlayer {
  readonly #ort: typeof Ort;
  readonly #cacheType: 'float32' | 'float16';
  readonly #caches: string[];
  #past: Record<string, Ort.Tensor> = {};
  #mask: number[][] = [];

  private constructor(
    ort: typeof Ort,
    readonly session: Ort.InferenceSession,
    readonly config: ModelConfig,
    cacheType: 'float32' | 'float16',
  ) {
    this.#ort = ort;
    this.#cacheType = cacheType;
    this.#caches = Array.from({ length: config.num_hidden_layers }, (_, layer) => [`${layer}.key`, `${layer}.value`]).flat();
    this.reset();
  }

  /** @param ort `onnxruntime-web`, or `onnxruntime-web/webgpu` for the provider `webgpu` */
  static async open(
    ort: typeof Ort,
    file: Uint8Array,
    config: ModelConfig,
    { cacheType = 'float32', provider = 'wasm' }: PlayerOptions = {},
  ): Promise<OnnxPlayer> {
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = 'error';
    return new OnnxPlayer(ort, await ort.InferenceSession.create(file, { executionProviders: [provider] }), config, cacheType);
  }

  /** Begins new sequences. */
  reset(batch = 1): void {
    const { num_key_value_heads, head_dim } = this.config;
    const empty = this.#cacheType === 'float32' ? new Float32Array(0) : new Uint16Array(0);
    this.#past = Object.fromEntries(
      this.#caches.map((name) => [
        `past_key_values.${name}`,
        new this.#ort.Tensor(this.#cacheType, empty, [batch, num_key_value_heads, 0, head_dim]),
      ]),
    );
    this.#mask = Array.from({ length: batch }, () => []);
  }

  /**
   * Appends tokens to every sequence. `mask`: 0 for padding.
   * @returns the logits of every token: [sequence][token][vocabulary]
   */
  async append(tokens: number[][], mask = tokens.map((row) => row.map(() => 1))): Promise<Float32Array[][]> {
    const [batch, length] = [tokens.length, tokens[0]!.length];
    const positions = mask.map((row, i) => {
      let position = this.#mask[i]!.reduce((a, b) => a + b, 0);
      return row.map((present) => (present ? position++ : 0));
    });
    this.#mask = this.#mask.map((row, i) => [...row, ...mask[i]!]);
    const int64 = (values: number[], dims: number[]) => new this.#ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);
    const results = await this.session.run({
      input_ids: int64(tokens.flat(), [batch, length]),
      attention_mask: int64(this.#mask.flat(), [batch, this.#mask[0]!.length]),
      position_ids: int64(positions.flat(), [batch, length]),
      ...this.#past,
    });
    this.#past = Object.fromEntries(this.#caches.map((name) => [`past_key_values.${name}`, results[`present.${name}`]!]));
    const logits = (await results.logits!.getData()) as Float32Array;
    const v = this.config.vocab_size;
    return tokens.map((row, b) => row.map((_, t) => logits.slice((b * length + t) * v, (b * length + t + 1) * v)));
  }

  /** The most likely continuation. Each step feeds one token. */
  async greedy(prompt: number[], steps: number): Promise<number[]> {
    this.reset();
    const tokens: number[] = [];
    let [rows] = await this.append([prompt]);
    while (tokens.length < steps) {
      tokens.push(mostLikely(rows!.at(-1)!));
      if (tokens.length < steps) [rows] = await this.append([[tokens.at(-1)!]]);
    }
    return tokens;
  }
}

/** The token of the largest logit. */
export function mostLikely(logits: ArrayLike<number>): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  return best;
}

/** Log-probability of each token after the first, from the logits before it. */
export function logProbs(logits: readonly ArrayLike<number>[], tokens: readonly number[]): number[] {
  return tokens.slice(1).map((token, t) => {
    const row = Array.from(logits[t]!);
    const max = row.reduce((a, b) => Math.max(a, b));
    return row[token]! - max - Math.log(row.reduce((sum, x) => sum + Math.exp(x - max), 0));
  });
}
