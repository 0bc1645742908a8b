/** @file Owns the GPU and at most one engine, so that GPU memory never holds two models. */
import type { EngineInfo } from './messages.ts';
import type { Stage } from '../agent/rollouts.ts';
import { loadTokenizer } from '../agent/tokenizer.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { tunedTiles } from '../engine/autotune.ts';
import { createEngine } from '../engine/engine.ts';
import { Gpu, GpuUnavailableError } from '../engine/gpu.ts';
import type { KvFormat } from '../engine/kernels/kv-format.ts';
import { roundedSource } from '../engine/load-tensors.ts';
import { selfTest } from '../engine/self-test.ts';
import { withTiles } from '../engine/tuning.ts';
import type { Engine } from '../engine/types.ts';
import { hasAdapter, loraOptions, readAdapter } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts, openModel } from '../exchange/model-folder.ts';
import type { Precision } from '../records/model.ts';
import type { GrpoConfig } from '../records/run.ts';
import { storedTiles } from '../storage/tiles.ts';
import { MeteredUsers } from '../users/account.ts';
import type { UserSimulator } from '../users/types.ts';
import type { UserConfig } from '../records/user.ts';
import type { SessionParts } from './session-parts.ts';

/** How long to wait for a device after a loss: Chromium gives a page no GPU for two minutes after its second loss. */
const RESTART_MS = 150_000;
const RETRY_MS = 500;

/** How an engine holds a model. */
export interface StoredAs {
  /** The format of matrices. Default f32. */
  precision?: Precision;
  /** All weights are trained, or with an adapter only the adapter: without one, weights of another precision are rounded and held in f32. */
  trainable?: boolean;
  /** The format of the KV cache. Default f32. */
  kv_cache_dtype?: GrpoConfig['kv_cache_dtype'];
}

/** What an engine is opened for. */
export interface EngineSize {
  maxModelLen: number;
  slots?: number;
  /** Tokens in the KV cache. Default: all slots can be full. */
  kvTokens?: number;
}

export class DeviceLostError extends Error {
  override name = 'DeviceLostError';
}

/** Aborts `abort` when the device of `host` is lost, until the returned function is called. */
export function abortOnLoss(host: Pick<EngineHost, 'onLost'>, abort: AbortController): () => void {
  const before = host.onLost;
  host.onLost = (error) => {
    before(error);
    abort.abort(error);
  };
  return () => (host.onLost = before);
}

