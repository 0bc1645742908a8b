/** @file Owns the GPU and at most one engine, so that two models are never in GPU memory at once. */
import type { EngineInfo } from './messages.ts';
import type { Stage } from '../agent/rollouts.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { Activities, type Activity } from '../base/activities.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { probe, type Speed } from '../bench/rates.ts';
import { tunedTiles } from '../engine/autotune.ts';
import { firstFailure } from '../engine/check.ts';
import { parseConfig } from '../engine/config.ts';
import { createEngine } from '../engine/engine.ts';
import { firstContact, type SelfTestReport, selfTestReport } from '../engine/first-contact.ts';
import { Gpu, GpuUnavailableError } from '../engine/gpu.ts';
import type { KvFormat } from '../engine/kernels/kv-format.ts';
import { countedSource, roundedSource } from '../engine/load-tensors.ts';
import { kernelChecks } from '../engine/self-test.ts';
import { withTiles } from '../engine/tuning.ts';
import type { Engine } from '../engine/types.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { loraOptions, readAdapter } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts, openModel, readJson } from '../exchange/model-folder.ts';
import type { Precision } from '../records/model.ts';
import type { GrpoConfig } from '../records/run.ts';
import { adapterStore } from '../storage/adapter-store.ts';
import { MeteredUsers } from '../users/account.ts';
import type { UserSimulator } from '../users/types.ts';
import type { UserConfig } from '../records/user.ts';
import { version } from '../../package.json';
import type { SessionParts } from './session-parts.ts';

/** How long to wait for a device after a loss. Chromium gives a page no GPU for two minutes after the second loss. */
const RESTART_MS = 150_000;
const RETRY_MS = 500;

/** The formats in which an engine stores a model. */
export interface StoredAs {
  /** The format of the weight matrices. Default: f32. */
  precision?: Precision;
  /**
   * Whether the engine trains. With an adapter, only the adapter is trained. Without one, all weights are trained: they are
   * rounded to `precision`, but stored in f32.
   */
  trainable?: boolean;
  /** The format of the KV cache. Default: f32. */
  kv_cache_dtype?: GrpoConfig['kv_cache_dtype'];
}

/** The sizes for which an engine is opened. */
export interface EngineSize {
  maxModelLen: number;
  slots?: number;
  /** The number of tokens in the KV cache. Default: enough to fill all slots. */
  kvTokens?: number;
}

export class DeviceLostError extends Error {
  override name = 'DeviceLostError';
}

