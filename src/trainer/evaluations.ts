/**
 * @file Plays the evaluations that the page requests, one after another, and stores them in this browser. Runs store their
 * held-out evaluations with `keepEvaluation`. Weights are never sent to the page.
 */
import type { SessionParts } from './session-parts.ts';
import type { Progress } from './messages.ts';
import type { EvaluationReport, EvaluationRequest } from '../records/evaluation.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import { evaluationTasks } from '../environments/task-order.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import { limitsOf } from '../evaluation/types.ts';
import type { RunDatabase } from '../storage/database.ts';
import { useRun } from '../storage/run-lock.ts';
import { abortOnLoss, type EngineHost } from './engine-host.ts';
import { fittedLimits } from './fitted.ts';
import { firstFiles, modelName, withCheckpoint } from './model-ref.ts';
import type { GpuTurns } from './gpu-turns.ts';

/** Episodes that are played at the same time. */
const SLOTS = 64;

export class Evaluations {
  readonly #parts: SessionParts;
  readonly #host: EngineHost;
  readonly #turns: GpuTurns;
  #abort: AbortController | null = null;

  constructor(parts: SessionParts, host: EngineHost, turns: GpuTurns) {
    this.#parts = parts;
    this.#host = host;
    this.#turns = turns;
  }

  /** Plays the evaluations one after another and returns their ids. Each is stored when it ends. @throws if one fails or is cancelled */
  async run(requests: readonly EvaluationRequest[], progress: Progress): Promise<string[]> {
    const abort = new AbortController();
    const release = await this.#turns.take('evaluate', abort);
    this.#abort = abort;
    const unwatch = abortOnLoss(this.#host, abort);
    try {
      const ids: string[] = [];
      for (const [i, request] of requests.entries()) {
        const label = requests.length > 1 ? `evaluation ${i + 1} of ${requests.length}` : 'evaluation';
        const unuse = request.model.kind === 'run' ? await useRun(request.model.run) : async () => {};
        const played = this.#play(request, abort.signal, (done, total) => progress(done, total, label));
        ids.push(await played.finally(unuse));
      }
      return ids;
    } finally {
      unwatch();
      this.#abort = null;
      await release();
    }
  }

  cancel(): void {
    this.#abort?.abort(new Error('the evaluation was cancelled'));
  }

  async #play(
    { model, settings: asked }: EvaluationRequest,
    signal: AbortSignal,
    onProgress: (done: number, total: number) => void,
  ): Promise<string> {
    const db = this.#parts.database();
    const name = await modelName(this.#parts, model);
    const { files, ...storedAs } = await withCheckpoint(this.#parts, model, await firstFiles(this.#parts, model));
    const settings = { ...asked, limits: await fittedLimits(this.#parts.environments, files, asked, asked.limits) };
    onProgress(0, settings.tasks * settings.trials);
    const slots = Math.min(SLOTS, settings.tasks * settings.trials);
    const size = { maxModelLen: settings.limits.max_model_len, slots };
    const { stage } = await this.#host.stage(files, settings, settings.user, size, storedAs);
    signal.throwIfAborted();
    const { domain, level, split, seed, conditions } = settings;
    const tasks = await evaluationTasks(stage, { domain, level, split, seed, count: settings.tasks, conditions });
    if (tasks.length === 0) throw new Error(`split "${split}" of ${domain} has no tasks`);
    const { report, trajectories } = await evaluate(stage, {
      tasks,
      trials: settings.trials,
      limits: settings.limits,
      sampling: settings,
      seed,
      firstStream: settings.first_stream,
      concurrency: slots,
      signal,
      onProgress,
    });
    const id = crypto.randomUUID();
    await keepEvaluation(db, { id, model, name, settings, report, trajectories });
    return id;
  }
}

interface Finished extends EvaluationRequest {
  id: string;
  name: string;
  report: EvaluationReport;
  trajectories: readonly Trajectory[];
}

/** Writes an evaluation with its trajectories in one transaction. */
export async function keepEvaluation(db: RunDatabase, { id, model, name, settings, report, trajectories }: Finished): Promise<void> {
  await db.transaction('rw', [db.evaluations, db.evaluationTrajectories], async () => {
    await db.evaluations.put({
      id,
      createdAt: Date.now(),
      run: model.kind === 'run' ? model.run : '',
      model,
      name,
      settings: { ...settings, limits: limitsOf(settings.limits), user: withoutKey(settings.user) },
      report,
      results: trajectories.map(resultOf),
    });
    await db.evaluationTrajectories.bulkPut(trajectories.map((trajectory) => ({ evaluation: id, ...trajectory })));
  });
}

/** The simulated user without its API key, for storage. */
export function withoutKey(user: UserConfig): UserConfig {
  if (user.mode !== 'endpoint') return user;
  const { apiKey: _, ...rest } = user;
  return rest;
}
