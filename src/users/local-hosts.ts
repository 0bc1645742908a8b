/** @file The text-generation models in the tab. Customers and agents that use the same model share it. */
import type { Generated, Generation } from '../local/api.ts';
import type { ModelWorker } from '../local/spawn.ts';
import type { LocalConfig } from '../records/user.ts';
import { LocalHost } from './local-host.ts';

export type { Generated, Generation } from '../local/api.ts';

/** Which model runs where. */
export type HostedModel = Pick<LocalConfig, 'source' | 'model' | 'precision' | 'hub' | 'device'>;

export interface LocalModels {
  /** Loads a model, if it is not loaded yet. @throws UserError */
  load(model: HostedModel, signal?: AbortSignal): Promise<void>;
  /** @param timeoutMs the time limit of the message @throws UserError */
  generate(model: HostedModel, request: Generation, signal?: AbortSignal, timeoutMs?: number): Promise<Generated>;
}

/** The most models in memory: that of the agent and that of the customer. */
const MOST_LOADED = 2;

export class LocalHosts implements LocalModels {
  /** The host of each model. The one that was used longest ago is first. */
  readonly #hosts = new Map<string, LocalHost>();

  /** @param spawn starts the worker of a model (default: a worker of this page) */
  constructor(private readonly spawn?: () => ModelWorker) {}

  load(model: HostedModel, signal?: AbortSignal): Promise<void> {
    return this.#host(model).load(signal);
  }

  generate(model: HostedModel, request: Generation, signal?: AbortSignal, timeoutMs?: number): Promise<Generated> {
    return this.#host(model).generate(request, signal, timeoutMs);
  }

  #host({ source, model, precision, hub, device }: HostedModel): LocalHost {
    const config: LocalConfig = { source, model, precision, device, ...(hub !== undefined && { hub }) };
    const key = JSON.stringify(config);
    const host = this.#hosts.get(key) ?? new LocalHost(config, this.spawn);
    this.#hosts.delete(key);
    const others = [...this.#hosts.values()].filter(({ isIdle }) => isIdle);
    for (const other of others.slice(0, Math.max(0, others.length - MOST_LOADED + 1))) other.discard();
    this.#hosts.set(key, host);
    return host;
  }
}
