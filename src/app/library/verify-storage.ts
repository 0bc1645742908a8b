/** @file Reads all stored runs, evaluations and models of this browser, and reports damaged parts. */
import { Breath } from '../../base/breath.ts';
import { readTrajectory } from '../../exchange/trajectory-schema.ts';
import type { RunDatabase } from '../../storage/database.ts';
import { wholeFiles } from '../../trainer/checkpoints.ts';
import { filesOf, inspectStored } from '../../trainer/stored-models.ts';

export interface StorageReport {
  /** The number of rows that were read. */
  checked: number;
  /** One sentence for each problem. */
  problems: string[];
}

/** Reads all rows and changes nothing. Calls `onProgress` with the number of rows that were read. */
export async function verifyStorage(db: RunDatabase, onProgress: (checked: number) => void = () => {}): Promise<StorageReport> {
  const report: StorageReport = { checked: 0, problems: [] };
  const breath = new Breath();
  const attempt = async (what: string, read: () => unknown) => {
    try {
      await read();
    } catch (error) {
      report.problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
    onProgress(++report.checked);
    await breath.take();
  };

  const runs = new Map((await db.runs.toArray()).map(({ id, name }) => [id, name]));
  const evaluations = new Set(await db.evaluations.toCollection().primaryKeys());
  for (const { id, name, run } of await db.evaluations.toArray())
    await attempt(`Evaluation ${id} of ${name}`, () => {
      if (run && !runs.has(run)) throw new Error(`its run ${run} is missing`);
    });
  for (const key of await db.checkpoints.toCollection().primaryKeys()) {
    const [run, step] = key;
    await attempt(`Checkpoint of step ${step} of ${runs.get(run) ?? run}`, async () => {
      if (!runs.has(run)) throw new Error('its run is missing');
      if (!(await wholeFiles((await db.checkpoints.get(key))!))) throw new Error('its files are damaged');
    });
  }
  for (const key of await db.trajectories.toCollection().primaryKeys()) {
    const [run, id] = key;
    await attempt(`Conversation ${id} of ${runs.get(run) ?? run}`, async () => {
      if (!runs.has(run)) throw new Error('its run is missing');
      if (!(await db.rollouts.get(key))) throw new Error('its row in the list of rollouts is missing');
      readTrajectory(await db.trajectories.get(key), 'stored', '');
    });
  }
  for (const key of await db.evaluationTrajectories.toCollection().primaryKeys())
    await attempt(`Conversation ${key[1]} of an evaluation`, async () => {
      if (!evaluations.has(key[0])) throw new Error('its evaluation is missing');
      readTrajectory(await db.evaluationTrajectories.get(key), 'stored', '');
    });
  for (const table of [db.metrics, db.rollouts])
    for (const key of await table.toCollection().primaryKeys())
      await attempt(`A row of ${table.name}`, () => {
        if (!runs.has(key[0])) throw new Error(`its run ${key[0]} is missing`);
      });
  for (const id of await db.models.toCollection().primaryKeys())
    await attempt(`Model ${id}`, async () => inspectStored(await filesOf((await db.models.get(id))!)));
  return report;
}
