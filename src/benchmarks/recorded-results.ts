/** @file Reads recorded results of tau-bench and tau2-bench. */
import type { Benchmark } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { RecordedRun } from './recorded-conversation.ts';
import { readTau1Results } from './tau1/recorded-results.ts';
import { readTau2Results } from './tau2/recorded-results.ts';

/** The runs of a results file. @throws ImportError naming file, path and reason */
export const readResults = (file: string, value: Json, benchmark: Benchmark): RecordedRun[] =>
  benchmark === 'tau1' ? readTau1Results(file, value) : readTau2Results(file, value);
