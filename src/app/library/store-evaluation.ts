/** @file Writes evaluations that were imported from files into the browser's storage, in one transaction. */
import { storageError } from '../../base/storage-error.ts';
import { withCards } from '../../evaluation/trial-card.ts';
import type { RunDatabase } from '../../storage/database.ts';
import type { ImportedEvaluation } from '../../trainer/imported-evaluation.ts';

/** @throws Error with advice if the disk is full; after an error, nothing is stored */
export async function storeEvaluations(db: RunDatabase, evaluations: readonly ImportedEvaluation[]): Promise<void> {
  const rows = await Promise.all(evaluations.map(async ({ row, trials }) => ({ ...row, results: await withCards(row.results, trials) })));
  try {
    await db.transaction('rw', [db.evaluations, db.evaluationTrajectories], async () => {
      for (const [i, { trials }] of evaluations.entries()) {
        const row = rows[i]!;
        await db.evaluationTrajectories.bulkAdd(trials.map((trial) => ({ ...trial, evaluation: row.id })));
        await db.evaluations.add(row);
      }
    });
  } catch (cause) {
    throw storageError(cause, 'this evaluation');
  }
}
