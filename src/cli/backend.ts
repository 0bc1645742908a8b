/** @file Where the work of a command runs: in headless Chromium, or in Node on Dawn. */
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Flag } from './args.ts';
import { UsageError } from './errors.ts';
import type { Backend } from './backend-job.ts';

const BACKENDS = ['browser', 'node'] as const;
export type BackendName = (typeof BACKENDS)[number];

export const ON = {
  type: 'string',
  value: 'BACKEND',
  help: 'where it runs: browser (headless Chromium) or node (Dawn; default where there is no GPU, but lavapipe); MUA_ON sets the default',
  choices: BACKENDS,
} as const satisfies Flag;

/** The backend that the flag names, else the one that suits this computer. A choice other than the browser is told. */
export async function backendOf(on: BackendName | undefined, note: (text: string) => void): Promise<Backend> {
  if ((await chosen(on ?? askedByEnvironment(), note)) === 'browser') return (await import('./page.ts')).workInPage;
  // The database looks for IndexedDB when its module is loaded.
  await import('../trainer/node/indexed-db.ts');
  return (await import('./node-work.ts')).workInNode;
}

async function chosen(asked: BackendName | undefined, note: (text: string) => void): Promise<BackendName> {
  if (asked === 'browser' || hasGpu()) return asked ?? 'browser';
  const driver = cpuDriver();
  if (driver) useDriver(driver);
  if (asked === 'node' || !driver) return asked ?? 'browser';
  const problem = await lavapipeProblem();
  note(
    problem === null
      ? 'mua: there is no GPU, but lavapipe: running in Node on it (--on browser uses Chromium)'
      : `mua: lavapipe cannot be used (${problem}): running in the browser`,
  );
  return problem === null ? 'node' : 'browser';
}

function askedByEnvironment(): BackendName | undefined {
  const { MUA_ON: value } = process.env;
  const known = BACKENDS.find((name) => name === value);
  if (value && !known) throw new UsageError(`MUA_ON is "${value}": expected ${BACKENDS.join(' or ')}`);
  return known;
}

/** Whether the system has a device of a GPU. Only Linux has containers and servers without one. */
function hasGpu(): boolean {
  if (process.platform !== 'linux') return true;
  const names = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const isNvidia = (name: string) => /^nvidia\d+$/.test(name);
  const isRender = (name: string) => name.startsWith('renderD');
  return names('/dev/dri').some(isRender) || names('/dev').some((name) => isNvidia(name) || name === 'kfd' || name === 'dxg');
}

const DRIVER_FOLDERS = ['/usr/share/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/etc/vulkan/icd.d'];

/** The file by which Vulkan finds lavapipe, Mesa's driver for CPUs. A driver that the visitor chose is kept. */
function cpuDriver(): string | undefined {
  const chosen = process.env.VK_DRIVER_FILES ?? process.env.VK_ICD_FILENAMES;
  if (chosen) return chosen;
  const files = DRIVER_FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  );
  return files.find((path) => /lvp_icd[^/]*\.json$/.test(path));
}

/** Lavapipe has at most so many threads. */
const MOST_THREADS = 32;

/** Vulkan reads these when it starts. */
function useDriver(driver: string): void {
  process.env.VK_ICD_FILENAMES = driver;
  // With one thread a core, lavapipe leaves cores idle: see docs/results/speed.md.
  process.env.LP_NUM_THREADS ??= String(Math.min(MOST_THREADS, 4 * availableParallelism()));
}

const OLDEST_MESA = 24;

/** Why lavapipe cannot be used; null if it can. */
async function lavapipeProblem(): Promise<string | null> {
  try {
    const { dawn } = await import('../trainer/node/dawn.ts');
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
