/**
 * @file A whole run with any training method: a held-out evaluation before training, the steps with evaluations between them,
 * and a last evaluation.
 */
import { NothingScoredError, type Stage } from '../agent/rollouts.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { conditionsOf } from '../environments/conditions.ts';
import { evaluationTasks } from '../environments/task-order.ts';
import type { Learner } from '../engine/types.ts';
import { playerOf } from '../evaluation/agents.ts';
import { evaluate, type Evaluation, type EvaluationPlan } from '../evaluation/evaluate.ts';
import { reportOf } from '../evaluation/report.ts';
import type { EvaluationReport } from '../records/evaluation.ts';
import type { GrpoConfig, StepMetrics } from '../records/run.ts';
import type { Task } from '../records/task.ts';
import { habitsOf } from './config.ts';
import { type Alarm, alarmsOf } from './alarms.ts';
import { trainingTasks } from './training-tasks.ts';
import { evaluatesAfter, evaluatesFirst, valDomains, validationSampling, valSplit } from './evaluation-settings.ts';
import { grpoStep } from './grpo.ts';
import { EVALUATION_STREAM } from './presets.ts';
import { rftStep } from './rft.ts';
import { sftStep } from './sft-run.ts';
import { trainingStage } from './simulated-tools.ts';
import type { StepHooks } from './step-batch.ts';
import type { UserSimulator } from '../users/types.ts';
import type { StepResult } from './step-result.ts';

const STEPS: Record<GrpoConfig['algorithm'], typeof grpoStep> = { grpo: grpoStep, rft: rftStep, sft: sftStep };

export interface RunHooks extends StepHooks {
  /** Number of steps that are already done. A resumed run starts after them. */
  doneSteps?: number;
  /**
   * The metrics of the steps that are done. Alarms compare later steps with them. If they contain step 0, the evaluation before
   * training is also done.
   */
  doneMetrics?: readonly StepMetrics[];
  /** Called when the run ends early because of this alarm. */
  onAlarm?: (alarm: Alarm) => void;
  onStepStart?: (step: number) => void;
  onEvaluationProgress?: (done: number, total: number) => void;
  /** `onTrialStart` is called when a held-out trial starts, and `onTrial` when it ends. */
  onTrialStart?: EvaluationPlan['onTrialStart'];
  onTrial?: EvaluationPlan['onTrial'];
  /** The next step waits for the returned promise. `evaluation` is null if the step was not evaluated or no episode could be scored. */
  onStep: (result: StepResult, evaluation: Evaluation | null) => Promise<void>;
  /** Gets the evaluation before the first step. */
  onBaseline: (evaluation: Evaluation, usage: Record<string, number>) => Promise<void>;
  /** The customers of the held-out evaluations. Default: the customers of `stage`. */
  valUsers?: UserSimulator;
  /** Returns, as metrics, what the customer has used since the last call (see `MeteredUsers.takeMetrics`). */
  takeUsage?: () => Record<string, number>;
  /** Called before every step, after the gate. If it returns true, the run ends early. */
  shouldStop?: () => boolean;
}

/** The metrics of an evaluation, with verl's names: val-core/<source>/reward/mean@1. Each domain of the evaluation is a source. */
export function evaluationMetrics(evaluation: Evaluation, config: GrpoConfig): Record<string, number> {
  const domains = valDomains(config);
  const of = (domain: string, { report, trajectories }: Evaluation) =>
    domains.length === 1
      ? report
      : reportOf(
          trajectories.filter(({ task }) => task.domain === domain),
          report.trials,
          report.seconds,
        );
  const { greedy } = evaluation;
  return Object.fromEntries(
    domains.flatMap((domain) =>
      Object.entries(sourceMetrics(`${domain}-${config.level}`, of(domain, evaluation), greedy && of(domain, greedy))),
    ),
  );
}

function sourceMetrics(source: string, report: EvaluationReport, greedy?: EvaluationReport): Record<string, number> {
  return {
    [`val-core/${source}/reward/mean@1`]: report.pass_hat[0]!.value,
    [`val-aux/${source}/progress/mean@1`]: report.tcr.value,
    [`val-aux/${source}/num_turns/mean`]: report.turns_mean,
    ...(greedy && { [`val-aux/${source}/reward/greedy@1`]: greedy.pass_hat[0]!.value }),
    ...(report.copied_arguments && { [`val-aux/${source}/tool_call/copied_ratio`]: report.copied_arguments.value }),
    ...(report.confirmed_writes && { [`val-aux/${source}/writes/confirmed_ratio`]: report.confirmed_writes.value }),
  };
}

type HeldOutHooks = Pick<RunHooks, 'valUsers' | 'signal' | 'onEvaluationProgress' | 'onTrialStart' | 'onTrial'>;

