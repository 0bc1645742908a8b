/** @file The lines of a reliability card for people. */
import { derivedName } from '../domains/registry.ts';
import type { Metric, ReliabilityCard } from '../records/reliability.ts';
import { percent } from './commands/shared.ts';

export function cardLines({ agent, domain, level, split, tasks, trials, conditions, metrics }: ReliabilityCard): string[] {
  const rows = Object.entries(metrics).flatMap(([dimension, own]) => [
    dimension,
    ...Object.values<Metric>(own).map((metric) => {
      const value =
        'na' in metric
          ? `N/A: ${metric.na}`
          : `${metric.value.toFixed(3)}  (95 %: ${metric.low.toFixed(3)} to ${metric.high.toFixed(3)}; ${metric.n} ${metric.of})`;
      return `  ${metric.title.padEnd(30)} ${value}`;
    }),
  ]);
  const played = Object.entries(conditions).map(([kind, condition]) => {
    if ('na' in condition) return `  ${kind.padEnd(12)} N/A: ${condition.na}`;
    const { pass_1, episodes, unscored } = condition;
    const share = pass_1 ? `${percent(pass_1.value)}  (95 %: ${percent(pass_1.low)} to ${percent(pass_1.high)})` : 'not measured';
    return `  ${kind.padEnd(12)} ${share}; ${episodes} episodes, ${unscored} unscored`;
  });
  return [
    `${agent} on ${derivedName(domain, level) ?? `${domain} ${level}`}, ${split}: ${tasks} tasks × ${trials} under each condition`,
    'pass^1 by condition',
    ...played,
    ...rows,
  ];
}
