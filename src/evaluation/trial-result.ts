/** @file A short summary of an episode, for lists and paired comparisons. */
import { writesOf } from '../agent/trajectory.ts';
import { auditOf } from '../domains/customer-audit.ts';
import { isAudited } from '../domains/registry.ts';
import type { TrialResult } from '../records/evaluation.ts';
import { isForeign, type Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { isRewardDenied } from './customer-quality.ts';

/** A task's wishes in short, for example `cancel+return` or `cancel (impossible)`. Of a task of another tool, its name. */
export function intentOf(task: Task): string {
  if (isForeign(task)) return task.id;
  return task.scenario.wishes.map((wish) => (wish.impossible ? `${wish.intent} (impossible)` : wish.intent)).join('+');
}

/** A trial with the audit of its customer. */
export function resultOf(trajectory: Trajectory): TrialResult {
  const { faults, judged } = auditOf(trajectory);
  return {
    ...outcomeOf(trajectory),
    faults: faults.map(({ kind }) => kind),
    ...(judged && { judged: true }),
    ...(isRewardDenied(trajectory, faults) && { denied: true }),
  };
}

/** What a trial and a rollout of a training have in common. */
export function outcomeOf(trajectory: Trajectory): Omit<TrialResult, 'faults' | 'judged' | 'denied'> {
  const { id, task, index, reward, termination, turns, nodes, violations } = trajectory;
  const tokens = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  return {
    id,
    task: task.id,
    index,
    intent: intentOf(task),
    reward,
    termination,
    turns,
    tokens,
    violations: violations.map(({ rule }) => rule),
    writes: writesOf(trajectory),
  };
}

/** The share of writes with the customer's yes. Null without writes, or where the domain is not audited. */
export function confirmedShare(results: readonly TrialResult[]): number | null {
  if (!results.every(({ task }) => isAudited(task.split('/')[0]!))) return null;
  const { count, of } = confirmedWrites(results);
  return of === 0 ? null : count / of;
}

/** How many writes the customer said yes to, of how many. */
export function confirmedWrites(results: readonly TrialResult[]): { count: number; of: number } {
  const of = results.reduce((sum, { writes }) => sum + writes, 0);
  const unasked = results.flatMap(({ violations }) => violations).filter((rule) => rule === 'unconfirmed_write').length;
  return { count: of - unasked, of };
}
