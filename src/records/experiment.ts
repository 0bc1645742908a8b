/** @file An experiment: variants × seeds of one question, and what is kept of each of its runs. */
import type { BrowserUser, UserConfig } from './user.ts';

/** Settings by name (`GrpoConfig`), only those that differ. */
export type Overrides = Record<string, string | number | boolean>;

export interface ExperimentBase {
  preset: string;
  /** Name of a bundled model, or id of an imported model. Absent: the preset's model. */
  model?: string;
  overrides: Overrides;
  /** The simulated customer, without its API key. */
  user: UserConfig;
  /** The customer of the held-out evaluations of all variants. Absent: the customer of the training. */
  val_user?: BrowserUser;
}

/** What one variant changes in the base. */
export interface ExperimentVariant {
  name: string;
  preset?: string;
  model?: string;
  overrides: Overrides;
  user?: BrowserUser;
}

export interface Experiment {
  id: string;
  name: string;
  /** What the experiment asks, in one sentence. */
  question: string;
  base: ExperimentBase;
  /** At least one; names differ. */
  variants: ExperimentVariant[];
  /** The variant that the others are compared with. */
  baseline: string;
  seeds: number[];
  /** Settings of the held-out evaluation. They are the same for all variants, so that tasks and seeds pair. */
  evaluation: Overrides;
}

/** One held-out evaluation of a run. `success[i]` is 1, 0, or null (not scored) for `tasks[i]` of the run. */
export interface ExperimentEvaluation {
  step: number;
  success: (0 | 1 | null)[];
  /**
   * Figures of the scored trials, by name: `turns` (mean), `hand_overs` (share that ended with a terminal tool), and `confirmed_writes`
   * (share of writes with the customer's yes; absent without writes, or where the domain is not audited).
   */
  figures: Record<string, number>;
}

/** A finished run of one variant and one seed: all that the analysis reads. */
export interface ExperimentRun {
  variant: string;
  seed: number;
  /** Id of the run in the browser that trained it. */
  run?: string;
  steps: number;
  /** Time of its steps and evaluations, without pauses. */
  seconds: number;
  /** The held-out tasks, in the order of every `success`. */
  tasks: string[];
  /** By step. Step 0 is before training. */
  evaluations: ExperimentEvaluation[];
  /** The steps of `metrics`. */
  metricSteps: number[];
  /** Values by metric name; null where a step lacks the metric. */
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
  /** It comes with the page and cannot be changed. */
  bundled?: boolean;
}
