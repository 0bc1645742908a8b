/**
 * @file The Dexie schema of the stored runs, models and experiments. The trainer writes runs, evaluations and the results of experiments.
 * The page writes experiments, branches, lessons, imported models and imported runs, and deletes rows.
 */
import type { EntityTable, Table } from 'dexie';
import { VersionedDatabase } from '../base/versioned-database.ts';
import type { BranchRow } from '../records/branch.ts';
import type { DatasetConversationRow, DatasetRow } from '../records/dataset.ts';
import type { EvaluationRow } from '../records/evaluation.ts';
import type { ExperimentRow } from '../records/experiment.ts';
import type { LessonRow } from '../records/lesson.ts';
import type { ModelRow } from '../records/model.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { CheckpointRow, RunRow, StepMetrics } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';

export class RunDatabase extends VersionedDatabase {
  declare runs: EntityTable<RunRow, 'id'>;
  declare metrics: Table<{ run: string; step: number; values: StepMetrics }, [string, number]>;
  declare rollouts: Table<RolloutSummary & { run: string }, [string, string]>;
  declare trajectories: Table<Trajectory & { run: string }, [string, string]>;
  declare checkpoints: Table<CheckpointRow, [string, number]>;
  declare evaluations: EntityTable<EvaluationRow, 'id'>;
  declare evaluationTrajectories: Table<Trajectory & { evaluation: string }, [string, string]>;
  declare lessons: EntityTable<LessonRow, 'id'>;
  declare models: EntityTable<ModelRow, 'id'>;
  declare branches: EntityTable<BranchRow, 'id'>;
  declare datasets: EntityTable<DatasetRow, 'id'>;
  declare datasetConversations: Table<DatasetConversationRow, [string, number]>;
  declare experiments: EntityTable<ExperimentRow, 'id'>;

  constructor(name = 'mua-runs') {
    const stores = {
      runs: 'id, createdAt, experiment',
      metrics: '[run+step]',
      rollouts: '[run+id], [run+step], [run+group]',
      trajectories: '[run+id]',
      checkpoints: '[run+step]',
      evaluations: 'id, createdAt, run',
      evaluationTrajectories: '[evaluation+id]',
      lessons: 'id',
      models: 'id',
      branches: 'id, origin',
      experiments: 'id, createdAt',
      datasets: 'id, createdAt',
      datasetConversations: '[dataset+index]',
    };
    // With `strict`, a checkpoint is on the disk when its write has ended. So it survives a crash of the system.
    super(name, 5, stores, { chromeTransactionDurability: 'strict' });
  }

  /** Writes results of a run in one transaction. @throws Error if the run was deleted, for example because all storage was cleared */
  async writeResults<T>(run: string, write: () => Promise<T>): Promise<T> {
    const { runs, metrics, rollouts, trajectories, evaluations, evaluationTrajectories, checkpoints } = this;
    const tables = [runs, metrics, rollouts, trajectories, evaluations, evaluationTrajectories, checkpoints];
    return this.transaction('rw', tables, async () => {
      if (!(await runs.get(run))) throw new Error('the run is not in this browser any more: it was deleted, or the storage was cleared');
      return write();
    });
  }
}
