/**
 * @file The interface of what stores a run: a database (`DatabaseSink`) or a folder (`FolderSink`). The driver treats both in
 * the same way.
 */
import type { Evaluation } from '../evaluation/evaluate.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { DatasetConversation } from '../records/dataset.ts';
import type { CheckpointOrigin, GrpoConfig, StepMetrics } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import type { StepResult } from '../training/step-result.ts';
import type { SavePlan } from './checkpoint-clock.ts';
import type { Checkpoint, LoadedCheckpoint } from './checkpoints.ts';
import type { LiveGroup } from './live.ts';
import type { RunEvent } from './messages.ts';

export type RunPhase = Extract<RunEvent, { type: 'progress' }>['phase'];

/** What is needed to start a run or to continue it. */
export interface RunStart {
  config: GrpoConfig;
  /** The model to open. After that, the driver loads the checkpoint. */
  files: ModelParts;
  /** The files of the run's first model. A checkpoint stores their digest to recognise them. */
  firstModel: ModelParts;
  loaded: LoadedCheckpoint;
  /** The metrics of the steps up to the checkpoint. If they contain step 0, the evaluation before training is done too. */
  metrics: readonly StepMetrics[];
  /** What the customers have cost so far. */
  spent: number;
  user: UserConfig;
  /** The customer of the held-out evaluations. Default: the customer of the training. */
  valUser?: UserConfig;
  /** The conversations to train on, with `algorithm: 'sft'`. */
  dataset?: readonly DatasetConversation[];
  /** A question to answer before steps are played again. Absent if there is nothing to ask. */
  question?: string;
  save: SavePlan & {
    /** Whether the weights of the last step are stored as a checkpoint. If false, the driver's caller stores them. */
    last: boolean;
  };
}

/** Stores a run. The next step waits for each returned promise. If a method fails, it may be called again with the same result. */
export interface RunSink {
  open(): Promise<RunStart>;
  /**
   * Called when the model is loaded and the steps begin.
   * @param note why results may differ from those of a run that was never stopped, or ''
   */
  begin(note: string): Promise<void>;
  /** @param left the seconds that the run still takes; null if nothing is known yet */
  progress(step: number, phase: RunPhase, done: number, total: number, left: number | null): void;
  /** Gets a held-out evaluation of the weights after `step` (0: before training). Called before `step`. */
  evaluation(step: number, evaluation: Evaluation): Promise<void>;
  /** Gets the result of a step. Step 0 has the metrics of the evaluation before training, and no rollouts. */
  step(result: StepResult): Promise<void>;
  /** Gets everything that the next step needs. */
  checkpoint(checkpoint: Checkpoint, origin: CheckpointOrigin): Promise<void>;
  /** Called when a rollout of the current step has ended. */
  rollout?(step: number, trajectory: Trajectory): void;
  /** Gets each episode when it starts and when it ends, for viewers. */
  live?: Pick<LiveGroup, 'begin' | 'beginTrial' | 'end'>;
}
