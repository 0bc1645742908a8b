/** @file An evaluation that came from a file as a row of storage. */
import type { Trajectory } from '../agent/types.ts';
import { reportOf } from '../evaluation/report.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import type { SharedEvaluation } from '../exchange/run-schema.ts';
import type { EvaluationRow, RunRow } from './database.ts';

/** `trials`: all of its conversations. */
export function evaluationRow(run: Pick<RunRow, 'id' | 'name'>, { id, step, createdAt, seconds, settings }: SharedEvaluation, trials: readonly Trajectory[]): EvaluationRow {
  const model = { kind: 'run', run: run.id, step } as const;
  return { id, createdAt, run: run.id, model, name: `${run.name}@${step}`, settings, report: reportOf(trials, settings.trials, seconds), results: trials.map(resultOf) };
}
