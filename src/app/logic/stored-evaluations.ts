/** @file Evaluations and their conversations, those that came with the recorded run among them. */
import type { Trajectory } from '../../agent/types.ts';
import type { EvaluationRow, RunDatabase } from '../../storage/database.ts';
import { RECORDED, recordedRun } from './recorded.ts';

let recorded: Promise<EvaluationRow[]> | null = null;

/** Of the recorded run; none where it cannot be read. */
function recordedEvaluations(): Promise<EvaluationRow[]> {
  recorded ??= (async () => {
    const [run, { evaluationRow }] = await Promise.all([recordedRun(), import('../../storage/evaluation-row.ts')]);
    return (run?.evaluations ?? []).map((evaluation) => evaluationRow(run!.run, evaluation, run!.trials.filter((trial) => trial.evaluation === evaluation.id)));
  })();
  return recorded;
}

// Storage is asked first: what is awaited after it does not keep a live query from hearing of changes.

/** All of them, the newest first, the recorded run's last. */
export async function allEvaluations(db: RunDatabase): Promise<EvaluationRow[]> {
  const own = await db.evaluations.orderBy('createdAt').reverse().toArray();
  return [...own, ...(await recordedEvaluations()).toReversed()];
}

export async function evaluationsOf(db: RunDatabase, run: string): Promise<EvaluationRow[]> {
  return run === RECORDED ? recordedEvaluations() : db.evaluations.where('run').equals(run).toArray();
}

export async function findEvaluation(db: RunDatabase, id: string): Promise<EvaluationRow | undefined> {
  return (await db.evaluations.get(id)) ?? (await recordedEvaluations()).find((row) => row.id === id);
}

/** Undefined: not stored. */
export async function findTrial(db: RunDatabase, evaluation: string, id: string): Promise<Trajectory | undefined> {
  const own = await db.evaluationTrajectories.get([evaluation, id]);
  return own ?? (await recordedRun())?.trials.find((trial) => trial.evaluation === evaluation && trial.id === id);
}
