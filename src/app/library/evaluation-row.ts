/** @file Converts an evaluation between its form in a run bundle and its row in the browser's storage. */
import type { SharedEvaluation } from '../../records/bundle.ts';
import type { EvaluationRow } from '../../records/evaluation.ts';
import type { RunRow } from '../../records/run.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { reportOf } from '../../evaluation/report.ts';
import { withCards } from '../../evaluation/trial-card.ts';
import { resultOf } from '../../evaluation/trial-result.ts';
import { valDomains } from '../../training/evaluation-settings.ts';

/** @param trials all conversations of the evaluation */
export function evaluationRow(
  run: Pick<RunRow, 'id' | 'name'>,
  { id, step, createdAt, seconds, settings }: SharedEvaluation,
  trials: readonly Trajectory[],
): EvaluationRow {
  return {
    id,
    createdAt,
    run: run.id,
    model: { kind: 'run', run: run.id, step },
    name: `${run.name}@${step}`,
    settings,
    report: reportOf(trials, settings.trials, seconds),
    results: trials.map(resultOf),
  };
}

/** The row with what the scorecard needs. */
export async function cardedRow(...[run, evaluation, trials]: Parameters<typeof evaluationRow>): Promise<EvaluationRow> {
  const row = evaluationRow(run, evaluation, trials);
  return { ...row, results: await withCards(row.results, trials) };
}

/** The names of the domains in which a run and its evaluations were played. */
export const playedDomains = ({ config }: Pick<RunRow, 'config'>, evaluations: readonly SharedEvaluation[]): string[] => [
  ...new Set([config.domain, ...valDomains(config), ...evaluations.map(({ settings }) => settings.domain)]),
];

export const sharedEvaluation = ({ id, createdAt, settings, model, report }: EvaluationRow): SharedEvaluation => ({
  id,
  createdAt,
  settings,
  step: model.kind === 'run' ? model.step : 0,
  seconds: report.seconds,
});
