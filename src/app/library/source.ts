/** @file The interface of a source of runs. The browser's storage and the recorded run both implement it. */
import type { SharedTrial } from '../../records/bundle.ts';
import type { EvaluationRow } from '../../records/evaluation.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { CheckpointRow, RunRow, RunWords, StepMetrics } from '../../records/run.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { RunSummary } from './run-summary.ts';

/** The number of rollouts that are read at once. It is small enough that the browser stays responsive. */
export const ROLLOUT_PAGE = 5000;

export interface RunSource {
  /** True if nothing in this source can be changed or deleted. */
  readonly readOnly: boolean;

  /** The runs, the newest first. */
  runs(limit?: number): Promise<RunRow[]>;
  run(id: string): Promise<RunRow | undefined>;
  /** The metrics of a run, in the order of the steps. */
  metrics(run: string): Promise<StepMetrics[]>;
  summary(run: string): Promise<RunSummary>;
  /** Estimated bytes that the run takes in the browser's storage. */
  bytes(run: string): Promise<number>;
  /** The step of the newest checkpoint, from which the run resumes; 0 if it has none. */
  newestCheckpoint(run: string): Promise<number>;
  /** The checkpoints of a run, the newest first. */
  checkpoints(run: string): Promise<CheckpointRow[]>;

  /** All rollouts of a run, in the order of the steps. */
  rollouts(run: string): Promise<RolloutSummary[]>;
  /** The next rollouts in the order of ids: at most `ROLLOUT_PAGE` whose id is greater than `after`. Empty if there are no more. */
  rolloutPage(run: string, after: string): Promise<RolloutSummary[]>;
  rollout(run: string, id: string): Promise<RolloutSummary | undefined>;
  group(run: string, group: string): Promise<RolloutSummary[]>;

  /** The ids of the rollouts whose trajectory is stored. */
  trajectoryIds(run: string): Promise<string[]>;
  /**
   * The trajectories in the order of `ids`; undefined for one that is not stored. If `ids` is absent, all stored trajectories of the run.
   */
  trajectories(run: string): Promise<Trajectory[]>;
  trajectories(run: string, ids: string[]): Promise<(Trajectory | undefined)[]>;
  trajectory(run: string, id: string): Promise<Trajectory | undefined>;

  /** The evaluations, the newest first. If `run` is given, only evaluations of that run's weights. */
  evaluations(run?: string): Promise<EvaluationRow[]>;
  evaluation(id: string): Promise<EvaluationRow | undefined>;
  /** The stored conversations of an evaluation. */
  trials(evaluation: string): Promise<SharedTrial[]>;
  trial(evaluation: string, id: string): Promise<Trajectory | undefined>;

  /** Replaces the name, the note and the tags of a run. @throws Error if the source is read-only or has no such run */
  describeRun(id: string, words: RunWords): Promise<void>;

  /**
   * Deletes a run or an evaluation with everything that belongs to it, including branches, in one transaction.
   * @throws Error if the source is read-only
   */
  deleteRun(id: string): Promise<void>;
  deleteEvaluation(id: string): Promise<void>;

  /** Runs `read` so that all its queries see the same state of the source. */
  atOnce<T>(read: () => Promise<T>): Promise<T>;
}
