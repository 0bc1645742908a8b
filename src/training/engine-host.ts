/** @file Owns the GPU and one engine at a time: two models are never in GPU memory at once. */
import type { Stage } from '../agent/rollouts.ts';
import { loadTokenizer } from '../agent/tokenizer.ts';
import { createEngine } from '../engine/engine.ts';
import { Gpu, GpuUnavailableError } from '../engine/gpu.ts';
import { selfTest } from '../engine/self-test.ts';
import type { Engine } from '../engine/types.ts';
import type { Environments } from '../environments/types.ts';
import { loadModel } from '../exchange/model-folder.ts';
import type { RunDatabase } from '../storage/database.ts';
import type { UserConfig, UserSimulator } from '../users/types.ts';
import type { ModelFiles } from './api.ts';
import type { EngineInfo, GrpoConfig } from './types.ts';

/** Where a session finds the rest of the product; workers and tests wire it differently. */
export interface SessionParts {
  gpu?: GPU;
  environments: Environments;
  users: (config: UserConfig) => Promise<UserSimulator>;
  /** Files of a bundled model, or of one in storage by its id. */
  bundledModel: (name: string) => Promise<ModelFiles>;
  database: () => RunDatabase;
}

export class DeviceLostError extends Error {
  override name = 'DeviceLostError';
}

export class EngineHost {
  readonly #parts: SessionParts;
  #gpu: Promise<Gpu> | null = null;
  #info: EngineInfo | null = null;
  #engine: Engine | null = null;
  /** Told when the device is lost while in use. */
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
      // Of a device that failed its self-test more is known than that it cannot be had.
      if (this.#info) return this.#info;
      if (!(error instanceof GpuUnavailableError)) throw error;
      return { state: 'unavailable', message: error.message, vendor: '', architecture: '', description: '', software: false, subgroupSize: 0, selfTest: 'not run' };
    }
  }

  device(): Promise<Gpu> {
    this.#gpu ??= (async () => {
      const gpu = await Gpu.create(this.#parts.gpu);
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

  #deviceLost(reason: string, message: string): void {
    this.#gpu = null;
    this.#engine = null;
    if (reason === 'destroyed') return;
    if (this.#info) this.#info = { ...this.#info, state: 'lost', message };
    this.onLost(new DeviceLostError(message));
  }

  /** The engine in hand; whoever opened one compares, as others may have opened theirs since. */
  get engine(): Engine | null {
    return this.#engine;
  }

  close(): void {
    this.#engine?.destroy();
    this.#engine = null;
  }

  /** Replaces the engine in hand. */
  async open(files: ModelFiles, size: { maxModelLen: number; slots?: number }): Promise<Engine> {
    const { config, weights } = loadModel(files);
    this.close();
    const engine = await createEngine(await this.device(), config, weights, size);
    this.#engine = engine;
    return engine;
  }

  /** An engine with everything that episodes need around it. */
  async stage(files: ModelFiles, place: { domain: string; level: string }, user: UserConfig, size: { maxModelLen: number; slots?: number }): Promise<{ engine: Engine; stage: Stage }> {
    const engine = await this.open(files, size);
    const { environments } = this.#parts;
    const [domain, users] = await Promise.all([environments.domain(place.domain, place.level), this.#parts.users(user)]);
    return { engine, stage: { domain, environments, users, sampler: engine.sampler, tokenizer: loadTokenizer(files) } };
  }
}

/** Episodes played at once: every slot of the KV cache. */
export function concurrency(config: GrpoConfig): number {
  return Math.min(64, Math.max(config.train_batch_size * config.n, 32));
}
