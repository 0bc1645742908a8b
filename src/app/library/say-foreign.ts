/** @file Stores what the visitor says of an imported run or evaluation: its outcomes, summaries and figures are computed again. */
import { beginningWith } from '../../base/key-range.ts';
import { storageError } from '../../base/storage-error.ts';
import type { ForeignRun } from '../../records/foreign.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { type ForeignWords, sayForeign } from '../../trainer/foreign-conversation.ts';
import { saidAgain } from '../../trainer/imported-evaluation.ts';
import { rowsOf } from '../../trainer/read-only-run.ts';

/** @throws InputError if the rule cannot be read; Error with advice if the disk is full. After an error, nothing is changed. */
export async function storeForeign(db: RunDatabase, run: string, words: ForeignWords): Promise<ForeignRun> {
  try {
    return await db.transaction('rw', [db.runs, db.metrics, db.rollouts, db.trajectories], async () => {
      const [stored, summaries] = await Promise.all([
        beginningWith(db.trajectories, run).toArray(),
        beginningWith(db.rollouts, run).toArray(),
      ]);
      const { conversations, said } = sayForeign(stored, words);
      const places = new Map(summaries.map(({ id, step, advantage }) => [id, { step, advantage }]));
      const placed = conversations.map((trajectory) => ({ trajectory, ...(places.get(trajectory.id) ?? { step: 1, advantage: null }) }));
      const { metrics, rollouts } = rowsOf(placed);
      await db.trajectories.bulkPut(conversations.map((trajectory) => ({ ...trajectory, run })));
      await db.rollouts.bulkPut(rollouts.map((rollout) => ({ ...rollout, run })));
      await db.metrics.bulkPut(metrics.map((values) => ({ run, step: values.step, values })));
      await db.runs.update(run, { foreign: said });
      return said;
    });
  } catch (cause) {
    throw storageError(cause, 'this run');
  }
}

/** @throws as `storeForeign` */
export async function storeForeignEvaluation(db: RunDatabase, id: string, words: ForeignWords): Promise<void> {
  try {
    await db.transaction('rw', [db.evaluations, db.evaluationTrajectories], async () => {
      const [row, trials] = await Promise.all([db.evaluations.get(id), beginningWith(db.evaluationTrajectories, id).toArray()]);
      const said = saidAgain({ row: row!, trials }, words);
      await db.evaluationTrajectories.bulkPut(said.trials.map((trial) => ({ ...trial, evaluation: id })));
      await db.evaluations.put(said.row);
    });
  } catch (cause) {
    throw storageError(cause, 'this evaluation');
  }
}
