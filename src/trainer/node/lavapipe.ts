/** @file Lavapipe, Mesa's Vulkan driver for CPUs. Dawn runs WGSL on it without a GPU. */
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const DRIVER_FOLDERS = ['/usr/share/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/etc/vulkan/icd.d'];

/** The configuration file with which Vulkan finds lavapipe. If the environment already names a driver, that one is used. */
export function lavapipeDriver(): string | undefined {
  const chosen = process.env.VK_DRIVER_FILES ?? process.env.VK_ICD_FILENAMES;
  if (chosen) return chosen;
  const files = DRIVER_FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  );
  return files.find((path) => /lvp_icd[^/]*\.json$/.test(path));
}

/** The largest number of threads that lavapipe can use. */
const MOST_THREADS = 32;

/** Sets the environment variables that Vulkan and lavapipe read when they start. Returns false if lavapipe is not installed. */
export function prepareLavapipe(): boolean {
  const driver = lavapipeDriver();
  if (!driver) return false;
  process.env.VK_ICD_FILENAMES = driver;
  // With one thread for each core, lavapipe leaves cores idle: see docs/results/speed.md.
  process.env.LP_NUM_THREADS ??= String(Math.min(MOST_THREADS, 4 * availableParallelism()));
  return true;
}

const OLDEST_MESA = 24;

/** The reason why lavapipe cannot be used. Null if it can be used. Call `prepareLavapipe` first. */
export async function lavapipeProblem(): Promise<string | null> {
  try {
    const { dawn } = await import('./dawn.ts');
    const adapter = await dawn().requestAdapter();
    if (!adapter) return 'Vulkan has no adapter';
    const { description } = adapter.info;
    const version = Number(/Mesa (\d+)/.exec(description)?.[1] ?? NaN);
    if (!description.includes('llvmpipe')) return `the adapter is ${description || 'unknown'}`;
    return version >= OLDEST_MESA
      ? null
      : `it is of ${Number.isNaN(version) ? description : `Mesa ${version}`}: expected Mesa ${OLDEST_MESA} or newer`;
  } catch (error) {
    return (error as Error).message;
  }
}
