/**
 * @file Trains the runs of an experiment one after another, without freeing the GPU between them. The queue of runs is
 * computed only from what is stored. So it continues after a reload, and an interrupted run continues from its checkpoint.
 */
import { DeviceLosses } from './device-losses.ts';
import type { RunRow } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import { beginningWith } from '../base/key-range.ts';
import { begunRun } from '../experiments/plan.ts';
import { ExperimentQueue, type ExperimentStore, type QueuedRun, type RunLogs } from '../experiments/queue.ts';
import type { RunDatabase } from '../storage/database.ts';
import { greedyId } from './database-sink.ts';
import type { GpuTurns } from './gpu-turns.ts';
import type { Runs } from './runs.ts';
import type { SessionParts } from './session-parts.ts';

/** How long to wait after a lost device: the GPU process restarts within a second. */
const RESTART_MS = 1000;

interface Active {
  id: string;
  stopping: boolean;
}

export class Experiments {
  readonly #parts: SessionParts;
  readonly #runs: Runs;
  readonly #turns: GpuTurns;
  #active: Active | null = null;

  constructor(parts: SessionParts, runs: Runs, turns: GpuTurns) {
    this.#parts = parts;
    this.#runs = runs;
    this.#turns = turns;
  }

  get active(): string | null {
    return this.#active?.id ?? null;
  }

  /**
   * Trains the remaining runs of an experiment. Resolves when the queue is empty, or when a run was stopped.
   * @param user the customer with its API key, which is never stored
   * @throws Error if the GPU is in use for something else, or if a run fails
   */
  async run(id: string, user?: UserConfig): Promise<void> {
    const release = await this.#turns.take('experiment');
    const active: Active = { id, stopping: false };
    this.#active = active;
    try {
      const db = this.#parts.database();
      if (!(await db.experiments.get(id))) throw new Error(`there is no experiment "${id}" in this browser`);
      const queue = new ExperimentQueue(databaseStore(db, id));
      const losses = new DeviceLosses();
      while (!active.stopping) {
        const [queued] = await queue.pending();
        if (!queued) return;
        const { pair, request } = queued;
        if (request.lora !== undefined)
          throw new Error(
            `the experiment names the adapter "${request.lora}" (lora): expected none in the browser. Import the model with its adapter under Models, and name it as model`,
          );
        const run = await this.#train(db, queued, active, user);
        if (run.status === 'done') await queue.finish(pair, await logsOf(db, run.id));
        else if (run.status === 'stopped') return;
        else if (run.status === 'interrupted' && losses.add()) await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
        else throw new Error(`run "${run.name}" (${pair.variant}, seed ${pair.seed}) ended: ${run.message ?? run.status}`);
      }
    } finally {
      this.#active = null;
      await release();
    }
  }

  /** Ends the queue after the current step. Finished runs and steps are kept. */
  async stop(): Promise<void> {
    if (!this.#active) return;
    this.#active.stopping = true;
    await this.#runs.stop();
  }

  /** Trains one run to its end and returns its row. */
  async #train(db: RunDatabase, { pair, request }: QueuedRun, active: Active, user?: UserConfig): Promise<RunRow> {
    const begun = begunRun(await db.runs.where('experiment').equals(active.id).toArray(), active.id, pair);
    const options = { experiment: active.id, variant: pair.variant, gpuTaken: true };
    let run = begun?.id;
    if (begun && begun.status !== 'done') await this.#runs.resume(begun.id, user ?? request.user, options);
    else if (!begun) run = await this.#runs.start({ ...request, user: user ?? request.user }, options);
    if (active.stopping) await this.#runs.stop(); // `stop` was called while the run was launched
    await this.#runs.finished;
    return (await db.runs.get(run!))!;
  }
}

const databaseStore = (db: RunDatabase, id: string): ExperimentStore => ({
  async read() {
    const row = await db.experiments.get(id);
    return row && { experiment: row, runs: row.results };
  },
  add: (run) =>
    db.transaction('rw', db.experiments, async () => {
      const row = await db.experiments.get(id);
      if (row) await db.experiments.update(id, { results: [...row.results, run] });
    }),
});

async function logsOf(db: RunDatabase, run: string): Promise<RunLogs> {
  const metrics = (await beginningWith(db.metrics, run).toArray()).map(({ values }) => values);
  const stored = await db.evaluations.where('run').equals(run).toArray();
  // Only the evaluations that the run made itself. The visitor may have evaluated its checkpoints on other tasks.
  const evaluations = stored.flatMap(({ id, model, report, results }) => {
    if (model.kind !== 'run' || id !== `${run}@${model.step}`) return [];
    const greedy = stored.find((other) => other.id === greedyId(run, model.step));
    return [{ step: model.step, report, results, ...(greedy && { greedy }) }];
  });
  return { run, metrics, evaluations };
}
