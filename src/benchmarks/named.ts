/** @file Finds a benchmark, or one of its domains, by name. */
import { InputError } from '../base/input-error.ts';
import type { BenchmarkDefinition, BenchmarkDomain } from './definition.ts';
import { BENCHMARKS } from './index.ts';

export const findBenchmark = (name: string | undefined): BenchmarkDefinition | undefined =>
  BENCHMARKS.find((benchmark) => benchmark.name === name);

/** @throws {InputError} that names the existing benchmarks */
export function benchmarkNamed(name: string): BenchmarkDefinition {
  const found = findBenchmark(name);
  if (!found) throw new InputError(`benchmark: '${name}' is unknown; expected ${BENCHMARKS.map((one) => one.name).join(' or ')}`);
  return found;
}

/** @throws {InputError} if the benchmark does not exist or has no such domain */
export function benchmarkDomain(benchmark: string, name: string): BenchmarkDomain {
  const { domains } = benchmarkNamed(benchmark);
  const found = domains.find((domain) => domain.name === name);
  if (!found) throw new InputError(`domain: ${benchmark} has no '${name}'; it has ${domains.map((domain) => domain.name).join(', ')}`);
  return found;
}
