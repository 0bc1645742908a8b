/**
 * @file Plays the evaluations that the page requests, one after another, and stores them in this browser. Runs store their
 * held-out evaluations with `keepEvaluation`. Weights are never sent to the page.
 */
import type { SessionParts } from './session-parts.ts';
import type { Progress } from './messages.ts';
import type { Stage } from '../agent/rollouts.ts';
import type { AgentServer } from '../records/agent-server.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { EvaluatedModel, EvaluationReport, EvaluationRequest, EvaluationSettings, TrialResult } from '../records/evaluation.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import { evaluationTasks } from '../environments/task-order.ts';
import { goldTurns } from '../benchmarks/tasks.ts';
import { playerOf } from '../evaluation/agents.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { nextCalls } from '../evaluation/next-call.ts';
import { withCards } from '../evaluation/trial-card.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import { isForeignModel, limitsOf, usesGpu } from '../evaluation/types.ts';
import type { RunDatabase } from '../storage/database.ts';
import { useRun } from '../storage/run-lock.ts';
import { withScore } from './benchmark-score.ts';
import { abortOnLoss, type EngineHost } from './engine-host.ts';
import { fittedLimits } from './fitted.ts';
import { firstFiles, modelName, withCheckpoint } from './model-ref.ts';
import type { GpuTurns } from './gpu-turns.ts';
import { agentsOf, SERVER_SLOTS, serverLimits, serverStage, TAB_PLAN, tabAgents, tabName } from './server-stage.ts';

/** Episodes that are played at the same time. */
const SLOTS = 64;

export class Evaluations {
  readonly #parts: SessionParts;
  readonly #host: EngineHost;
  readonly #turns: GpuTurns;
  /** Evaluations without a GPU can run beside others. */
  readonly #running = new Set<AbortController>();

  constructor(parts: SessionParts, host: EngineHost, turns: GpuTurns) {
    this.#parts = parts;
    this.#host = host;
    this.#turns = turns;
  }

  /** Plays the evaluations one after another and returns their ids. Each is stored when it ends. @throws if one fails or is cancelled */
  async run(requests: readonly EvaluationRequest[], progress: Progress): Promise<string[]> {
    const abort = new AbortController();
    const needsGpu = requests.some(({ model, settings }) => usesGpu(model, settings.user));
    const release = needsGpu ? await this.#turns.take('evaluate', abort) : async () => {};
    this.#running.add(abort);
    const unwatch = needsGpu ? abortOnLoss(this.#host, abort) : () => {};
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
      this.#running.delete(abort);
      await release();
    }
  }

  cancel(): void {
    for (const abort of this.#running) abort.abort(new Error('the evaluation was cancelled'));
  }

  async #play(
    { model, settings: asked }: EvaluationRequest,
    signal: AbortSignal,
    onProgress: (done: number, total: number) => void,
  ): Promise<string> {
    const db = this.#parts.database();
    const { name, settings, limits, stage, slots, maxRetries } = await this.#prepare(model, asked, onProgress, signal);
    signal.throwIfAborted();
    const { domain, level, split, seed, conditions } = settings;
    const tasks = await evaluationTasks(stage, { domain, level, split, seed, count: settings.tasks, conditions });
    if (tasks.length === 0) throw new Error(`split "${split}" of ${domain} has no tasks`);
    const plan = { tasks, limits, sampling: settings, seed, firstStream: settings.first_stream, concurrency: slots, maxRetries, signal };
    const { report, trajectories } = await evaluate(stage, {
      ...plan,
      trials: settings.trials,
      player: await playerOf(settings.agent, stage.domain),
      onProgress,
    });
    const next_call = settings.next_call && (await nextCalls(stage, { ...plan, gold: goldTurns }));
    const id = crypto.randomUUID();
    await keepEvaluation(db, {
      id,
      model,
      name: settings.agent ? `${name} + ${settings.agent.replace('_', ' ')}` : name,
      settings,
      report: { ...withScore(report, domain), ...(next_call && { next_call }) },
      results: await resultsOf(trajectories),
      trajectories,
    });
    return id;
  }

  async #prepare(
    model: EvaluatedModel,
    asked: EvaluationSettings,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<Prepared> {
    const total = asked.tasks * asked.trials;
    if (isForeignModel(model)) {
      onProgress(0, total);
      const agents = model.kind === 'server' ? agentsOf(model) : await tabAgents(this.#parts.tabModels, model, signal);
      const stage = await serverStage(this.#parts, asked, asked.user, agents);
      const own = model.kind === 'server' ? { name: model.model, slots: SERVER_SLOTS } : { name: tabName(model), ...TAB_PLAN };
      return { ...own, settings: asked, limits: serverLimits(asked.limits), stage };
    }
    const name = await modelName(this.#parts, model);
    const { files, ...storedAs } = await withCheckpoint(this.#parts, model, await firstFiles(this.#parts, model));
    const limits = await fittedLimits(this.#parts.environments, files, asked, asked.limits);
    onProgress(0, total);
    const slots = Math.min(SLOTS, total);
    const { stage } = await this.#host.stage(files, asked, asked.user, { maxModelLen: limits.max_model_len, slots }, storedAs);
    return { name, settings: { ...asked, limits }, limits, stage, slots };
  }
}

interface Prepared {
  name: string;
  settings: EvaluationSettings;
  limits: EpisodeLimits;
  stage: Stage;
  slots: number;
  maxRetries?: number;
}

interface Finished extends EvaluationRequest {
  id: string;
  name: string;
  report: EvaluationReport;
  results: TrialResult[];
  trajectories: readonly Trajectory[];
}

/** The results of trials, with what the scorecard needs. It loads code, so it must not be awaited in a transaction. */
export const resultsOf = (trajectories: readonly Trajectory[]): Promise<TrialResult[]> =>
  withCards(trajectories.map(resultOf), trajectories);

/** Writes an evaluation with its trajectories in one transaction. @param finished.results those of `resultsOf` */
export async function keepEvaluation(
  db: RunDatabase,
  { id, model, name, settings, report, results, trajectories }: Finished,
): Promise<void> {
  await db.transaction('rw', [db.evaluations, db.evaluationTrajectories], async () => {
    await db.evaluations.put({
      id,
      createdAt: Date.now(),
      run: model.kind === 'run' ? model.run : '',
      model: model.kind === 'server' ? withoutKey(model) : model,
      name,
      settings: { ...settings, limits: limitsOf(settings.limits), user: withoutKey(settings.user) },
      report,
      results,
    });
    await db.evaluationTrajectories.bulkPut(trajectories.map((trajectory) => ({ evaluation: id, ...trajectory })));
  });
}

/** A simulated user or the server of an agent without its API key, for storage. */
export function withoutKey<T extends UserConfig | AgentServer>(config: T): T {
  const { apiKey: _, ...rest } = { apiKey: undefined, ...config };
  return rest as T;
}
