/**
 * @file Metrics of behaviour that the alarms watch: repeated calls, false claims, needless transfers, customers that fail or
 * make mistakes.
 */
import { path } from '../base/message-path.ts';
import { sumCopied } from '../agent/copied.ts';
import type { Rollouts } from '../agent/rollouts.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { auditOf } from '../domains/customer-audit.ts';
import { languageOf } from '../domains/languages.ts';
import { hearable } from '../users/hearable.ts';
import { mustTransfer, transfersIn } from './rewards.ts';

/** If the agent makes the same call this often, it is in a loop. */
const LOOP = 3;

/** Whether the agent makes the same tool call at least three times. */
function loops(trajectory: Trajectory): boolean {
  const counts = new Map<string, number>();
  for (const { toolCall } of path(trajectory)) {
    if (!toolCall) continue;
    const call = JSON.stringify([toolCall.name, toolCall.arguments]);
    counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  return [...counts.values()].some((count) => count >= LOOP);
}

/** Whether the agent tells the customer that something is done although no call changed a row. Only for a task that asks for a change. */
function claimsUnfounded(trajectory: Trajectory): boolean {
  const language = languageOf(trajectory.task.domain);
  if (trajectory.task.noop || !language) return false;
  let wrote = false;
  for (const { content, toolCall, toolResult } of path(trajectory)) {
    wrote ||= (toolResult?.changes.length ?? 0) > 0;
    if (!wrote && !toolCall && content && language.listen(hearable(content)).done) return true;
  }
  return false;
}

/** Whether the agent transfers the customer to a human although the gold actions contain no transfer. */
const transfersNeedlessly = (trajectory: Trajectory): boolean => transfersIn(trajectory) > 0 && !mustTransfer(trajectory.task);

/** Whether the audit found a mistake of the customer. */
export const isFaulty = (trajectory: Trajectory): boolean => auditOf(trajectory).faults.length > 0;

/**
 * The share of a step's rollouts with each behaviour, the share of episodes that were lost because the customer failed, and
 * the share of conversations in which the customer makes a mistake. Only this last share also counts dropped conversations. Also the share of values
 * in the arguments of calls that were copied.
 */
export function behaviourMetrics({ groups, dropped, retried }: Rollouts): Record<string, number> {
  const trajectories = groups.flat();
  const played = trajectories.length + dropped.length + retried;
  const copied = sumCopied(trajectories);
  const share = (test: (trajectory: Trajectory) => boolean) => trajectories.filter(test).length / Math.max(1, trajectories.length);
  return {
    'tool_call/loop_ratio': share(loops),
    ...(copied.of > 0 && { 'tool_call/copied_ratio': copied.found / copied.of }),
    'claims/unfounded_ratio': share(claimsUnfounded),
    'handover/needless_ratio': share(transfersNeedlessly),
    'user/audited': trajectories.length + dropped.length,
    'user/fault_rate': [...trajectories, ...dropped].filter(isFaulty).length / Math.max(1, trajectories.length + dropped.length),
    'rollout/failed_ratio': (dropped.length + retried) / Math.max(1, played),
  };
}
