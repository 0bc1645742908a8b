/** @file Handles the steps of a run after the checkpoint from which it continues. They are kept, but no longer count as part of the run. */
import { beginningWith } from '../base/key-range.ts';
import type { RunRow } from '../records/run.ts';
import type { RunDatabase } from '../storage/database.ts';

/**
 * Moves the steps after `step` to a separate run, which cannot be continued. The original run plays these steps again. The
 * results are the same if its customer is scripted, and differ if a language model plays the customer. Everything is moved in
 * one transaction.
 */
export async function supersede(db: RunDatabase, run: string, step: number): Promise<void> {
  const { runs, metrics, rollouts, trajectories, evaluations, evaluationTrajectories } = db;
  await db.writeResults(run, async () => {
    const row = (await runs.get(run))!;
    const from = step === 0 ? 0 : step + 1;
    const range = [[run, from], [run, Infinity]] as const; // prettier-ignore
    const values = await metrics.where('[run+step]').between(...range).toArray(); // prettier-ignore
    const played = await rollouts.where('[run+step]').between(...range).toArray(); // prettier-ignore
    await runs.update(run, { step });
    const last = Math.max(...values.map((value) => value.step), ...played.map((rollout) => rollout.step));
    if (last < from) return;
    const id = crypto.randomUUID();
    await runs.put(supersededRow(row, id, from, last));
    await metrics.bulkPut(values.map((value) => ({ ...value, run: id })));
    await rollouts.bulkPut(played.map((rollout) => ({ ...rollout, run: id })));
    const keys = played.map((rollout): [string, string] => [run, rollout.id]);
    const texts = (await trajectories.bulkGet(keys)).filter((text) => text !== undefined);
    await trajectories.bulkPut(texts.map((text) => ({ ...text, run: id })));
    await trajectories.bulkDelete(keys);
    await rollouts.bulkDelete(keys);
    await metrics.where('[run+step]').between(...range).delete(); // prettier-ignore
    for (const evaluation of await evaluations.where('run').equals(run).toArray()) {
      const { model } = evaluation;
      // Skip evaluations that the visitor requested. Their ids have another form.
      if (model.kind !== 'run' || model.step < from || evaluation.id !== `${run}@${model.step}`) continue;
      const own = `${id}@${model.step}`;
      const trials = await beginningWith(evaluationTrajectories, evaluation.id).toArray();
      await evaluations.put({ ...evaluation, id: own, run: id, model: { ...model, run: id } });
      await evaluationTrajectories.bulkPut(trials.map((trial) => ({ ...trial, evaluation: own })));
      await beginningWith(evaluationTrajectories, evaluation.id).delete();
      await evaluations.delete(evaluation.id);
    }
  });
}

function supersededRow(row: RunRow, id: string, from: number, last: number): RunRow {
  const { experiment: _, variant: __, ...own } = row;
  return {
    ...own,
    id,
    name: `${row.name}, steps ${from} to ${last} (superseded)`,
    status: 'stopped',
    message: `The run went on from step ${Math.max(0, from - 1)} and played these steps again. They do not count.`,
    step: last,
    superseded: { run: row.id, from },
  };
}