export class EngineHost {
  readonly #parts: SessionParts;
  #gpu: Promise<Gpu> | null = null;
  #info: EngineInfo | null = null;
  #engine: Engine | null = null;
  /** Formats that passed the self-test, and those that passed it with adapters. */
  readonly #checked = new WeakMap<Gpu, Set<string>>();
  /** Called when the device is lost while the session uses it. */
  onLost: (error: DeviceLostError) => void = () => {};

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  async info(): Promise<EngineInfo> {
    if (this.#info) return this.#info;
    try {
      const { info } = await this.device();
      return this.#info ?? { state: 'ready', ...info, selfTest: 'not run' };
    } catch (error) {
      // If the self-test failed, #info holds the result of the self-test.
      if (this.#info) return this.#info;
      if (!(error instanceof GpuUnavailableError)) throw error;
      return {
        state: 'unavailable',
        message: error.message,
        vendor: '',
        architecture: '',
        description: '',
        software: false,
        subgroupSize: 0,
        selfTest: 'not run',
      };
    }
  }

  device(): Promise<Gpu> {
    this.#gpu ??= (async () => {
      const gpu = await this.#create();
      // The tiles of software adapters were chosen by hand (tuning.ts), and compiling others takes seconds there.
      if (!gpu.info.software) gpu.tuning = withTiles(gpu.tuning, await tunedTiles(gpu, storedTiles));
      const failure = await selfTest(gpu);
      this.#info = { state: 'ready', ...gpu.info, selfTest: failure ? 'failed' : 'passed', message: failure ?? undefined };
      if (failure) {
        gpu.destroy();
        throw new Error(`this GPU computes wrong results: ${failure}`);
      }
      void gpu.device.lost.then(({ reason, message }) => this.#deviceLost(reason, message));
      return gpu;
    })();
    this.#gpu.catch(() => (this.#gpu = null));
    return this.#gpu;
  }

  async #create(): Promise<Gpu> {
    const deadline = this.#info?.state === 'lost' ? performance.now() + RESTART_MS : 0;
    for (;;) {
      try {
        return await Gpu.create(this.#parts.gpu);
      } catch (error) {
        if (!(error instanceof GpuUnavailableError) || performance.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #deviceLost(reason: string, message: string): void {
    this.#gpu = null;
    this.#engine = null;
    if (reason === 'destroyed') return;
    if (this.#info) this.#info = { ...this.#info, state: 'lost', message };
    this.onLost(new DeviceLostError(message));
  }

  /** The open engine. A caller of `open` compares it with its own engine, because another caller may have replaced that. */
  get engine(): Engine | null {
    return this.#engine;
  }

  close(): void {
    this.#engine?.destroy();
    this.#engine = null;
  }

  /** Closes the open engine and opens another engine, with LoRA if the files hold an adapter. */
  async open(
    files: ModelParts,
    size: EngineSize,
    { precision = 'f32', trainable = false, kv_cache_dtype: dtype = 'f32' }: StoredAs = {},
  ): Promise<Engine> {
    const { config, source } = await openModel(files);
    const lora = hasAdapter(files) ? readAdapter(inMemory(files)) : undefined;
    this.close();
    const rounded = trainable && !lora && precision !== 'f32';
    const gpu = await this.device();
    await this.#checkFormat(gpu, precision, lora !== undefined);
    const engine = await createEngine(gpu, config, rounded ? roundedSource(source, precision) : source, {
      ...size,
      precision: rounded ? 'f32' : precision,
      kvFormat: kvFormat(dtype, precision),
      ...(lora && { lora: loraOptions(lora.config), adapters: lora.tensors }),
    });
    this.#engine = engine;
    return engine;
  }

  /** The self-test of a format, with adapters or without, at its first use. @throws Error if the GPU computes wrong results */
  async #checkFormat(gpu: Gpu, format: Precision, adapter: boolean): Promise<void> {
    const use = `${format}${adapter ? ' lora' : ''}`;
    if (use === 'f32' || this.#checked.get(gpu)?.has(use)) return;
    const failure = await selfTest(gpu, { format, adapter });
    if (failure) throw new Error(`this GPU computes wrong results: ${failure}`);
    this.#checked.set(gpu, new Set(this.#checked.get(gpu)).add(use));
  }

  /** Simulated customers. @throws UserError if they cannot play */
  users(config: UserConfig): Promise<UserSimulator> {
    return this.#parts.users(config);
  }

  /** Opens an engine, and all else that episodes need. */
  async stage(
    files: ModelParts,
    place: Pick<GrpoConfig, 'domain' | 'level' | 'conversation_rules'>,
    user: UserConfig,
    size: EngineSize,
    storedAs?: StoredAs,
  ): Promise<{ engine: Engine; stage: Stage; meter?: MeteredUsers }> {
    const engine = await this.open(files, size, storedAs);
    const { environments } = this.#parts;
    const [domain, customers] = await Promise.all([environments.domain(place.domain, place.level), this.#parts.users(user)]);
    const meter = user.mode === 'scripted' ? undefined : new MeteredUsers(customers, user.mode === 'endpoint' ? user : {});
    const users = meter ?? customers;
    const rules = rulesFor(domain, place.conversation_rules);
    return {
      engine,
      ...(meter && { meter }),
      stage: { domain, environments, users, sampler: engine.sampler, tokenizer: loadTokenizer(inMemory(files)), rules },
    };
  }
}

/** `auto` is f16, or f32 if the weights are f32. */
export const kvFormat = (dtype: GrpoConfig['kv_cache_dtype'], precision: Precision): KvFormat =>
  dtype !== 'auto' ? dtype : precision === 'f32' ? 'f32' : 'f16';

/** What the episodes of a run need of an engine. */
export const sizeOf = ({ max_model_len: maxModelLen, kv_cache_tokens: kvTokens }: GrpoConfig, slots: number): EngineSize => ({
  maxModelLen,
  slots,
  ...(kvTokens > 0 && { kvTokens }),
});

/** The number of episodes that are played at once. Each episode uses one slot of the KV cache. */
export function concurrency(config: GrpoConfig): number {
  return Math.min(64, Math.max(config.train_batch_size * config.n, 32));
}
