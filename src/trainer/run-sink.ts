/** @file What keeps a run: a database (`DatabaseSink`) or a folder (`FolderSink`). The driver treats both alike. */
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

/** The place where a run starts, or where it goes on. */
export interface RunStart {
  config: GrpoConfig;
  /** The model to open. The driver then loads the checkpoint. */
  files: ModelParts;
  /** The files by which a checkpoint knows its first model. */
  firstModel: ModelParts;
  loaded: LoadedCheckpoint;
  /** The metrics of the steps up to the checkpoint. With step 0, the evaluation before training is done too. */
  metrics: readonly StepMetrics[];
  /** What the customers have cost so far. */
  spent: number;
  user: UserConfig;
  /** The customer of the held-out evaluations. Absent: the one of the training. */
  valUser?: UserConfig;
  /** The conversations to train on, with `algorithm: 'sft'`. */
  dataset?: readonly DatasetConversation[];
  /** To answer before steps are played again; absent if there is nothing to ask. */
  question?: string;
  save: SavePlan & {
    /** The weights of the last step are kept as a checkpoint. If false, the driver's caller keeps them. */
    last: boolean;
  };
}

/** The next step waits for each promise. A method that failed may be called again with the same result. */
export interface RunSink {
  open(): Promise<RunStart>;
  /** The model is loaded, and the steps begin. @param note why results may differ from those of a run that was never stopped, or '' */
  begin(note: string): Promise<void>;
  progress(step: number, phase: RunPhase, done: number, total: number): void;
  /** A held-out evaluation of the weights after `step`; 0: before training. Comes before `step`. */
  evaluation(step: number, evaluation: Evaluation): Promise<void>;
  /** Step 0 has the metrics of the evaluation before training and no rollouts. */
  step(result: StepResult): Promise<void>;
  /** All that the next step needs. */
  checkpoint(checkpoint: Checkpoint, origin: CheckpointOrigin): Promise<void>;
  /** A rollout of the step under way has ended. */
  rollout?(step: number, trajectory: Trajectory): void;
  /** The viewers get each episode as it starts and as it ends. */
  live?: Pick<LiveGroup, 'begin' | 'beginTrial' | 'end'>;
}
