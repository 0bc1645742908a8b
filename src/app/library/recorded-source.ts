/** @file A recorded run: a run bundle that comes with the page. The bundle is fetched when it is first needed. */
import type { RunContent } from '../../records/bundle.ts';
import type { EvaluationRow } from '../../records/evaluation.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { RunRow, StepMetrics } from '../../records/run.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { type RunSummary, summaryOfAll } from './run-summary.ts';
import { ROLLOUT_PAGE, type RunSource } from './source.ts';

/** The id of the recorded run that explains GRPO on the home page and in most lessons. */
export const RECORDED = 'recorded';
/** The bundled model that this run trained. */
export const RECORDED_WEIGHTS = 'nano-retail-grpo';
/** The id of the recorded run with the preset `timeouts`, which home tells as a story. */
export const RECORDED_TIMEOUTS = 'recorded-timeouts';

/** The id of the recorded run of SmolLM2-135M with the preset `smollm2`. The bundle has the tokens of its conversations. */
export const RECORDED_SMOLLM2 = 'recorded-smollm2';

/** The recorded runs, with the names of their files. `scripts/record-run.mts` makes the files. */
export const RECORDED_RUNS = [
  { id: RECORDED, file: 'run' },
  { id: RECORDED_TIMEOUTS, file: 'timeouts' },
  { id: RECORDED_SMOLLM2, file: 'smollm2' },
] as const;

/** The id of a recorded run's evaluation. */
export const recordedEvaluation = (run: string, when: 'before' | 'after') => `${run}-${when}`;

interface Content extends Omit<RunContent, 'run' | 'branches' | 'model' | 'evaluations'> {
  run: RunRow;
  /** The newest evaluation first. */
  evaluations: EvaluationRow[];
  byId: Map<string, Trajectory>;
}

export class RecordedSource implements RunSource {
  readonly readOnly = true;
  /** The id of the run in addresses. */
  readonly id: string;
  readonly #read: () => Promise<RunContent | null>;
  #content: Promise<Content | null> | null = null;
  readonly #carded = new Map<string, Promise<EvaluationRow>>();

  /** @param read resolves to null if this build does not have the run */
  constructor(id: string, read: () => Promise<RunContent | null>) {
    this.id = id;
    this.#read = read;
  }

  /** True if the evaluation belongs to this run. The answer does not need the bundle. */
  hasEvaluation(id: string): boolean {
    return this.evaluationIds.includes(id);
  }

  get evaluationIds(): string[] {
    return [recordedEvaluation(this.id, 'before'), recordedEvaluation(this.id, 'after')];
  }

  async runs(limit = Infinity): Promise<RunRow[]> {
    const content = await this.#load();
    return content && limit > 0 ? [content.run] : [];
  }

