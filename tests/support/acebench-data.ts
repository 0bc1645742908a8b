/** The reference data of ACEBench, which is outside the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { replayAce } from '../../src/benchmarks/acebench/replay.ts';
import { filesOf } from './bfcl-data.ts';

const shared = resolve(import.meta.dirname, '../../../shared/data');
export const aceFolder = resolve(shared, 'acebench');
export const hasAce = existsSync(resolve(shared, 'expected/acebench_agent.json')) && existsSync(aceFolder);

export const expectedAce = <T>(name: string): T => JSON.parse(readFileSync(resolve(shared, `expected/acebench_${name}.json`), 'utf8')) as T;

/** Runs cases of `mua replay --rules acebench` on a folder, or on texts by path. */
export async function replayed<T>(cases: readonly object[], prompts = false, files: string | Record<string, string> = aceFolder) {
  const output = await replayAce({
    paths: typeof files === 'string' ? filesOf(files) : Object.keys(files),
    read: async (path) => (typeof files === 'string' ? readFileSync(join(files, path), 'utf8') : files[path]!),
    file: 'in.json',
    text: JSON.stringify({ cases }),
    prompts,
  });
  return { cases: [...output.cases] as T[], ...output.counts() };
}
