/** @file Makes the summary of a rollout, which lists show. */
import type { RolloutSummary } from '../records/rollout.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { outcomeOf } from '../evaluation/trial-result.ts';

export function summarize(trajectory: Trajectory, step: number, advantage: number | null): RolloutSummary {
  const { violations, ...result } = outcomeOf(trajectory);
  const { group, task, toolCalls, rewards, ending, foreign } = trajectory;
  return {
    ...result,
    ...(rewards && { rewards }),
    ...(foreign && { foreign, ...(ending !== undefined && { ending }) }),
    group,
    step,
    advantage,
    violations: violations.length,
    domain: task.domain,
    rules: [...new Set(violations)],
    tools: Object.keys(toolCalls),
  };
}
