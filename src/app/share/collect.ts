/** @file All that is stored of a run, for an export. */
import type { RunContent } from '../../exchange/run-bundle.ts';
import type { SharedBranch, SharedEvaluation } from '../../exchange/run-schema.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { beginningWith } from '../../storage/key-range.ts';
import { originsIn, readOrigin } from '../../storage/origin.ts';
import { RECORDED, recordedRun } from '../logic/recorded.ts';

/**
 * As of one moment, even while the run goes on.
 * @param checkpoint the step whose weights are to be part of it
 * @throws Error when the run is not there
 */
export async function collectRun(db: RunDatabase, id: string, checkpoint: number | null = null): Promise<RunContent> {
  if (id === RECORDED) {
    const recorded = await recordedRun();
    if (!recorded) throw new Error('the recorded run could not be read');
    return { ...recorded, trajectories: [...recorded.trajectories.values()], branches: await branchesOf(db, id, recorded.evaluations), model: null };
  }
  const tables = [db.runs, db.metrics, db.rollouts, db.trajectories, db.branches, db.evaluations, db.evaluationTrajectories];
  const [run, metrics, rollouts, trajectories, { branches, evaluations, trials }] = await db.transaction('r', tables, () =>
    Promise.all([
      db.runs.get(id),
      beginningWith(db.metrics, id).toArray(),
      beginningWith(db.rollouts, id, '[run+step]').toArray(),
      beginningWith(db.trajectories, id).toArray(),
      evaluationsOf(db, id).then(async (own) => ({ ...own, branches: await branchesOf(db, id, own.evaluations) })),
    ]),
  );
  if (!run) throw new Error(`there is no run "${id}" in this browser`);
  const model = checkpoint === null ? null : await import('../../training/stored-models.ts').then(({ checkpointFiles }) => checkpointFiles(db, id, checkpoint));
  return { run, metrics: metrics.map(({ values }) => values), rollouts, trajectories, branches, evaluations, trials, model };
}

async function evaluationsOf(db: RunDatabase, run: string): Promise<Pick<RunContent, 'evaluations' | 'trials'>> {
  const rows = await db.evaluations.where('run').equals(run).sortBy('createdAt');
  const trials = await Promise.all(rows.map(({ id }) => beginningWith(db.evaluationTrajectories, id).toArray()));
  const evaluations = rows.map(({ id, createdAt, settings, model, report }) => ({ id, createdAt, settings, step: model.kind === 'run' ? model.step : 0, seconds: report.seconds }));
  return { evaluations, trials: trials.flat() };
}

/** What branched off conversations of the run, or of its evaluations. */
async function branchesOf(db: RunDatabase, run: string, evaluations: readonly SharedEvaluation[]): Promise<SharedBranch[]> {
  const places = [{ place: run }, ...evaluations.map(({ id }) => ({ place: id, evaluation: id }))];
  const found = places.map(async ({ place, ...of }) => {
    const rows = await db.branches.where('origin').startsWith(originsIn(place)).sortBy('createdAt');
    return rows.map(({ id: _, origin, conversation: _training, ...branch }): SharedBranch => ({ ...branch, ...of, rollout: readOrigin(origin)!.id }));
  });
  return (await Promise.all(found)).flat();
}
