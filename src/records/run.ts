/** @file A training run: its configuration, its metrics and its stored rows. */
import type { ConditionSettings, ValidationConditionSettings } from './conditions.ts';
import type { ForeignRun } from './foreign.ts';
import type { EpisodeLimits, Sampling } from './episode.ts';
import { isForeign } from './task.ts';
import type { RewardSettings } from './rewards.ts';
import type { BrowserUser, UserConfig } from './user.ts';

/**
 * The configuration of a run, under verl's names. This file declares only the settings that evaluations, episodes and tasks have too.
 * `src/training/settings` describes all settings, and adds the other fields to this interface.
 */
export interface GrpoConfig extends EpisodeLimits, Sampling, ConditionSettings, ValidationConditionSettings, RewardSettings {
  enable_thinking: boolean;
}

/** The metrics of one step: name → value. The names are those of verl and MUA-RL (see docs). Steps count from 1. */
export interface StepMetrics {
  step: number;
  [name: string]: number;
}

/** The metrics that a step measured. Earlier versions stored a KL of 0 for a run without the KL loss, which measures none. */
export function measuredMetrics(metrics: StepMetrics, { use_kl_loss }: { use_kl_loss?: boolean }): StepMetrics {
  if (use_kl_loss !== false || metrics['actor/kl_loss'] !== 0) return metrics;
  const { 'actor/kl_loss': _, 'actor/kl_coef': __, ...measured } = metrics;
  return measured as StepMetrics;
}

/** The name of the held-out reward metric, which contains the data source. Undefined if `names` has no such metric. */
export const heldOutName = (names: readonly string[]) => names.find((name) => /^val-core\/.*\/reward\/mean@1$/.test(name));

export type RunStatus = 'starting' | 'running' | 'paused' | 'done' | 'stopped' | 'failed' | 'interrupted';

export interface RunRequest {
  /** Name of a bundled model, or id of an imported model. */
  model: string;
  preset: string;
  /** Only values that differ from the preset. */
  overrides: Partial<GrpoConfig>;
  user: UserConfig;
  /** The customer of the held-out evaluations. Absent: `user`. */
  val_user?: BrowserUser;
  /**
   * The id of the stored dataset to train on, only with `algorithm: 'sft'`. Absent: for each step the demonstrators make new
   * conversations.
   */
  dataset?: string;
}

/** The texts that the visitor can write about a run. */
export interface RunWords {
  /** At first a memorable name, e.g. `brisk-otter`. */
  name: string;
  note?: string;
  /** A tag has no comma, because a URL of the page lists tags with commas between them. */
  tags?: string[];
}

/** The maximum number of characters of a name, a note and a tag, and the maximum number of tags of a run. */
export const MOST_WORDS = { name: 200, note: 10_000, tag: 40, tags: 20 } as const;

/** Whether another tool recorded the run, or an evaluation: its settings are not known. */
export const isForeignRun = ({ foreign, config }: Pick<RunRow, 'foreign' | 'config'>): boolean =>
  foreign !== undefined || isForeign(config as GrpoConfig & { domain: string });

/** Some entries of a tokenizer.json, in its format. */
export interface VocabularyPart {
  /** Token → id. */
  model: { vocab: Record<string, number> };
  added_tokens: { id: number; content: string }[];
}

export interface RunRow extends RunWords {
  id: string;
  createdAt: number;
  status: RunStatus;
  message?: string;
  /** Number of finished steps. */
  step: number;
  request: RunRequest;
  /** The whole configuration of the run. */
  config: GrpoConfig;
  /** The tokens of the run's conversations, for a page that does not have the run's model. Set in a file of the run, and after its import. */
  vocabulary?: VocabularyPart;
  /** True if the run ships with the page and was not made in this browser. */
  recorded?: boolean;
  /** Time of the import from a file. An imported run cannot be continued. */
  imported?: number;
  /** Set if the conversations come from files, so that `request` and most settings of `config` are not known. */
  foreign?: ForeignRun;
  /**
   * Set for a row that keeps the old steps of a run that was resumed at an earlier step: the id of that run, and the first step that it
   * played again.
   */
  superseded?: { run: string; from: number };
  /** The experiment of this browser that the run belongs to, and its variant. */
  experiment?: string;
  variant?: string;
}

/** The weights after a step. The row is written in one transaction, so a stored checkpoint is complete. */
export interface CheckpointRow {
  run: string;
  step: number;
  savedAt: number;
  /** safetensors of the trained weights, the reference, and AdamW's moments. */
  weights: Blob;
  reference: Blob | null;
  optimizer: Blob;
  /** All other state that the next step depends on. */
  state: { optimizerStep: number };
  /** SHA-256 in hex of the three files. */
  sha256: { weights: string; reference: string | null; optimizer: string };
  origin: CheckpointOrigin;
}

/** Everything, besides the checkpoint, that the exact result of the next step depends on. */
export interface CheckpointOrigin {
  /** The version of the playground. */
  app: string;
  /** The name of the GPU. */
  adapter: string;
  /** SHA-256 of the files of the model that the run started from, including its tokenizer. */
  model: string;
  /** SHA-256 of the run's configuration. */
  config: string;
  /** The imported benchmark that the tasks come from, with the digest of its data. Absent for a generated domain. */
  import?: string;
}
