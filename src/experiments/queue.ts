/** @file The queue of an experiment: finds the pairs without a finished run, in order, and stores the result of each finished run. */
import type { EvaluationReport, TrialResult } from '../records/evaluation.ts';
import type { ExperimentContent, ExperimentRun } from '../records/experiment.ts';
import type { StepMetrics } from '../records/run.ts';
import { experimentRun } from './collect.ts';
import { configOf, type ExperimentRequest, type Pair, pendingPairs, requestOf } from './plan.ts';

/** The place where an experiment is stored: the page's database, or the folder of the command line. */
export interface ExperimentStore {
  /** Reads the definition and the finished runs. Undefined if the experiment was deleted. */
  read(): Promise<ExperimentContent | undefined>;
  /** Stores a finished run. Does nothing if the experiment was deleted. */
  add(run: ExperimentRun): Promise<void>;
}

export interface QueuedRun {
  pair: Pair;
  request: ExperimentRequest;
}

/** The logs of a finished run. */
export interface RunLogs {
  run?: string;
  /** The metrics of each step. They may include step 0, the evaluation before training. */
  metrics: readonly StepMetrics[];
  evaluations: readonly (Played & { step: number; greedy?: Played })[];
}

interface Played {
  report: Pick<EvaluationReport, 'seconds'>;
  results: readonly TrialResult[];
}

/** The queue depends only on what is stored, so it can continue after every interruption. */
export class ExperimentQueue {
  readonly #store: ExperimentStore;

  constructor(store: ExperimentStore) {
    this.#store = store;
  }

  /** The remaining runs, in order. */
  async pending(): Promise<QueuedRun[]> {
    const content = await this.#store.read();
    if (!content) return [];
    const { experiment, runs } = content;
    return pendingPairs(experiment, runs).map((pair) => ({ pair, request: requestOf(experiment, pair) }));
  }

  /** Stores those results of a finished run that the analysis needs. */
  async finish(pair: Pair, { evaluations, ...logs }: RunLogs): Promise<void> {
    const content = await this.#store.read();
    if (!content) return;
    const timed = evaluations.map(({ step, report, results, greedy }) => ({
      step,
      results,
      ...(greedy && { greedy: greedy.results }),
      seconds: report.seconds + (greedy?.report.seconds ?? 0),
    }));
    await this.#store.add(experimentRun({ ...pair, ...logs, config: configOf(content.experiment, pair), evaluations: timed }));
  }
}
