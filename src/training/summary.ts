/** @file A rollout as lists show it. */
import type { Trajectory } from '../agent/types.ts';
import { intentOf } from '../evaluation/evaluate.ts';
import type { RolloutSummary } from './types.ts';

export function summarize(trajectory: Trajectory, step: number, advantage: number | null): RolloutSummary {
  return {
    id: trajectory.id,
    group: trajectory.group,
    index: trajectory.index,
    step,
    task: trajectory.task.id,
    intent: intentOf(trajectory.task),
    reward: trajectory.reward,
    advantage,
    termination: trajectory.termination,
    turns: trajectory.turns,
    tokens: trajectory.nodes.reduce((sum, node) => sum + node.tokens.length, 0),
    violations: trajectory.violations.length,
    domain: trajectory.task.domain,
    rules: [...new Set(trajectory.violations.map(({ rule }) => rule))],
    tools: Object.keys(trajectory.toolCalls),
  };
}