/** From now on, aborts `abort` when the device of `host` is lost. The returned function stops this. */
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
  /** The formats that passed the self-test on a device, without or with adapters. */
  readonly #checked = new WeakMap<Gpu, Set<string>>();
  #probed: Promise<Speed> | null = null;
  /** What the host and its device do now. */
  readonly activities = new Activities();
  #waiting: Activity | null = null;
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
      // If only the self-test failed, its result is already in #info.
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
      const gpu = await this.activities.during('starting the GPU', () => this.#create());
      gpu.activities = this.activities;
      // For software adapters, the tile sizes were chosen by hand (tuning.ts), because compiling other tiles takes seconds on them.
      if (!gpu.info.software) gpu.tuning = withTiles(gpu.tuning, await tunedTiles(gpu, adapterStore));
      const failure = await this.activities.during('checking this GPU', () => firstContact(gpu, { store: adapterStore }));
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

  /** The speeds of the device, if they were measured. */
  get probed(): Promise<Speed> | null {
    return this.#probed;
  }

  /** Measures the speeds of the device, once. Nothing else may use the device meanwhile. */
  speed(): Promise<Speed> {
    this.#probed ??= this.device().then((gpu) => this.activities.during('measuring this GPU', () => probe(gpu, adapterStore)));
    this.#probed.catch(() => (this.#probed = null));
    return this.#probed;
  }

  /** Runs every check of the self-test on a device of its own, also if this device has failed it. @throws GpuUnavailableError */
  async selfTest(): Promise<SelfTestReport> {
    const tuning = await this.device().then(
      (gpu) => gpu.tuning,
      () => undefined,
    );
    const gpu = await Gpu.create(this.#parts.gpu, tuning);
    gpu.activities = this.activities;
    try {
      return await selfTestReport(gpu, version);
    } finally {
      gpu.destroy();
    }
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
    this.#probed = null;
    if (reason === 'destroyed') return;
    if (this.#info) this.#info = { ...this.#info, state: 'lost', message };
    this.onLost(new DeviceLostError(message));
  }

  /**
   * The open engine. A caller of `open` compares this with the engine that it got, because another caller may have opened a
   * different one since.
   */
  get engine(): Engine | null {
    return this.#engine;
  }

  close(): void {
    this.#engine?.destroy();
    this.#engine = null;
  }

  /** Closes the open engine and opens a new one, with LoRA if `files` contains an adapter. */
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
    const engine = await this.activities.during('loading the weights', (activity) => {
      const counted = countedSource(source, (read, all) =>
        activity.now(`loading the weights: ${inMegabytes(read)} of ${inMegabytes(all)} MB`),
      );
      return createEngine(gpu, config, rounded ? roundedSource(counted, precision) : counted, {
        ...size,
        precision: rounded ? 'f32' : precision,
        kvFormat: kvFormat(dtype, precision),
        ...(lora && { lora: loraOptions(lora.config), adapters: lora.tensors }),
      });
    });
    this.#engine = engine;
    return engine;
  }

  /**
   * Runs the self-test of a format, with or without adapters, when the format is used for the first time.
   * @throws Error if the GPU computes wrong results
   */
  async #checkFormat(gpu: Gpu, format: Precision, adapter: boolean): Promise<void> {
    const use = `${format}${adapter ? ' lora' : ''}`;
    if (use === 'f32' || this.#checked.get(gpu)?.has(use)) return;
    const failure = firstFailure(await this.activities.during(`checking ${use} on this GPU`, () => kernelChecks(gpu, { format, adapter })));
    if (failure) throw new Error(`this GPU computes wrong results: ${failure}`);
    this.#checked.set(gpu, new Set(this.#checked.get(gpu)).add(use));
  }

  /** Shows what the customers wait for. '' for nothing. */
  waiting(text: string): void {
    if (text !== '' && this.#waiting) return this.#waiting.now(text);
    this.#waiting?.end();
    this.#waiting = text === '' ? null : this.activities.begin(text);
  }

  /** Makes the simulated customers. @throws UserError if they cannot play */
  users(config: UserConfig): Promise<UserSimulator> {
    return this.#parts.users(config);
  }

  /** Opens an engine, and everything else that episodes need. */
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
      stage: { domain, environments, users, sampler: engine.sampler, tokenizer: await openTokenizer(inMemory(files)), rules },
    };
  }
}

const inMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** The format of the KV cache. `auto` means f16, but f32 if the weights are f32. */
export const kvFormat = (dtype: GrpoConfig['kv_cache_dtype'], precision: Precision): KvFormat =>
  dtype !== 'auto' ? dtype : precision === 'f32' ? 'f32' : 'f16';

/** The engine size that the episodes of a run need. */
export const sizeOf = ({ max_model_len: maxModelLen, kv_cache_tokens: kvTokens }: GrpoConfig, slots: number): EngineSize => ({
  maxModelLen,
  slots,
  ...(kvTokens > 0 && { kvTokens }),
});

/** The number of episodes that are played at once. Each episode uses one slot of the KV cache. */
export function concurrency(config: GrpoConfig): number {
  return Math.min(64, Math.max(config.train_batch_size * config.n, 32));
}

/** The size limit of the KV cache where many conversations are played at once. */
const KV_CACHE_BYTES = 2 ** 30;

/** The number of sequences of `length` tokens whose keys and values fit into KV_CACHE_BYTES. */
export function slotsWithin(model: ModelParts, length: number): number {
  const { num_hidden_layers, num_key_value_heads, head_dim } = parseConfig(readJson(inMemory(model), 'config.json'));
  return Math.max(1, Math.floor(KV_CACHE_BYTES / (length * num_hidden_layers * num_key_value_heads * head_dim * 8)));
}
