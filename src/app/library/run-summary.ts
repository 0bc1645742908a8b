/** @file The figures of a run that the list of runs shows. */
import { heldOutName, type StepMetrics } from '../../records/run.ts';

/** The number of last steps over which a mean is taken, because the value of a single step is noisy. */
export const LAST_STEPS = 10;

export interface RunSummary {
  /** Mean reward of the last steps; null if no step has a reward. */
  reward: number | null;
  /** The same for the training reward, or for the reward of another tool, on its own scale. Absent: no step has one. */
  recorded?: number;
  /** The first and the newest held-out reward. Has one value if the run was evaluated once, and none if never. */
  heldOut: number[];
  /** The reward of at most `CURVE_STEPS` steps, evenly spaced over the run. */
  curve: CurvePoint[];
}

export interface CurvePoint {
  step: number;
  value: number;
}

const CURVE_STEPS = 60;

/** Picks at most `CURVE_STEPS` evenly spaced items, including the first and the last. */
export function spread<T>(items: readonly T[]): T[] {
  if (items.length <= CURVE_STEPS) return [...items];
  return Array.from({ length: CURVE_STEPS }, (_, i) => items[Math.round((i * (items.length - 1)) / (CURVE_STEPS - 1))]!);
}

const heldOutOf = (values: StepMetrics = { step: 0 }) => values[heldOutName(Object.keys(values)) ?? ''];

export const hasHeldOut = (values: StepMetrics) => heldOutOf(values) !== undefined;

/**
 * @param last metrics of the last `LAST_STEPS` steps
 * @param first metrics of the first step with a held-out reward
 * @param newest metrics of the newest step with a held-out reward
 * @param some metrics of the steps of the curve, by step
 */
export function summaryOf(
  last: readonly StepMetrics[],
  first: StepMetrics | undefined,
  newest: StepMetrics | undefined,
  some: readonly StepMetrics[],
): RunSummary {
  const meanOf = (name: string) => {
    const values = last.flatMap((step) => step[name] ?? []);
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const recorded = meanOf('critic/rewards/mean');
  const evaluated = first?.step === newest?.step ? [first] : [first, newest];
  return {
    reward: meanOf('critic/score/mean'),
    ...(recorded !== null && { recorded }),
    heldOut: evaluated.flatMap((values) => heldOutOf(values) ?? []),
    curve: some.flatMap(({ step, 'critic/score/mean': value }) => (value === undefined ? [] : [{ step, value }])),
  };
}

export const summaryOfAll = (metrics: readonly StepMetrics[]) =>
  summaryOf(metrics.slice(-LAST_STEPS), metrics.find(hasHeldOut), metrics.findLast(hasHeldOut), spread(metrics));
