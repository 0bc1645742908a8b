/** @file The queue of an experiment: the pairs without a finished run, in order, and what is kept of a run that is done. */
import type { EvaluationReport, TrialResult } from '../records/evaluation.ts';
import type { ExperimentContent, ExperimentRun } from '../records/experiment.ts';
import type { RunRequest, StepMetrics } from '../records/run.ts';
import { experimentRun } from './collect.ts';
import { configOf, type Pair, pendingPairs, requestOf } from './plan.ts';

/** Where an experiment is stored: the page's database, or the folder of the command line. */
export interface ExperimentStore {
  /** The definition and the finished runs; undefined if the experiment was deleted. */
  read(): Promise<ExperimentContent | undefined>;
  /** Stores a finished run. Does nothing if the experiment was deleted. */
  add(run: ExperimentRun): Promise<void>;
}

export interface QueuedRun {
  pair: Pair;
  request: RunRequest;
}

/** The logs of a run that is done. */
export interface RunLogs {
  run?: string;
  /** By step. Step 0, the evaluation before training, may be among them. */
  metrics: readonly StepMetrics[];
  evaluations: readonly { step: number; report: Pick<EvaluationReport, 'seconds'>; results: readonly TrialResult[] }[];
}

/** The queue depends only on what is stored, so it goes on after any interruption. */
export class ExperimentQueue {
  readonly #store: ExperimentStore;

  constructor(store: ExperimentStore) {
    this.#store = store;
  }

  /** The runs that are still to do, in order. */
  async pending(): Promise<QueuedRun[]> {
    const content = await this.#store.read();
    if (!content) return [];
    const { experiment, runs } = content;
    return pendingPairs(experiment, runs).map((pair) => ({ pair, request: requestOf(experiment, pair) }));
  }

  /** Keeps what the analysis reads of a run that is done. */
  async finish(pair: Pair, { evaluations, ...logs }: RunLogs): Promise<void> {
    const content = await this.#store.read();
    if (!content) return;
    const timed = evaluations.map(({ step, report, results }) => ({ step, results, seconds: report.seconds }));
    await this.#store.add(experimentRun({ ...pair, ...logs, config: configOf(content.experiment, pair), evaluations: timed }));
  }
}
