/** @file The exact domains by name. */
import { exactAirline } from '../domains/airline/exact.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { ExactDomain } from '../domains/exact/types.ts';
import { exactMock } from '../domains/mock/exact.ts';
import { exactRetail } from '../domains/retail/exact.ts';
import { telecom } from '../domains/telecom/exact.ts';

const DOMAINS: Record<Benchmark, Partial<Record<ExactDomain['name'], ExactDomain>>> = {
  tau1: { airline: exactAirline.tau1, retail: exactRetail.tau1 },
  tau2: { airline: exactAirline.tau2, retail: exactRetail.tau2, telecom, mock: exactMock },
};

export const exactDomainNames = (benchmark: Benchmark) => Object.keys(DOMAINS[benchmark]) as ExactDomain['name'][];

/** @throws if the benchmark has no such domain */
export function exactDomain(name: string, benchmark: Benchmark): ExactDomain {
  const domains = DOMAINS[benchmark];
  if (!Object.hasOwn(domains, name)) throw new Error(`domain: ${benchmark} has no '${name}'; it has ${Object.keys(domains).join(', ')}`);
  return domains[name as ExactDomain['name']]!;
}
