/**
 * The trainer session in one Node process without workers: WebGPU from Dawn, IndexedDB from fake-indexeddb.
 * For machines with a GPU and no browser. The page and `mua` run the same session in a worker.
 */
import type { ModelFiles } from '../../src/records/model.ts';
import 'fake-indexeddb/auto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEnvironments } from '../../src/environments/index.ts';
import { RunDatabase } from '../../src/storage/database.ts';
import { TrainerSession } from '../../src/trainer/session.ts';
import { createUsers } from '../../src/users/index.ts';
import { dawn } from './dawn.ts';
import { GENERATED_DOMAINS, customerScripts } from '../../src/domains/registry.ts';

export async function readModel(directory: string): Promise<ModelFiles> {
  const names = (await readdir(directory)).filter((name) => /\.(json|safetensors)$/.test(name));
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(directory, name)))] as const)),
  );
}

export function nodeSession(): TrainerSession {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS });
  const database = new RunDatabase();
  return new TrainerSession({
    gpu: dawn(),
    environments,
    users: async (config) => createUsers(config, customerScripts),
    bundledModel: (name) => readModel(join('models', name)),
    database: () => database,
  });
}
