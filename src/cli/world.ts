/** @file The visitor's own scenario file as a domain of one command. */
import { addDomain, levelsOf } from '../domains/registry.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { InputError } from '../base/input-error.ts';
import type { Flags } from './args.ts';
import type { BackendName } from './backend.ts';
import { UsageError } from './errors.ts';
import { readText } from './files.ts';

export const WORLD_FLAGS = {
  world: {
    type: 'string',
    value: 'FILE.json',
    help: 'your own scenario file as the domain, instead of --domain; ./mua scenario check FILE.json checks it; runs in Node',
  },
} as const satisfies Flags;

interface Asked {
  world?: string | undefined;
  domain?: string | undefined;
  rules?: string | undefined;
  data?: string | undefined;
  on?: BackendName | undefined;
}

/** The hashes of the scenarios that are domains of this process. A command may read its file again. */
const opened = new Set<string>();

/**
 * Makes the file of `--world` a domain of this process.
 * @returns the name of the domain and the hash of the scenario; undefined without `--world`
 * @throws UsageError
 */
export async function openWorld({ world: file, domain, rules, data, on }: Asked): Promise<{ domain: string; sha256: string } | undefined> {
  if (file === undefined) return undefined;
  const other = Object.entries({ domain, rules, data }).find(([, value]) => value !== undefined);
  if (other) throw new UsageError(`--${other[0]} is given: expected no --${other[0]} with --world, which is the domain`);
  if (on === 'browser') throw new UsageError('--on is "browser": expected node with --world');
  const text = await readText(file);
  const [{ readScenario }, { ownModule }] = await Promise.all([import('../scenarios/read.ts'), import('../scenarios/module.ts')]);
  try {
    const own = readScenario(text, file);
    if (!opened.has(own.hash)) addDomain(ownModule(own));
    opened.add(own.hash);
    return { domain: own.scenario.name, sha256: own.hash };
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(error instanceof InputError ? message : `--world is "${file}": ${message}`);
  }
}

/** @throws UsageError if the generated domain has no such level */
export function checkLevel(domain: string, level: string | undefined): void {
  const levels = levelsOf(domain);
  if (level !== undefined && !levels.includes(level))
    throw new UsageError(`--level is "${level}"${didYouMean(level, levels)}: expected ${levels.join(', ')} for the domain ${domain}`);
}
