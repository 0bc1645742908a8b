/** @file The environment worker. It owns the database of the worlds, runs tools and verifies outcomes. */
import * as comlink from 'comlink';
import { GENERATED_DOMAINS } from '../src/domains/registry.ts';
import { createEnvironments, type OverlayEnvironments } from '../src/environments/index.ts';
import { importedDomains } from '../src/benchmarks/imported-domain.ts';
import { benchmarkLoader } from '../src/benchmarks/import/loader.ts';
import { OwnScenarios } from '../src/storage/own-scenarios.ts';

const own = new OwnScenarios();
const environments = createEnvironments({
  domains: [...GENERATED_DOMAINS, ...importedDomains(benchmarkLoader())],
  find: (name) => own.find(name),
});
environments.deleteAbandoned().catch(() => {}); // if the database fails, the first call of a method reports the error

/** `connect` exposes the same object on another port, so that the trainer worker can call this worker directly. */
const api: Pick<OverlayEnvironments, keyof OverlayEnvironments> & { connect(port: MessagePort): void; ping(): void } = Object.assign(
  environments,
  {
    ping() {},
    connect: (port: MessagePort) => comlink.expose(environments, port),
  },
);

export type EnvironmentWorker = typeof api;

comlink.expose(api);