  async run(id: string): Promise<RunRow | undefined> {
    return (await this.#of(id))?.run;
  }

  async metrics(run: string): Promise<StepMetrics[]> {
    return (await this.#of(run))?.metrics ?? [];
  }

  async summary(run: string): Promise<RunSummary> {
    return summaryOfAll(await this.metrics(run));
  }

  /** Returns 0, because the bundle is a file of the page and needs none of the browser's storage. */
  async bytes(): Promise<number> {
    return 0;
  }

  async newestCheckpoint(): Promise<number> {
    return 0;
  }

  async checkpoints(): Promise<[]> {
    return [];
  }

  async rollouts(run: string): Promise<RolloutSummary[]> {
    return (await this.#of(run))?.rollouts.toSorted((a, b) => a.step - b.step) ?? [];
  }

  async rolloutPage(run: string, after: string): Promise<RolloutSummary[]> {
    const later = (await this.#of(run))?.rollouts.filter(({ id }) => id > after) ?? [];
    return later.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, ROLLOUT_PAGE);
  }

  async rollout(run: string, id: string): Promise<RolloutSummary | undefined> {
    return (await this.#of(run))?.rollouts.find((rollout) => rollout.id === id);
  }

  async group(run: string, group: string): Promise<RolloutSummary[]> {
    return (await this.#of(run))?.rollouts.filter((rollout) => rollout.group === group) ?? [];
  }

  async trajectoryIds(run: string): Promise<string[]> {
    return [...((await this.#of(run))?.byId.keys() ?? [])];
  }

  trajectories(run: string): Promise<Trajectory[]>;
  trajectories(run: string, ids: string[]): Promise<(Trajectory | undefined)[]>;
  async trajectories(run: string, ids?: string[]): Promise<(Trajectory | undefined)[]> {
    const content = await this.#of(run);
    return ids ? ids.map((id) => content?.byId.get(id)) : (content?.trajectories ?? []);
  }

  async trajectory(run: string, id: string): Promise<Trajectory | undefined> {
    return (await this.#of(run))?.byId.get(id);
  }

  async evaluations(run = this.id): Promise<EvaluationRow[]> {
    return (await this.#of(run))?.evaluations ?? [];
  }

  /** With what the scorecard needs, which takes some time to find. */
  async evaluation(id: string): Promise<EvaluationRow | undefined> {
    const row = (await this.evaluations()).find((one) => one.id === id);
    if (!row) return undefined;
    const carded = async () => {
      const { withCards } = await import('../../evaluation/trial-card.ts');
      return { ...row, results: await withCards(row.results, await this.trials(id)) };
    };
    if (!this.#carded.has(id)) this.#carded.set(id, carded());
    return this.#carded.get(id);
  }

  async trials(evaluation: string): Promise<RunContent['trials']> {
    return (await this.#load())?.trials.filter((trial) => trial.evaluation === evaluation) ?? [];
  }

  async trial(evaluation: string, id: string): Promise<Trajectory | undefined> {
    return (await this.trials(evaluation)).find((trial) => trial.id === id);
  }

  async describeRun(): Promise<never> {
    throw new Error('the recorded run is part of this page and cannot be changed');
  }

  async deleteRun(): Promise<never> {
    throw new Error('the recorded run is part of this page and cannot be deleted');
  }

  async deleteEvaluation(): Promise<never> {
    throw new Error('the evaluations of the recorded run are part of this page and cannot be deleted');
  }

  atOnce<T>(read: () => Promise<T>): Promise<T> {
    return read();
  }

  async #of(run: string): Promise<Content | null> {
    return run === this.id ? this.#load() : null;
  }

  /** Null if the recorded run is missing or unreadable. The page then does not show it. */
  #load(): Promise<Content | null> {
    this.#content ??= (async () => {
      const read = await this.#read();
      if (!read) return null;
      const { evaluationRow } = await import('./evaluation-row.ts');
      const { metrics, rollouts, trajectories, trials } = read;
      const run: RunRow = { ...read.run, id: this.id, recorded: true };
      const evaluations = read.evaluations.map((evaluation) => ({
        ...evaluationRow(
          run,
          evaluation,
          trials.filter((trial) => trial.evaluation === evaluation.id),
        ),
        recorded: true,
      }));
      const byId = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
      return { run, metrics, rollouts, trajectories, trials, evaluations: evaluations.reverse(), byId };
    })().catch((error: unknown) => {
      console.warn(`recorded run ${this.id}:`, error);
      return null;
    });
    return this.#content;
  }
}

export const recordedSources = (): RecordedSource[] =>
  RECORDED_RUNS.map(({ id, file }) => new RecordedSource(id, () => fetchBundle(`recorded/${file}.mua.zip`)));

async function fetchBundle(path: string): Promise<RunContent | null> {
  // Loads the reader of bundles only here, to keep the page's first script small.
  const [response, { readRunBundle }] = await Promise.all([fetch(path), import('../../exchange/run-bundle.ts')]);
  return response.ok ? readRunBundle(await response.blob()) : null;
}
