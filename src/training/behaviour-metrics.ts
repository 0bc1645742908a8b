/** @file Metrics of behaviour that the alarms watch: loops, unfounded claims, needless transfers, failed and faulty customers. */
import { path } from '../base/message-path.ts';
import type { Rollouts } from '../agent/rollouts.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { auditCustomer } from '../users/audit.ts';
import { hearable, listen } from '../domains/retail/customer/listening.ts';
import { TRANSFER } from './rewards.ts';

/** An equal call this often is a loop. */
const LOOP = 3;

/** Whether the agent makes an equal tool call at least three times. */
function loops(trajectory: Trajectory): boolean {
  const counts = new Map<string, number>();
  for (const { toolCall } of path(trajectory)) {
    if (!toolCall) continue;
    const call = JSON.stringify([toolCall.name, toolCall.arguments]);
    counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  return [...counts.values()].some((count) => count >= LOOP);
}

/** Whether the agent tells the customer that something is done although no call changed a row, in a task that asks for a change. */
function claimsUnfounded(trajectory: Trajectory): boolean {
  if (trajectory.task.noop) return false;
  let wrote = false;
  for (const { content, toolCall, toolResult } of path(trajectory)) {
    wrote ||= (toolResult?.changes.length ?? 0) > 0;
    if (!wrote && !toolCall && content && listen(hearable(content)).done) return true;
  }
  return false;
}

/** Whether the agent transfers a customer although the gold has no transfer. */
function transfersNeedlessly({ task, toolCalls }: Trajectory): boolean {
  return (toolCalls[TRANSFER] ?? 0) > 0 && !task.actions.some(({ name }) => name === TRANSFER);
}

/** Whether the audit finds a fault of the customer. */
export const isFaulty = (trajectory: Trajectory): boolean => auditCustomer(trajectory, trajectory.task).faults.length > 0;

/**
 * The share of a step's rollouts with each behaviour, the share of episodes that the customer's failures cost, and the share of
 * conversations in which the customer makes a fault. The latter counts dropped conversations too.
 */
export function behaviourMetrics({ groups, dropped, retried }: Rollouts): Record<string, number> {
  const trajectories = groups.flat();
  const played = trajectories.length + dropped.length + retried;
  const share = (test: (trajectory: Trajectory) => boolean) => trajectories.filter(test).length / Math.max(1, trajectories.length);
  return {
    'tool_call/loop_ratio': share(loops),
    'claims/unfounded_ratio': share(claimsUnfounded),
    'handover/needless_ratio': share(transfersNeedlessly),
    'user/audited': trajectories.length + dropped.length,
    'user/fault_rate': [...trajectories, ...dropped].filter(isFaulty).length / Math.max(1, trajectories.length + dropped.length),
    'rollout/failed_ratio': (dropped.length + retried) / Math.max(1, played),
  };
}
