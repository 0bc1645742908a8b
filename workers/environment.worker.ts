/** @file The environment worker: owns the tool database, runs tools, verifies outcomes. */
import * as comlink from 'comlink';
import { createEnvironments, type OverlayEnvironments } from '../src/environments/index.ts';
import { benchmarkJudge } from '../src/evaluation/benchmark-judge.ts';
import { benchmarkLoader } from '../src/storage/benchmark-loader.ts';

const environments = createEnvironments({ benchmarks: { load: benchmarkLoader(), judge: benchmarkJudge } });
environments.deleteAbandoned().catch(() => {}); // where the database fails, the first call will say so

/** `connect` answers the same calls on another port, so that the trainer worker need not go through the page. */
const api: Pick<OverlayEnvironments, keyof OverlayEnvironments> & { connect(port: MessagePort): void } = Object.assign(environments, {
  connect: (port: MessagePort) => comlink.expose(environments, port),
});

export type EnvironmentWorker = typeof api;

comlink.expose(api);
