/**
 * @file The Dexie schema of runs. The trainer writes runs and evaluations as they are made; the page writes what a visitor
 * does: conversations they play, lessons, models they bring, imported runs, deletions.
 */
import { Dexie, type EntityTable, type Table } from 'dexie';
import type { Conversation } from '../agent/conversation.ts';
import type { Trajectory } from '../agent/types.ts';
import type { ModelConfig } from '../engine/types.ts';
import type { EvaluationReport } from '../evaluation/report.ts';
import type { EvaluationSettings, ModelRef, TrialResult } from '../evaluation/types.ts';
import type { RolloutSummary, RunRequest, RunStatus, StepMetrics, GrpoConfig } from '../training/types.ts';

export interface RunRow {
  id: string;
  /** Memorable name, e.g. `brisk-otter`. */
  name: string;
  createdAt: number;
  status: RunStatus;
  message?: string;
  /** Steps done. */
  step: number;
  request: RunRequest;
  /** The whole configuration in force. */
  config: GrpoConfig;
  /** A bundled example, not made in this browser. */
  recorded?: boolean;
  /** From a file, at this time: to be read, not gone on with. */
  imported?: number;
}

/** A model that was brought to this browser, as the Hugging Face folder it was. */
export interface ModelRow {
  id: string;
  name: string;
  addedAt: number;
  /** The run whose weights these are. */
  run?: string;
  config: ModelConfig;
  parameters: number;
  files: Record<string, Blob>;
}

/** A checkpoint is complete when its row exists: it is written in one transaction. */
export interface CheckpointRow {
  run: string;
  step: number;
  savedAt: number;
  /** safetensors of the policy, the reference, and AdamW's moments. */
  weights: Blob;
  reference: Blob | null;
  optimizer: Blob;
  /** Everything else that the next step depends on. */
  state: { optimizerStep: number };
}

export interface EvaluationRow {
  id: string;
  createdAt: number;
  /** Of whose weights; '' where they are no run's. */
  run: string;
  model: ModelRef;
  /** The weights in words, e.g. `nano-retail` or `brisk-otter@40`. */
  name: string;
  settings: EvaluationSettings;
  report: EvaluationReport;
  results: TrialResult[];
}

/** How far a visitor is in a lesson. */
export interface LessonRow {
  id: string;
  /** The step they are at. */
  step: number;
  finished: boolean;
}

/** A conversation that a visitor took part in, or one of several that were rolled out from the same message. */
export interface BranchRow {
  id: string;
  createdAt: number;
  /** What it branched off, as `origin.ts` writes it, or `task:<id>` where it began anew. */
  origin: string;
  /** How many messages it shares with that. */
  shared: number;
  /** The same for all that were rolled out at once; '' for one that was played. */
  batch: string;
  /** Whose weights played the agent where no person did. */
  model: string;
  /** One that is not finished has `termination` `aborted`. */
  trajectory: Trajectory;
  /** In the training set, in the words of chat JSONL. */
  conversation?: Conversation;
}

export class RunDatabase extends Dexie {
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

  constructor(name = 'mua-runs') {
    super(name);
    this.version(1).stores({
      runs: 'id, createdAt',
      metrics: '[run+step]',
      rollouts: '[run+id], [run+step], [run+group]',
      trajectories: '[run+id]',
      checkpoints: '[run+step]',
    });
    this.version(2).stores({ evaluations: 'id, createdAt, run', evaluationTrajectories: '[evaluation+id]', lessons: 'id', models: 'id' });
    this.version(3).stores({ branches: 'id, origin' });
  }
}
