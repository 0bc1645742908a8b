/** @file An experiment: one question, answered by runs of several variants with several seeds, and the stored results of each run. */
import type { BrowserUser, UserConfig } from './user.ts';

/** The settings that differ: name in `GrpoConfig` → value. */
export type Overrides = Record<string, string | number | boolean>;

export interface ExperimentBase {
  preset: string;
  /** Name of a bundled model, or id of an imported model. Absent: the preset's model. */
  model?: string;
  /** Folder of a LoRA adapter that the runs continue to train. Only `mua experiment` reads it: in the browser, a model holds its adapter. */
  lora?: string;
  overrides: Overrides;
  /** The simulated customer, without its API key. */
  user: UserConfig;
  /** The customer of the held-out evaluations of all variants. Absent: the same customer as in training. */
  val_user?: BrowserUser;
}

/** The changes that one variant makes to the base. */
export interface ExperimentVariant {
  name: string;
  preset?: string;
  /** The name of an algorithm in `src/training/algorithms`. Its settings are applied before the overrides. Absent: the preset's settings. */
  algorithm?: string;
  model?: string;
  lora?: string;
  overrides: Overrides;
  user?: BrowserUser;
}

export interface Experiment {
  id: string;
  name: string;
  /** The question of the experiment, in one sentence. */
  question: string;
  base: ExperimentBase;
  /** At least one variant. Their names must differ. */
  variants: ExperimentVariant[];
  /** The name of the variant that the others are compared with. */
  baseline: string;
  seeds: number[];
  /**
   * Settings of the held-out evaluation. All variants play the same tasks, so they can be compared in pairs by task and seed. A variant
   * may choose who plays the tasks (`val_agent`) and how the model samples (`val_kwargs`).
   */
  evaluation: Overrides;
}

/** One held-out evaluation of a run. `success[i]` is 1, 0, or null (not scored) for `tasks[i]` of the run. */
export interface ExperimentEvaluation {
  step: number;
  success: (0 | 1 | null)[];
  /** The same with greedy decoding. Only the last evaluation of a run with `val_greedy` has these outcomes. */
  greedy?: (0 | 1 | null)[];
  /** For each task: the number of writes that the customer had confirmed, and of all writes. Absent if nothing was written, or if the domain is not audited. */
  writes?: [confirmed: number, of: number][];
  /**
   * Figures of the scored trials: `turns` is the mean, `hand_overs` the share of trials that ended with a terminal tool,
   * `confirmed_writes` the share of writes that the customer had confirmed, `called_again` the share of timeouts after which the agent
   * called again, and `offered_more` the share of reserved customers whom it asked for more. A share of nothing is absent, and so is
   * `confirmed_writes` if the domain is not audited.
   */
  figures: Record<string, number>;
}

/** A finished run of one variant and one seed, with all data that the analysis reads. */
export interface ExperimentRun {
  variant: string;
  seed: number;
  /** The id that the run has in the browser that trained it. */
  run?: string;
  steps: number;
  /** Time of the run's steps and evaluations, without pauses. */
  seconds: number;
  /** The held-out tasks, in the order of every `success`. */
  tasks: string[];
  /** What the customer of each task wants (`intentOf`). Absent in earlier versions. */
  intents?: string[];
  /** In the order of steps. Step 0 is before training. */
  evaluations: ExperimentEvaluation[];
  /** The step of each value in `metrics`. */
  metricSteps: number[];
  /** Metric name → one value for each of `metricSteps`. Null if a step lacks the metric. */
  metrics: Record<string, (number | null)[]>;
}

/** An experiment with its results: the content of `*.mua-experiment.json`. */
export interface ExperimentContent {
  experiment: Experiment;
  runs: ExperimentRun[];
}

/** A stored experiment. */
export interface ExperimentRow extends Experiment {
  createdAt: number;
  /** Finished runs, at most one for each variant and seed. */
  results: ExperimentRun[];
  /** Time of the import from a file. */
  imported?: number;
  /** True if the experiment ships with the page and cannot be changed. */
  bundled?: boolean;
}
