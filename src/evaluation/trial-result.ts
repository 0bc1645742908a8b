/** @file One episode in short, as lists and pairings need it. */
import type { Trajectory } from '../agent/types.ts';
import type { Task } from '../environments/types.ts';
import type { TrialResult } from './types.ts';

/** The wishes of a task in short, e.g. `cancel+return` or `cancel (impossible)`. */
export function intentOf(task: Task): string {
  return task.scenario.wishes.map((wish) => (wish.impossible ? `${wish.intent} (impossible)` : wish.intent)).join('+');
}

export function resultOf({ id, task, index, reward, termination, turns, nodes, violations }: Trajectory): TrialResult {
  const tokens = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  return { id, task: task.id, index, intent: intentOf(task), reward, termination, turns, tokens, violations: violations.map(({ rule }) => rule) };
}
