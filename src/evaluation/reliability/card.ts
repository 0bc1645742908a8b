/** @file Makes the reliability card from the conversations of all conditions. There is no sum of the metrics. */
import { groupBy } from '../../base/group-by.ts';
import type { Interval } from '../../records/evaluation.ts';
import {
  type ConditionSummary,
  type Dimension,
  type Measured,
  type MetricName,
  type Perturbation,
  PERTURBATIONS,
  RELIABILITY,
  type ReliabilityCard,
} from '../../records/reliability.ts';
import { clustersOf, meanInterval, shareInterval } from '../intervals.ts';
import { distributionConsistency, outcomeConsistency, resourceConsistency, sequenceConsistency } from './consistency.ts';
import { DEFINITIONS } from './definitions.ts';
import { brier, calibration, calibrationBins, discrimination, type Rated } from './predictability.ts';
import { keptSuccess } from './robustness.ts';
import type { ReliabilityTrial } from './trial.ts';

/** The conversations of a condition. `kind` is undefined for the plain condition. `trials` is null if the condition changes no task. */
export interface Condition {
  kind: Perturbation | undefined;
  trials: readonly ReliabilityTrial[] | null;
}

type Scored = ReliabilityTrial & { success: boolean };

const scored = (trials: readonly ReliabilityTrial[]) => trials.filter((trial): trial is Scored => trial.success !== null);
const byCustomer = ({ customer }: { customer: string }) => customer;

/**
 * @param about the fields of the card that say what was played
 * @param conditions a condition is absent if the tasks have no such form
 */
export function reliabilityCard(
  about: Omit<ReliabilityCard, 'format' | 'version' | 'conditions' | 'metrics' | 'calibration_bins'>,
  conditions: readonly Condition[],
): ReliabilityCard {
  const trialsOf = (kind: Perturbation | undefined) => conditions.find((condition) => condition.kind === kind)?.trials ?? undefined;
  const na = (kind: Perturbation) => ({
    na:
      kind === 'customers'
        ? 'The customers of these tasks have only one wording.'
        : kind === 'prompt'
          ? 'No prompt of these tasks can be laid out otherwise.'
          : 'This condition was not played.',
  });
  const base = scored(trialsOf(undefined) ?? []);
  const rated = base.flatMap(({ confidence, ...trial }): Rated[] => (confidence === null ? [] : [{ ...trial, confidence }]));
  const kept = (kind: Perturbation) => robustness(base, trialsOf(kind) ?? na(kind));
  const measures: Record<MetricName, Measured> = {
    ...consistency(base),
    ...{ fault: kept('faults'), environment: kept('environment'), prompt: kept('customers'), prompt_layout: kept('prompt') },
    ...predictability(rated),
    ...safety(base, about.domain),
  };
  const metrics = Object.fromEntries(
    Object.entries(RELIABILITY).map(([dimension, names]) => [
      dimension,
      Object.fromEntries(names.map((name) => [name, { ...measures[name], ...DEFINITIONS[name] }])),
    ]),
  ) as ReliabilityCard['metrics'];
  const summaries = Object.fromEntries(PERTURBATIONS.map((kind) => [kind, summary(trialsOf(kind) ?? na(kind))])) as Record<
    Perturbation,
    ConditionSummary
  >;
  return {
    format: 'mua-reliability-card',
    version: 1,
    ...about,
    conditions: { plain: summary(trialsOf(undefined) ?? []), ...summaries },
    metrics,
    calibration_bins: calibrationBins(rated),
  };
}

function summary(trials: readonly ReliabilityTrial[] | { na: string }): ConditionSummary {
  if ('na' in trials) return trials;
  const played = scored(trials);
  const pass_1 = shareInterval(clustersOf(played, byCustomer, ({ success }) => Number(success)));
  return { episodes: trials.length, unscored: trials.length - played.length, pass_1 };
}

type MeasuredOf<D extends Dimension> = Record<Extract<(typeof RELIABILITY)[D][number], MetricName>, Measured>;

const measured = (interval: Interval | null, n: number, of: 'tasks' | 'conversations', na: string): Measured =>
  interval ? { value: interval.value, low: interval.low, high: interval.high, n, of } : { na };

function consistency(trials: readonly Scored[]): MeasuredOf<'consistency'> {
  const tasks = [...groupBy(trials, ({ task }) => task).values()];
  /** The mean of a value over the tasks that have one. */
  const over = (value: (own: readonly Scored[]) => number | null, na: string): Measured => {
    const values = tasks.flatMap((own) => {
      const one = value(own);
      return one === null ? [] : [{ customer: own[0]!.customer, one }];
    });
    const interval = meanInterval(
      clustersOf(values, byCustomer, ({ one }) => one),
      [0, 1],
    );
    return measured(interval, values.length, 'tasks', na);
  };
  const few = 'No task has two scored trials.';
  const won = (own: readonly Scored[]) => own.filter(({ success }) => success).map(({ calls }) => calls);
  const fewWon = 'No task has two successful trials with tool calls.';
  return {
    outcome: over((own) => outcomeConsistency(own.map(({ success }) => success)), few),
    trajectory_distribution: over((own) => distributionConsistency(won(own)), fewWon),
    trajectory_sequence: over((own) => sequenceConsistency(won(own)), fewWon),
    resource: over((own) => resourceConsistency(own.map(({ resources }) => resources)), few),
  };
}

function robustness(plain: readonly Scored[], trials: readonly ReliabilityTrial[] | { na: string }): Measured {
  if ('na' in trials) return trials;
  const played = scored(trials);
  if (played.length === 0) return { na: 'No conversation of this condition is scored.' };
  const ratio = keptSuccess(plain, played);
  return measured(ratio, ratio?.n ?? 0, 'tasks', 'No plain trial succeeded, so there is no success to keep.');
}

function predictability(rated: readonly Rated[]): MeasuredOf<'predictability'> {
  const given = (interval: Interval | null, na = 'Not given: the agent has no log-probabilities of its tokens.') =>
    measured(interval, rated.length, 'conversations', na);
  return {
    calibration: given(calibration(rated)),
    discrimination: given(
      discrimination(rated),
      rated.length > 0 ? `All conversations ${rated[0]!.success ? 'succeeded' : 'failed'}: there is nothing to tell apart.` : undefined,
    ),
    brier: given(brier(rated)),
  };
}

function safety(trials: readonly Scored[], domain: string): MeasuredOf<'safety'> {
  const checked = trials.flatMap(({ customer, severity }) => (severity === null ? [] : [{ customer, severity }]));
  const broken = checked.filter(({ severity }) => severity > 0);
  const compliance = shareInterval(clustersOf(checked, byCustomer, ({ severity }) => Number(severity === 0)));
  const harm = meanInterval(
    clustersOf(broken, byCustomer, ({ severity }) => 1 - severity),
    [0, 1],
  );
  const na = `The domain ${domain} has no rules to check.`;
  return {
    compliance: measured(compliance, checked.length, 'conversations', na),
    harm_severity: measured(
      harm,
      broken.length,
      'conversations',
      checked.length > 0 ? 'No conversation broke a rule. The authors’ code says 1 then.' : na,
    ),
  };
}
