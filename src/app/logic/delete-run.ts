import type { RunDatabase } from '../../storage/database.ts';

/** Deletes a run with all that belongs to it, in one transaction. */
export async function deleteRun(db: RunDatabase, run: string): Promise<void> {
  await db.transaction('rw', [db.runs, db.metrics, db.rollouts, db.trajectories, db.checkpoints], async () => {
    await db.metrics.where('[run+step]').between([run, 0], [run, Infinity]).delete();
    await db.rollouts.where('[run+id]').between([run, ''], [run, '\uffff']).delete();
    await db.trajectories.where('[run+id]').between([run, ''], [run, '\uffff']).delete();
    await db.checkpoints.where('[run+step]').between([run, 0], [run, Infinity]).delete();
    await db.runs.delete(run);
  });
}
