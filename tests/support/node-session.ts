/**
 * The trainer session inside one Node process: WebGPU from Dawn, IndexedDB from fake-indexeddb, every part in line.
 * For machines with a GPU but no browser; the page and `mua` run the same session in a worker.
 */
import 'fake-indexeddb/auto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEnvironments } from '../../src/environments/index.ts';
import { RunDatabase } from '../../src/storage/database.ts';
import type { ModelFiles } from '../../src/training/api.ts';
import { TrainerSession } from '../../src/training/session.ts';
import { createUsers } from '../../src/users/index.ts';
import { dawn } from './dawn.ts';

export async function readModel(directory: string): Promise<ModelFiles> {
  const names = (await readdir(directory)).filter((name) => /\.(json|safetensors)$/.test(name));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(directory, name)))] as const)));
}

export function nodeSession(): TrainerSession {
  const environments = createEnvironments();
  const database = new RunDatabase();
  return new TrainerSession({
    gpu: dawn(),
    environments,
    users: async (config) => createUsers(config),
    bundledModel: (name) => readModel(join('models', name)),
    database: () => database,
  });
}
