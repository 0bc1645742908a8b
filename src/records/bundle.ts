/** @file The content of a run bundle (`*.mua.zip`). The browser's storage and the file format both convert to and from these types. */
import type { BranchRow } from './branch.ts';
import type { EvaluationRow } from './evaluation.ts';
import type { RolloutSummary } from './rollout.ts';
import type { RunRow, StepMetrics } from './run.ts';
import type { Trajectory } from './trajectory.ts';

/** A run without the fields that have a meaning in one browser only. */
export type SharedRun = Omit<RunRow, 'recorded' | 'imported' | 'experiment' | 'variant'>;

/** A branch of a bundle, with the id of its parent conversation. It is in no training set. */
export interface SharedBranch extends Omit<BranchRow, 'id' | 'origin' | 'conversation'> {
  /** The parent conversation: a rollout of the run, or a trial of `evaluation`. */
  rollout: string;
  evaluation?: string;
}

/** An evaluation of the run's weights. Its report is computed from its trials when the bundle is read. */
export interface SharedEvaluation extends Pick<EvaluationRow, 'id' | 'createdAt' | 'settings'> {
  step: number;
  seconds: number;
}

export type SharedTrial = Trajectory & { evaluation: string };

export interface RunContent {
  run: SharedRun;
  metrics: StepMetrics[];
  rollouts: RolloutSummary[];
  trajectories: Trajectory[];
  branches: SharedBranch[];
  evaluations: SharedEvaluation[];
  /** The trials of all evaluations. */
  trials: SharedTrial[];
  /** The trained weights as a Hugging Face folder. */
  model: Record<string, Uint8Array<ArrayBuffer>> | null;
  /** The files of the visitor's own scenarios in which the run and its evaluations were played. Absent if there are none. */
  scenarios?: readonly string[];
}
