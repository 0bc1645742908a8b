/** @file Lists the rollouts of the current step, finished ones and those that are still being sampled. */
import type { RunEvent } from '../../trainer/messages.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { Group } from '../run-data/groups.ts';

export interface PlayingGroup {
  id: string;
  /** True if a rollout of the group is finished. */
  open: boolean;
  /** The rollouts of the group by index; null for a rollout that is not finished. */
  slots: (RolloutSummary | null)[];
}

/** The groups of the current step. Group ids are `step-number`. Empty during compilation, and during the evaluation before training. */
export function playing(
  { step, phase }: Pick<Extract<RunEvent, { type: 'progress' }>, 'step' | 'phase'>,
  { train_batch_size, n }: Pick<GrpoConfig, 'train_batch_size' | 'n'>,
  groups: readonly Group[],
): PlayingGroup[] {
  if (phase !== 'rollout' && groups.length === 0) return [];
  const byId = new Map(groups.map((group) => [group.id, group]));
  return Array.from({ length: train_batch_size }, (_, t) => {
    const id = `${step}-${t}`;
    const done = new Map(byId.get(id)?.rollouts.map((rollout) => [rollout.index, rollout]));
    return { id, open: done.size > 0, slots: Array.from({ length: n }, (_, index) => done.get(index) ?? null) };
  });
}
