/** @file The flags that write episodes in the formats of the benchmarks' results. */
import { BENCHMARKS } from '../../benchmarks/index.ts';
import { camelCase } from '../args.ts';
import { UsageError } from '../errors.ts';

/** The benchmarks in whose format results can be written. Each one has a flag, such as `--tau2-results`. */
const WRITERS = BENCHMARKS.flatMap(({ name, title, results }) =>
  results?.write ? [{ benchmark: name, title, flag: `${name}-results` }] : [],
);
export const RESULTS_FLAGS: object = Object.fromEntries(
  WRITERS.map(({ title, flag }) => [
    flag,
    { type: 'string', value: 'FILE.json', help: `also write the episodes to this file, in the format of ${title}’s results` },
  ]),
);

/** The results file that the flags ask for. Undefined if there is none. @throws UsageError if the flags ask for two */
export function resultsFile(flags: object): { benchmark: string; flag: string; file: string } | undefined {
  const asked = WRITERS.flatMap(({ benchmark, flag }) => {
    const file = (flags as Record<string, string | undefined>)[camelCase(flag)];
    return file === undefined ? [] : [{ benchmark, flag, file }];
  });
  if (asked.length > 1) throw new UsageError(`${asked.map(({ flag }) => `--${flag}`).join(' and ')} are given: expected one of them`);
  return asked[0];
}
