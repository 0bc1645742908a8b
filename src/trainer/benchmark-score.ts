/** @file The numbers of a report that a benchmark computes in its own way. */
import { importedParts } from '../benchmarks/imported-benchmark.ts';
import { findBenchmark } from '../benchmarks/named.ts';
import type { EvaluationReport, IntentReport } from '../records/evaluation.ts';

/** The report with its benchmark's score and rounding. Derived results are no official figures, so they have no score. */
export function withScore(report: EvaluationReport, domain: string): EvaluationReport {
  const benchmark = findBenchmark(importedParts(domain)?.benchmark);
  const { by_intent, derived } = report;
  const score = derived === undefined ? benchmark?.score?.(by_intent) : null;
  const round = benchmark?.roundSet ?? ((value: number) => value);
  const rounded = ({ process, ...own }: IntentReport): IntentReport => ({
    ...own,
    ...(process !== undefined && { process: round(process) }),
  });
  return {
    ...report,
    by_intent: Object.fromEntries(Object.entries(by_intent).map(([name, own]) => [name, rounded(own)])),
    ...(score && { score }),
  };
}
