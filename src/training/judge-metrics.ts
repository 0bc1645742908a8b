/** @file The metrics of a judge: how often it decides, and whether the order of two answers sways it. */
import { mean } from '../evaluation/pass-hat.ts';
import type { Trajectory } from '../records/trajectory.ts';

/**
 * `judge/verdicts`: the number of verdicts. `tie_ratio`: the share that is a tie. `first_ratio`: the share of the other verdicts that
 * prefer the answer that came first; a judge without a bias has 0.5. `swayed_ratio`: the share of pairs whose two verdicts
 * contradict each other. `over_original`: the mean score against the original answer. Empty if no judge compared.
 */
export function judgeMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const all = trajectories.flatMap(({ judged, index }) => (judged?.comparisons ?? []).map((comparison) => ({ ...comparison, index })));
  if (all.length === 0) return {};
  // Both answers of a pair have the comparison. It is counted for the one with the smaller index.
  const pairs = all.filter((comparison) => comparison.with === null || comparison.index < comparison.with);
  const verdicts = pairs.flatMap((pair) => pair.verdicts);
  const decided = verdicts.filter(({ score }) => score !== 1 / 2);
  const twice = pairs.filter((pair) => pair.verdicts.length === 2);
  const original = all.filter((comparison) => comparison.with === null);
  return {
    'judge/verdicts': verdicts.length,
    ...(verdicts.length > 0 && { 'judge/tie_ratio': 1 - decided.length / verdicts.length }),
    ...(decided.length > 0 && { 'judge/first_ratio': mean(decided.map(({ first, score }) => Number(first === (score === 1)))) }),
    ...(twice.length > 0 && {
      'judge/swayed_ratio': mean(twice.map((pair) => Number(Math.abs(pair.verdicts[0]!.score - pair.verdicts[1]!.score) === 1))),
    }),
    ...(original.length > 0 && { 'judge/over_original': mean(original.map(({ score }) => score)) }),
  };
}
