/**
 * @file Robustness: the share of its success that an agent keeps under other conditions. The formula is that of the code that the authors of
 * arXiv 2602.16666 published (princeton-pli/hal-harness, `reliability_eval/metrics/robustness.py`).
 */
import { groupBy } from '../../base/group-by.ts';
import type { Interval } from '../../records/evaluation.ts';
import { type Cluster, clustersOf, meanTest } from '../intervals.ts';
import { mean } from '../pass-hat.ts';

interface Trial {
  task: string;
  customer: string;
  success: boolean;
}

/** The ends of intervals are multiples of 1 / STEPS. */
const STEPS = 1000;

/**
 * min(1, success under other conditions / success under plain ones), over the tasks that were scored under both, with the number of these
 * tasks. The interval has every ratio r ≤ 1 for which the mean of “other − r · plain” over customers is not shown to differ from 0
 * (`meanTest`). Null if no plain trial succeeded.
 */
export function keptSuccess(plain: readonly Trial[], other: readonly Trial[]): (Interval & { n: number }) | null {
  const rate = (trials: readonly Trial[]) => mean(trials.map(({ success }) => Number(success)));
  const before = groupBy(plain, ({ task }) => task);
  const pairs = [...groupBy(other, ({ task }) => task)].flatMap(([task, trials]) => {
    const own = before.get(task);
    return own ? [{ customer: own[0]!.customer, plain: rate(own), other: rate(trials) }] : [];
  });
  const base = mean(pairs.map((pair) => pair.plain));
  if (base === 0) return null;
  const value = Math.min(1, mean(pairs.map((pair) => pair.other)) / base);
  const differences = (ratio: number): Cluster[] =>
    clustersOf(
      pairs,
      ({ customer }) => customer,
      (pair) => pair.other - ratio * pair.plain,
    );
  const isPossible = (ratio: number) => meanTest(differences(ratio), [-ratio, 1]) >= 0.05;
  const possible = Array.from({ length: STEPS + 1 }, (_, i) => i / STEPS).filter(isPossible);
  // If the agent is better under the other conditions, no ratio up to 1 is possible.
  return { value, low: Math.min(value, possible[0] ?? 1), high: Math.max(value, possible.at(-1) ?? 1), n: pairs.length };
}
