/** @file Writes evaluations that were imported from files into the browser's storage, in one transaction. */
import { storageError } from '../../base/storage-error.ts';
import type { RunDatabase } from '../../storage/database.ts';
import type { ImportedEvaluation } from '../../trainer/imported-evaluation.ts';

/** @throws Error with advice if the disk is full; after an error, nothing is stored */
export async function storeEvaluations(db: RunDatabase, evaluations: readonly ImportedEvaluation[]): Promise<void> {
  try {
    await db.transaction('rw', [db.evaluations, db.evaluationTrajectories], async () => {
      for (const { row, trials } of evaluations) {
        await db.evaluationTrajectories.bulkAdd(trials.map((trial) => ({ ...trial, evaluation: row.id })));
        await db.evaluations.add(row);
      }
    });
  } catch (cause) {
    throw storageError(cause, 'this evaluation');
  }
}
