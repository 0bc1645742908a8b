/** @file The list of benchmarks that the playground knows, with one line for each. */
import type { BenchmarkDefinition } from './definition.ts';
import { acebench } from './acebench/index.ts';
import { bfcl } from './bfcl/index.ts';
import { tau1 } from './tau1/index.ts';
import { tau2 } from './tau2/index.ts';

export const BENCHMARKS: readonly BenchmarkDefinition[] = [tau1, tau2, bfcl, acebench];