/** The evaluation after `step`. After the last step it has a greedy one beside it, if the run asks for it. */
async function evaluateStep(
  stage: Stage,
  config: GrpoConfig,
  concurrency: number,
  step: number,
  hooks: HeldOutHooks,
): Promise<Evaluation | null> {
  const evaluation = await evaluateHeldOut(stage, config, concurrency, hooks);
  const both = step === config.total_training_steps && config.val_greedy && validationSampling(config).temperature > 0;
  const greedy = both && (await evaluateHeldOut(stage, { ...config, 'val_kwargs.do_sample': false }, concurrency, hooks));
  return evaluation && { ...evaluation, ...(greedy && { greedy }) };
}

/** The domains of the run's evaluations, with their rules. */
async function placesOf(stage: Stage, config: GrpoConfig): Promise<Map<string, Pick<Stage, 'domain' | 'rules'>>> {
  const places = new Map<string, Pick<Stage, 'domain' | 'rules'>>();
  for (const name of valDomains(config)) {
    const domain = name === config.domain ? stage.domain : await stage.environments.domain(name, config.level);
    places.set(name, { domain, rules: name === config.domain ? stage.rules : rulesFor(domain, config.conversation_rules) });
  }
  return places;
}

/** Evaluates on the run's held-out tasks, always with the same tasks and seeds. Resolves to null if no episode could be scored. */
async function evaluateHeldOut(stage: Stage, config: GrpoConfig, concurrency: number, hooks: HeldOutHooks): Promise<Evaluation | null> {
  const places = await placesOf(stage, config);
  const tasks: Task[] = [];
  const players = new Map<string, EvaluationPlan['player']>();
  for (const [name, { domain }] of places) {
    const query = { level: config.level, split: valSplit(config), seed: config.seed, count: config.val_tasks };
    tasks.push(...(await evaluationTasks({ ...stage, domain }, { ...query, domain: name, conditions: conditionsOf(config, 'val') })));
    players.set(name, await playerOf(config.val_agent, domain, habitsOf(config)));
  }
  return evaluate(
    { ...stage, users: hooks.valUsers ?? stage.users },
    {
      tasks,
      places,
      trials: 1,
      limits: config,
      sampling: validationSampling(config),
      seed: config.seed,
      firstStream: EVALUATION_STREAM,
      concurrency,
      ...(config.val_agent !== 'model' && { player: (seed, task) => players.get(task.domain)!(seed, task) }),
      signal: hooks.signal,
      onProgress: hooks.onEvaluationProgress,
      onTrialStart: hooks.onTrialStart,
      onTrial: hooks.onTrial,
    },
  ).catch((error: unknown) => {
    if (error instanceof NothingScoredError) return null;
    throw error;
  });
}

/** Runs the training. Resolves to the number of steps done. The reference of the KL term is the model before step 1. */
export async function trainRun(stage: Stage, learner: Learner, config: GrpoConfig, concurrency: number, hooks: RunHooks): Promise<number> {
  const last = config.total_training_steps;
  const training = await trainingStage(stage, config);
  let step = hooks.doneSteps ?? 0;
  const history = (hooks.doneMetrics ?? []).filter((metrics) => metrics.step > 0);
  const evaluated = history.length < (hooks.doneMetrics?.length ?? 0);
  if (step === 0 && evaluatesFirst(config) && !evaluated) {
    // A split without tasks is found before a long evaluation.
    await trainingTasks(stage, config, 1);
    const baseline = await evaluateStep(stage, config, concurrency, 0, hooks);
    if (baseline) await hooks.onBaseline(baseline, hooks.takeUsage?.() ?? {});
  }
  let storing: number | null = null;
  while (step < last) {
    await hooks.gate?.();
    if (hooks.shouldStop?.()) break;
    step += 1;
    hooks.onStepStart?.(step);
    const result = await STEPS[config.algorithm](training.stage, learner, config, step, hooks);
    Object.assign(result.metrics, training.toolMetrics(result));
    const evaluation = evaluatesAfter(config, step) ? await evaluateStep(stage, config, concurrency, step, hooks) : null;
    if (evaluation) Object.assign(result.metrics, evaluationMetrics(evaluation, config));
    Object.assign(result.metrics, hooks.takeUsage?.());
    // The time to store a step is known only after its metrics are stored, so the next step reports it.
    if (storing !== null) result.metrics['timing_s/store_before'] = storing;
    const from = performance.now();
    await hooks.onStep(result, evaluation);
    storing = (performance.now() - from) / 1000;
    if (!config.stop_on_alarm) continue;
    history.push(result.metrics);
    const alarm = alarmsOf(history).find(({ from }) => from === step);
    if (!alarm) continue;
    hooks.onAlarm?.(alarm);
    break;
  }
  return step;
}
