/** @file Deletes what was played, with all that makes no sense without it. */
import type { RunDatabase } from '../../storage/database.ts';
import { beginningWith } from '../../storage/key-range.ts';
import { originsIn } from '../../storage/origin.ts';

/** Deletes a run with all that belongs to it, the branches too, in one transaction. */
export async function deleteRun(db: RunDatabase, run: string): Promise<void> {
  await db.transaction('rw', [db.runs, db.metrics, db.rollouts, db.trajectories, db.checkpoints, db.evaluations, db.evaluationTrajectories, db.branches], async () => {
    await beginningWith(db.metrics, run).delete();
    await beginningWith(db.rollouts, run).delete();
    await beginningWith(db.trajectories, run).delete();
    await beginningWith(db.checkpoints, run).delete();
    for (const evaluation of await db.evaluations.where('run').equals(run).primaryKeys()) await deleteEvaluation(db, evaluation);
    await deleteBranches(db, run);
    await db.runs.delete(run);
  });
}

/** Deletes an evaluation with its trajectories, and what branched off them. */
export async function deleteEvaluation(db: RunDatabase, id: string): Promise<void> {
  await db.transaction('rw', [db.evaluations, db.evaluationTrajectories, db.branches], async () => {
    await beginningWith(db.evaluationTrajectories, id).delete();
    await deleteBranches(db, id);
    await db.evaluations.delete(id);
  });
}

const deleteBranches = (db: RunDatabase, place: string) => db.branches.where('origin').startsWith(originsIn(place)).delete();
