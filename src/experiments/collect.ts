/** @file Collects what an experiment keeps of a finished run. */
import type { TrialResult } from '../records/evaluation.ts';
import type { ExperimentEvaluation, ExperimentRun } from '../records/experiment.ts';
import { type GrpoConfig, measuredMetrics, type StepMetrics } from '../records/run.ts';
import { mean } from '../evaluation/pass-hat.ts';
import { calledAgainShare, confirmedShare, confirmedWrites, offeredShare } from '../evaluation/trial-result.ts';

/** The metric of transfers. The tool has the same name in every domain. */
const HAND_OVER = 'tool_call/transfer_to_human_agents/usage_ratio';
export const CONFIRMED_WRITES = 'writes/confirmed_ratio';

/** The metrics of steps that the analysis and the curves use. In a step without the metric, its value is null. */
const KEPT = [
  'critic/score/mean',
  'critic/rewards/mean',
  CONFIRMED_WRITES,
  HAND_OVER,
  'violations/ratio',
  'response_length_only_model/mean',
  'response_length/clip_ratio',
  'rollout/turns/mean',
  'tool_call/parse_error_ratio',
  'trajectories/valid_query_ratio',
  'actor/kl_loss',
  'actor/entropy',
  'actor/grad_norm',
  'tools/calls',
  'tools/spoilt',
  'tools/dropped',
  'perf/time_per_step',
  'perf/total_num_tokens',
];

/** Metrics have this many significant digits, so that the file of results is half as large. */
const DIGITS = 6;

export interface FinishedRun {
  variant: string;
  seed: number;
  run?: string;
  config: Pick<GrpoConfig, 'use_kl_loss'>;
  /** The metrics of each step. They may include step 0, the evaluation before training. */
  metrics: readonly StepMetrics[];
  evaluations: readonly { step: number; seconds: number; results: readonly TrialResult[]; greedy?: readonly TrialResult[] }[];
}

export function experimentRun({ variant, seed, run, config, metrics, evaluations }: FinishedRun): ExperimentRun {
  const steps = metrics
    .filter(({ step }) => step > 0)
    .map((values) => measuredMetrics(values, config))
    .toSorted((a, b) => a.step - b.step);
  const evaluated = evaluations.toSorted((a, b) => a.step - b.step);
  const tasks = [...new Set(evaluated.flatMap(({ results }) => results.map(({ task }) => task)))];
  const intents = new Map(evaluated.flatMap(({ results }) => results.map(({ task, intent }) => [task, intent])));
  const valueOf = (name: string) => (values: StepMetrics) => {
    // If no rollout called the tool, its metric is absent, so the value is 0.
    if (name === HAND_OVER && values['tool_call/usage_ratio'] !== undefined) return values[name] ?? 0;
    const value = values[name];
    return value !== undefined && Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null;
  };
  const names = KEPT.filter((name) => steps.some((s) => valueOf(name)(s) !== null));
  const time = (values: StepMetrics) => values['perf/time_per_step'] ?? 0;
  return {
    variant,
    seed,
    ...(run !== undefined && { run }),
    steps: steps.at(-1)?.step ?? 0,
    seconds: steps.reduce((sum, values) => sum + time(values), 0) + evaluated.reduce((sum, { seconds }) => sum + seconds, 0),
    tasks,
    intents: tasks.map((task) => intents.get(task)!),
    evaluations: evaluated.map(({ step, results, greedy }) => ({
      ...evaluationOf(step, results, tasks),
      ...(greedy && { greedy: successOf(greedy, tasks) }),
    })),
    metricSteps: steps.map(({ step }) => step),
    metrics: Object.fromEntries(names.map((name) => [name, steps.map(valueOf(name))])),
  };
}

/** The outcome of each task. Held-out success is binary: 1 only for the full reward. */
function successOf(results: readonly TrialResult[], tasks: readonly string[]): ExperimentEvaluation['success'] {
  const rewards = new Map(results.map(({ task, reward }) => [task, reward]));
  return tasks.map((task) => {
    const reward = rewards.get(task) ?? null;
    return reward === null ? null : reward === 1 ? 1 : 0;
  });
}

function writesOf(results: readonly TrialResult[], tasks: readonly string[]): [number, number][] {
  const own = new Map(results.map((result) => [result.task, result]));
  return tasks.map((task) => {
    const { confirmed, of } = confirmedWrites([own.get(task) ?? []].flat());
    return [confirmed, of];
  });
}

function evaluationOf(step: number, results: readonly TrialResult[], tasks: readonly string[]): ExperimentEvaluation {
  const scored = results.filter(({ reward }) => reward !== null);
  const confirmed = confirmedShare(scored);
  const again = calledAgainShare(scored);
  const offered = offeredShare(scored);
  return {
    step,
    success: successOf(results, tasks),
    ...(confirmed !== null && { writes: writesOf(scored, tasks) }),
    figures:
      scored.length === 0
        ? {}
        : {
            turns: mean(scored.map(({ turns }) => turns)),
            hand_overs: mean(scored.map(({ termination }) => Number(termination === 'terminal_tool'))),
            ...(confirmed !== null && { confirmed_writes: confirmed }),
            ...(again !== null && { called_again: again }),
            ...(offered !== null && { offered_more: offered }),
          },
  };
}
