/**
 * @file Compares two evaluations of the same tasks and seeds: which trials changed their outcome, and whether the difference
 * may be chance.
 */
import type { Interval, TrialResult } from '../records/evaluation.ts';
import type { Violation } from '../records/task.ts';
import { groupBy } from '../base/group-by.ts';
import { clustersOf, meanInterval } from './intervals.ts';
import { mean } from './pass-hat.ts';

export type Rule = Violation['rule'];
export const FLIPS = ['gained', 'lost', 'both', 'neither'] as const;
export type Flip = (typeof FLIPS)[number];

/** The same trial of the same task in both evaluations. */
export interface Pair {
  task: string;
  index: number;
  intent: string;
  before: TrialResult;
  after: TrialResult;
  flip: Flip;
}

/** The trials that were scored in both evaluations, in the order of the first evaluation. */
export function pairTrials(before: readonly TrialResult[], after: readonly TrialResult[]): Pair[] {
  const place = ({ task, index }: TrialResult) => JSON.stringify([task, index]);
  const later = new Map(after.map((result) => [place(result), result]));
  return before.flatMap((first) => {
    const second = later.get(place(first));
    if (!second || first.reward === null || second.reward === null) return [];
    return [
      {
        task: first.task,
        index: first.index,
        intent: first.intent,
        before: first,
        after: second,
        flip: flipOf(first.reward === 1, second.reward === 1),
      },
    ];
  });
}

function flipOf(before: boolean, after: boolean): Flip {
  if (before === after) return before ? 'both' : 'neither';
  return after ? 'gained' : 'lost';
}

export function countFlips(pairs: readonly Pair[]): Record<Flip, number> {
  const counts = { gained: 0, lost: 0, both: 0, neither: 0 };
  for (const { flip } of pairs) counts[flip] += 1;
  return counts;
}

/** Whether the second trial of a pair stopped or started to break a rule. Null if both trials broke it, or neither did. */
export function violationFlip({ before, after }: Pair, rule: string): 'stopped' | 'started' | null {
  const [was, is] = [before, after].map(({ violations }) => (violations as string[]).includes(rule));
  if (was === is) return null;
  return was ? 'stopped' : 'started';
}

/** For each rule: the numbers of pairs that stopped and that started to break it. Only rules with at least one such pair. */
export function countViolationFlips(pairs: readonly Pair[]): { rule: Rule; stopped: number; started: number }[] {
  const rules = new Set(pairs.flatMap(({ before, after }) => [...before.violations, ...after.violations]));
  return [...rules]
    .sort()
    .map((rule) => {
      const flips = pairs.map((pair) => violationFlip(pair, rule));
      return {
        rule,
        stopped: flips.filter((flip) => flip === 'stopped').length,
        started: flips.filter((flip) => flip === 'started').length,
      };
    })
    .filter(({ stopped, started }) => stopped + started > 0);
}

/** `low` and `high` are the interval of the difference (`meanInterval`). */
export interface PairedDifference extends Omit<Interval, 'value'> {
  tasks: number;
  /** The mean over tasks of the success rate of the task's paired trials. */
  before: number;
  after: number;
  /** The difference `after` − `before`. */
  difference: number;
  /** The numbers of tasks of which more trials (`better`) or fewer trials (`worse`) succeeded. */
  better: number;
  worse: number;
  /** The p-value of the exact two-sided sign test over customers. With one task a customer and one trial a task this is the exact McNemar test. */
  p: number;
}

/** Compares the evaluations customer by customer, because the trials of one customer are not independent. Null if there are no pairs. */
export function pairedDifference(pairs: readonly Pair[]): PairedDifference | null {
  const tasks = [...groupBy(pairs, ({ task }) => task).values()].map((trials) => {
    const [before, after] = (['before', 'after'] as const).map(
      (side) => trials.filter((pair) => pair[side].reward === 1).length / trials.length,
    ) as [number, number];
    return { customer: trials[0]!.after.customer ?? trials[0]!.task, before, after, difference: after - before };
  });
  const customers = clustersOf(
    tasks,
    ({ customer }) => customer,
    ({ difference }) => difference,
  );
  const interval = meanInterval(customers, [-1, 1]);
  if (!interval) return null;
  const { value: difference, low, high } = interval;
  const rose = (sums: readonly number[]) => sums.filter((sum) => sum > 0).length;
  const fell = (sums: readonly number[]) => sums.filter((sum) => sum < 0).length;
  const byTask = tasks.map((task) => task.difference);
  const byCustomer = customers.map(({ sum }) => sum);
  return {
    tasks: tasks.length,
    before: mean(tasks.map(({ before }) => before)),
    after: mean(tasks.map(({ after }) => after)),
    difference,
    low,
    high,
    better: rose(byTask),
    worse: fell(byTask),
    p: signTest(rose(byCustomer), fell(byCustomer)),
  };
}

/** The probability that `better + worse` tosses of a fair coin are at least as uneven as these counts. */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  let tail = 0;
  let logTerm = -n * Math.LN2;
  for (let i = 0; i <= Math.min(better, worse); i++) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((n - i) / (i + 1));
  }
  return Math.min(1, 2 * tail);
}
