/** The exact domains of tau-bench and tau2-bench by name. */
import { TAU1_DOMAINS } from '../../src/benchmarks/tau1/domains.ts';
import { TAU2_DOMAINS } from '../../src/benchmarks/tau2/domains.ts';
import type { ExactDomain } from '../../src/domains/exact/types.ts';

const DOMAINS: Record<string, readonly ExactDomain[]> = { tau1: TAU1_DOMAINS, tau2: TAU2_DOMAINS };

export function exactDomain(name: string, benchmark: string): ExactDomain {
  const found = DOMAINS[benchmark]!.find((domain) => domain.name === name);
  if (!found) throw new Error(`${benchmark} has no domain ${name}`);
  return found;
}
