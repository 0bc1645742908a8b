/**
 * @file `mua evaluate`: measures how often a model, here or behind a server, succeeds on generated tasks, or on the tasks of an imported benchmark under
 * the benchmark's rules.
 */
import { canonicalJson } from '../base/json.ts';
import { InputError } from '../base/input-error.ts';
import type { Stage } from '../agent/rollouts.ts';
import type { StartAgent } from '../agent/server/agents.ts';
import { goldTurns } from '../benchmarks/tasks.ts';
import { resultsFormat } from '../benchmarks/recorded-results.ts';
import { conditionsOf } from '../environments/conditions.ts';
import { evaluationTasks } from '../environments/task-order.ts';
import { customerQuality } from '../evaluation/customer-quality.ts';
import { playerOf } from '../evaluation/agents.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { isTaught, nextCalls } from '../evaluation/next-call.ts';
import { perturbed, perturbedWorld } from '../evaluation/perturb.ts';
import { pairedDifference, pairTrials } from '../evaluation/paired.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import { reliabilityCard } from '../evaluation/reliability/card.ts';
import { type ReliabilityTrial, reliabilityTrial } from '../evaluation/reliability/trial.ts';
import { STYLES } from '../records/dataset.ts';
import type { TrialResult } from '../records/evaluation.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { Perturbation } from '../records/reliability.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import { evaluationConfig, habitsOf } from '../training/config.ts';
import { COMPARED, overlapOf, spoken, utterancesOf } from '../training/utterance-overlap.ts';
import { concurrency, type EngineHost, sizeOf, slotsWithin } from './engine-host.ts';
import { withScore } from './benchmark-score.ts';
import { agentsOf, SERVER_SLOTS, serverLimits, serverStage } from './server-stage.ts';
import { fitted } from './fitted.ts';
import type { EvaluatedCustomer, EvaluateOptions, EvaluateReport, EvaluateResult, EvaluationSink } from './messages.ts';
import type { SessionParts } from './session-parts.ts';

/**
 * Plays the tasks with each customer, one customer after another.
 * @throws InputError if no task is selected, or if the earlier trials belong to other tasks; errors of the sink
 */
export async function evaluateModel(
  parts: SessionParts,
  host: EngineHost,
  model: ModelParts,
  options: EvaluateOptions,
  customers: readonly EvaluatedCustomer[],
  sink: EvaluationSink,
): Promise<EvaluateResult> {
  const { domain, level, split, select, seed } = options;
  const { environments } = parts;
  const config = await fitted(environments, model, evaluationConfig(options), options.settings);
  if (options.server && isStyle(config.val_agent))
    throw new InputError(
      `setting "val_agent" is "${config.val_agent}": a demonstrator asks no server; expected model, guard or two_guards`,
    );
  const played = { domain: await environments.domain(domain, level), environments };
  const chosen = await evaluationTasks(played, {
    domain,
    level,
    split,
    seed,
    count: options.tasks,
    conditions: conditionsOf(config, 'val'),
    ...(select && { select }),
  });
  const tasks = options.skip_noop ? chosen.filter(({ noop }) => !noop) : chosen;
  if (chosen.length === 0) throw new InputError(`split "${split}" of ${domain} has no tasks`);
  if (tasks.length === 0) throw new InputError(`all ${chosen.length} tasks change nothing: without them no task is left`);
  if (options.next_call && !tasks.some(isTaught))
    throw new InputError(`next_call is true: expected tasks with known calls and a scripted user, not tasks of ${domain}`);
  const agents = options.server && agentsOf(options.server);
  const what = customers.some((customer) => customer.perturbed) ? 'under condition' : 'with customer';
  const own = await Promise.all(customers.map(({ perturbed: kind }) => (kind ? perturbed(kind, tasks, played.domain) : tasks)));
  customers.forEach(({ done = [] }, i) => checkDone(done, own[i] ?? []));
  const evaluated: (Played | null)[] = [];
  for (const [i, { user, done = [], perturbed: kind }] of customers.entries()) {
    if (!own[i]) {
      evaluated.push(null);
      continue;
    }
    const label = customers.length > 1 ? `episodes ${what} ${i + 1} of ${customers.length}` : 'episodes';
    evaluated.push(
      await play(
        parts,
        host,
        model,
        { ...options, config, tasks: own[i], user, done, agents, kind },
        (count, total) => sink.progress(count, total, label),
        (trial) => sink.trial(i, trial),
      ),
    );
  }
  const ended = evaluated.filter((one) => one !== null);
  const [first, ...others] = ended.map(({ results }) => results);
  // Only this split is made to be new, and 2,000 conversations take some time.
  const trained =
    split === 'unseen' ? await spoken(environments, { domain, level, seed }, 'train', COMPARED.train, sink.progress.bind(sink)) : null;
  const { temperature, trials } = options;
  const named = select ? ('split' in select ? select.split : 'named tasks') : split;
  const card = options.card && {
    card: reliabilityCard(
      { ...options.card, domain, level, split: named, seed, temperature, tasks: tasks.length, trials },
      evaluated.map((one, i) => ({ kind: customers[i]!.perturbed, trials: one && one.reliability })),
    ),
  };
  return {
    ...card,
    reports: ended.map(({ report, said }) => ({
      ...report,
      noop_skipped: chosen.length - tasks.length,
      ...(trained && { seen_utterances: overlapOf(trained, said) }),
    })),
    differences: others.map((other) => pairedDifference(pairTrials(first!, other))),
  };
}

