/** @file An imported run into this browser's storage: all of it in one transaction, or nothing. */
import type { RunContent } from '../exchange/run-bundle.ts';
import type { RunStatus } from '../training/types.ts';
import type { ModelRow, RunDatabase } from './database.ts';
import { writeOrigin } from './origin.ts';
import { evaluationRow } from './evaluation-row.ts';

/** Rows of one write: the page is drawn between two of them. */
const CHUNK = 64;
/** Nobody trains an imported run: one that was under way when it was exported has ended here. */
const ENDED: Partial<Record<RunStatus, RunStatus>> = { starting: 'interrupted', running: 'interrupted', paused: 'interrupted' };

interface ImportOptions {
  /** Ids of runs that are not in the database. */
  taken?: readonly string[];
  /** Stored with the run: its weights. */
  model?: Omit<ModelRow, 'run'> | null;
  onProgress?: (done: number, total: number) => void;
}

/**
 * Returns the run's id: its own, or a fresh one where that is taken.
 * @throws with what to do when the browser's storage is full; nothing is stored then
 */
export async function storeRun(db: RunDatabase, { run: shared, metrics, rollouts, trajectories, branches, evaluations, trials }: RunContent, { taken = [], model = null, onProgress }: ImportOptions = {}): Promise<string> {
  const total = metrics.length + rollouts.length + trajectories.length + branches.length + trials.length;
  let done = 0;
  try {
    return await db.transaction('rw', [db.runs, db.metrics, db.rollouts, db.trajectories, db.branches, db.evaluations, db.evaluationTrajectories, db.models], async () => {
      const known = taken.includes(shared.id) || (await db.runs.get(shared.id)) !== undefined;
      const run = known ? crypto.randomUUID() : shared.id;
      const add = async <T>(rows: readonly T[], write: (chunk: T[]) => PromiseLike<unknown>) => {
        for (let at = 0; at < rows.length; at += CHUNK) {
          const chunk = rows.slice(at, at + CHUNK);
          await write(chunk);
          done += chunk.length;
          onProgress?.(done, total);
        }
      };
      await add(metrics, (chunk) => db.metrics.bulkAdd(chunk.map((values) => ({ run, step: values.step, values }))));
      await add(rollouts, (chunk) => db.rollouts.bulkAdd(chunk.map((rollout) => ({ ...rollout, run }))));
      await add(trajectories, (chunk) => db.trajectories.bulkAdd(chunk.map((trajectory) => ({ ...trajectory, run }))));
      const places = new Map<string | undefined, string>([[undefined, run]]);
      for (const evaluation of evaluations) {
        const free = !known && (await db.evaluations.get(evaluation.id)) === undefined;
        const own = free ? evaluation.id : crypto.randomUUID();
        places.set(evaluation.id, own);
        const played = trials.filter((trial) => trial.evaluation === evaluation.id);
        await add(played, (chunk) => db.evaluationTrajectories.bulkAdd(chunk.map((trial) => ({ ...trial, evaluation: own }))));
        await db.evaluations.add(evaluationRow({ ...shared, id: run }, { ...evaluation, id: own }, played));
      }
      await add(branches, (chunk) =>
        db.branches.bulkAdd(chunk.map(({ rollout, evaluation, ...branch }) => ({ ...branch, id: crypto.randomUUID(), origin: writeOrigin({ place: places.get(evaluation)!, id: rollout }) }))),
      );
      if (model) await db.models.add({ ...model, run });
      await db.runs.add({ ...shared, id: run, status: ENDED[shared.status] ?? shared.status, imported: Date.now() });
      return run;
    });
  } catch (cause) {
    throw storageError(cause, 'this run');
  }
}

/** What a person can do where the disk is full; any other error as it is. @param others what could make room */
export function storageError(cause: unknown, what: string, others = 'runs and models'): Error {
  const { name, inner } = cause as Error & { inner?: Error };
  if (name !== 'QuotaExceededError' && inner?.name !== 'QuotaExceededError') return cause as Error;
  return new Error(`the browser has no room for ${what}: free some space on the disk, or delete other ${others}`, { cause });
}
