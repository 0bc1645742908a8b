/** @file A rollout as lists show it. */
import type { Trajectory } from '../agent/types.ts';
import { resultOf } from '../evaluation/trial-result.ts';
import type { RolloutSummary } from './types.ts';

export function summarize(trajectory: Trajectory, step: number, advantage: number | null): RolloutSummary {
  const { violations, ...result } = resultOf(trajectory);
  const { group, task, toolCalls } = trajectory;
  return { ...result, group, step, advantage, violations: violations.length, domain: task.domain, rules: [...new Set(violations)], tools: Object.keys(toolCalls) };
}