interface Played {
  report: EvaluateReport;
  /** What the customers said. */
  said: string[];
  results: TrialResult[];
  /** Empty without a card. */
  reliability: ReliabilityTrial[];
}

interface Plan extends Omit<EvaluateOptions, 'tasks'> {
  config: GrpoConfig;
  tasks: Task[];
  user: UserConfig;
  done: Trajectory[];
  /** Those of a model behind a server, for all customers. */
  agents: StartAgent | undefined;
  kind: Perturbation | undefined;
}

/** What the episodes need, and how many are played at once. */
async function stageOf(
  parts: SessionParts,
  host: EngineHost,
  model: ModelParts,
  { config, domain, level, user, agents, precision }: Plan,
): Promise<{ stage: Stage; limits: EpisodeLimits; slots: number }> {
  const place = { domain, level, conversation_rules: config.conversation_rules };
  if (agents) return { stage: await serverStage(parts, place, user, agents), limits: serverLimits(config), slots: SERVER_SLOTS };
  const slots = Math.min(concurrency(config), slotsWithin(model, config.max_model_len));
  const storedAs = { precision, kv_cache_dtype: config.kv_cache_dtype };
  return { stage: (await host.stage(model, place, user, sizeOf(config, slots), storedAs)).stage, limits: config, slots };
}

async function play(
  parts: SessionParts,
  host: EngineHost,
  model: ModelParts,
  plan: Plan,
  onProgress: (done: number, total: number) => void,
  onTrial: (trajectory: Trajectory) => void | Promise<void>,
): Promise<Played> {
  const { config, seed, trials, user, done, ...options } = plan;
  const { stage: plain, limits, slots } = await stageOf(parts, host, model, plan);
  const stage = { ...plain, environments: perturbedWorld(plan.kind, plain.environments) };
  const startedAt = Date.now();
  const abort = new AbortController();
  const stored: Promise<void>[] = [];
  const common = {
    tasks: options.tasks,
    limits,
    sampling: { temperature: options.temperature, top_p: config.top_p, top_k: config.top_k },
    seed,
    firstStream: 0,
    concurrency: slots,
    signal: abort.signal,
  };
  const { report, trajectories } = await evaluate(stage, {
    ...common,
    trials,
    done,
    player: await playerOf(config.val_agent, stage.domain, habitsOf(config)),
    onProgress,
    onTrial: (trial) => void stored.push(Promise.resolve(onTrial(trial)).catch((error: unknown) => abort.abort(error))),
  });
  await Promise.all(stored);
  abort.signal.throwIfAborted();
  const next_call = options.next_call ? await nextCalls(stage, { ...common, gold: goldTurns }) : undefined;
  const results = trajectories.map(resultOf);
  return {
    report: {
      ...withScore(report, options.domain),
      ...(next_call && { next_call }),
      customer: customerQuality(results),
      ...(options.results && {
        results: resultsFormat(options.results.benchmark).write!(trajectories, {
          domain: stage.domain,
          trials,
          seed,
          agent: options.results.model,
          user: user.mode === 'scripted' ? null : user.model,
          temperature: options.temperature,
          startedAt,
          limits: stage.rules,
        }),
      }),
    },
    said: trajectories.flatMap(({ nodes }) => utterancesOf(nodes)),
    results,
    reliability: options.card ? await Promise.all(trajectories.map(reliabilityTrial)) : [],
  };
}

const isStyle = (agent: string): boolean => (STYLES as readonly string[]).includes(agent);

/** Checks that the trials that are already done belong to these tasks. The data of a benchmark may have changed since. */
function checkDone(done: readonly Trajectory[], tasks: readonly Task[]): void {
  for (const { group, task } of done) {
    const now = tasks[Number(group.split('-').at(-1))];
    if (!now || canonicalJson(now) !== canonicalJson(task))
      throw new InputError(`task "${task.id}" is not the one that was played before: expected the tasks of the evaluation that goes on`);
  }
}
