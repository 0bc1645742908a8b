/**
 * @file The trainer session in one Node process without workers: WebGPU from Dawn, IndexedDB from fake-indexeddb. The page runs
 * the same session in a worker.
 */
import './indexed-db.ts';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importedDomains } from '../../benchmarks/imported-domain.ts';
import { benchmarkLoader } from '../../benchmarks/import/loader.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../domains/registry.ts';
import { createEnvironments } from '../../environments/index.ts';
import type { ModelFiles } from '../../records/model.ts';
import { RunDatabase } from '../../storage/database.ts';
import { createUsers } from '../../users/index.ts';
import { LocalHosts } from '../../users/local-hosts.ts';
import { serverWaits } from '../../users/waits.ts';
import { TrainerSession } from '../session.ts';

export async function readModel(directory: string): Promise<ModelFiles> {
  const names = (await readdir(directory)).filter((name) => /\.(json|safetensors)$/.test(name));
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(directory, name)))] as const)),
  );
}

/**
 * @param options.gpu Dawn; absent for work without a GPU
 * @param options.models the folder of the bundled models
 * @param options.spawn starts a language model that plays customers or agents. It is a parameter because Node has no runtime for it.
 */
export function nodeSession({
  models = 'models',
  spawn,
  gpu,
}: { models?: string; spawn?: ConstructorParameters<typeof LocalHosts>[0]; gpu?: GPU } = {}): TrainerSession {
  const environments = createEnvironments({ domains: [...GENERATED_DOMAINS, ...importedDomains(benchmarkLoader())] });
  const database = new RunDatabase();
  const tabModels = new LocalHosts(spawn);
  const session = new TrainerSession({
    ...(gpu && { gpu }),
    environments,
    users: async (config) => createUsers(config, customerScripts, tabModels),
    tabModels,
    bundledModel: (name) => readModel(join(models, name)),
    database: () => database,
  });
  serverWaits.listen((text) => session.waiting(text));
  return session;
}
