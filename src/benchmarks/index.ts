/** @file The benchmarks that the playground knows: one line a benchmark. */
import type { BenchmarkDefinition } from './definition.ts';
import { tau1 } from './tau1/index.ts';
import { tau2 } from './tau2/index.ts';

export const BENCHMARKS: readonly BenchmarkDefinition[] = [tau1, tau2];
