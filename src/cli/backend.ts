/** @file Chooses where the work of a command runs: in headless Chromium, or in Node on Dawn. */
import { existsSync, readdirSync } from 'node:fs';
import type { Flag } from './args.ts';
import { UsageError } from './errors.ts';
import type { Backend } from './backend-job.ts';
import { lavapipeProblem, prepareLavapipe } from '../trainer/node/lavapipe.ts';

const BACKENDS = ['browser', 'node'] as const;
export type BackendName = (typeof BACKENDS)[number];

export const ON = {
  type: 'string',
  value: 'BACKEND',
  help: 'where to run: browser (headless Chromium) or node (Dawn; the default if the system has lavapipe and no GPU); MUA_ON sets the default',
  choices: BACKENDS,
} as const satisfies Flag;

/**
 * The backend that the flag names, or else the one that suits this computer. If this is not the browser, `note` gets a line
 * that says so.
 */
export async function backendOf(on: BackendName | undefined, note: (text: string) => void): Promise<Backend> {
  const name = await chooseBackend(on ?? askedByEnvironment(), THIS_MACHINE, note);
  return name === 'browser' ? (await import('./page.ts')).workInPage : inNode();
}

export async function inNode(): Promise<Backend> {
  // Import this first, because the database looks for IndexedDB when its module is loaded.
  await import('../trainer/node/indexed-db.ts');
  return (await import('./node-work.ts')).workInNode;
}

export interface Machine {
  hasGpu(): boolean;
  /** Prepares this process for lavapipe. Returns false if lavapipe is not installed. */
  prepareLavapipe(): boolean;
  /** The reason why lavapipe cannot be used. Null if it can be used. */
  lavapipeProblem(): Promise<string | null>;
}

const THIS_MACHINE: Machine = { hasGpu, prepareLavapipe, lavapipeProblem };

/** @param asked the backend that the visitor named, if any */
export async function chooseBackend(asked: BackendName | undefined, machine: Machine, note: (text: string) => void): Promise<BackendName> {
  if (asked === 'browser' || machine.hasGpu()) return asked ?? 'browser';
  const found = machine.prepareLavapipe();
  if (asked === 'node' || !found) return asked ?? 'browser';
  const problem = await machine.lavapipeProblem();
  note(
    problem === null
      ? 'mua: found lavapipe and no GPU: running in Node on lavapipe (--on browser uses Chromium)'
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

/** Whether the system has a GPU device. It is looked for only on Linux, which has containers and servers without one. */
function hasGpu(): boolean {
  if (process.platform !== 'linux') return true;
  const names = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const isNvidia = (name: string) => /^nvidia\d+$/.test(name);
  const isRender = (name: string) => name.startsWith('renderD');
  return names('/dev/dri').some(isRender) || names('/dev').some((name) => isNvidia(name) || name === 'kfd' || name === 'dxg');
}
