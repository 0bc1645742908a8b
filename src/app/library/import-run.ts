/** @file Writes an imported run into the browser's storage, in one transaction. */
import { InputError } from '../../base/input-error.ts';
import type { RunContent } from '../../records/bundle.ts';
import { scenarioFile } from '../../exchange/run-bundle.ts';
import { OwnScenarios, readForPage } from '../../storage/own-scenarios.ts';
import type { ModelRow } from '../../records/model.ts';
import type { RunStatus } from '../../records/run.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { storageError } from '../../base/storage-error.ts';
import { cardedRow, playedDomains } from './evaluation-row.ts';
import { writeOrigin } from './origin.ts';

/** How many rows are written at once. Between two writes, the browser can draw the page. */
const CHUNK = 64;
/** The status after an import. A run that was being trained when it was exported becomes interrupted, because nobody trains it here. */
const ENDED: Partial<Record<RunStatus, RunStatus>> = { starting: 'interrupted', running: 'interrupted', paused: 'interrupted' };

export interface StoreOptions {
  /** The run's weights, stored with the run. */
  model?: Omit<ModelRow, 'run'> | null;
  /** Called with the number of rows that are written, of `total`. */
  onProgress?: (done: number, total: number) => void;
}

/**
 * Returns the run's id: its own id, or a new one if its own id is in use.
 * @param reserved ids that no stored run or evaluation may have
 * @throws Error with advice if the disk is full, or InputError if a scenario is wrong or not of the run; after an error, no run is stored
 */
export async function storeRun(
  db: RunDatabase,
  { run: shared, scenarios = [], metrics, rollouts, trajectories, branches, evaluations, trials }: RunContent,
  reserved: readonly string[],
  { model = null, onProgress }: StoreOptions = {},
): Promise<string> {
  await storeScenarios(scenarios, playedDomains(shared, evaluations));
  const total = metrics.length + rollouts.length + trajectories.length + branches.length + trials.length;
  let done = 0;
  const played = evaluations.map(({ id }) => trials.filter(({ evaluation }) => evaluation === id));
  const rows = await Promise.all(evaluations.map((evaluation, i) => cardedRow(shared, evaluation, played[i]!)));
  try {
    return await db.transaction(
      'rw',
      [db.runs, db.metrics, db.rollouts, db.trajectories, db.branches, db.evaluations, db.evaluationTrajectories, db.models],
      async () => {
        /** Addresses name a run or an evaluation by its id alone, so no two of them share one. */
        const isTaken = async (id: string) =>
          reserved.includes(id) || (await db.runs.get(id)) !== undefined || (await db.evaluations.get(id)) !== undefined;
        const known = await isTaken(shared.id);
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
        for (const [i, row] of rows.entries()) {
          const free = !known && row.id !== run && !(await isTaken(row.id));
          const own = free ? row.id : crypto.randomUUID();
          places.set(row.id, own);
          await add(played[i]!, (chunk) => db.evaluationTrajectories.bulkAdd(chunk.map((trial) => ({ ...trial, evaluation: own }))));
          await db.evaluations.add({ ...row, id: own, run, model: { kind: 'run', run, step: evaluations[i]!.step } });
        }
        await add(branches, (chunk) =>
          db.branches.bulkAdd(
            chunk.map(({ rollout, evaluation, ...branch }) => ({
              ...branch,
              id: crypto.randomUUID(),
              origin: writeOrigin({ place: places.get(evaluation)!, id: rollout }),
            })),
          ),
        );
        if (model) await db.models.add({ ...model, run });
        await db.runs.add({ ...shared, id: run, status: ENDED[shared.status] ?? shared.status, imported: Date.now() });
        return run;
      },
    );
  } catch (cause) {
    throw storageError(cause, 'this run');
  }
}

/**
 * Stores the scenarios of a run.
 * @param domains those in which the run and its evaluations were played
 * @throws InputError if a scenario is wrong, or if nothing was played in it; then none is stored
 */
async function storeScenarios(texts: readonly string[], domains: readonly string[]): Promise<void> {
  for (const [i, text] of texts.entries()) {
    const { domain } = await readForPage(text, scenarioFile(i));
    if (!domains.includes(domain))
      throw new InputError(`${scenarioFile(i)}: is the scenario ${domain}: expected ${domains.join(' or ')}, in which the run was played`);
  }
  const own = new OwnScenarios();
  for (const [i, text] of texts.entries()) await own.store(text, scenarioFile(i));
}
