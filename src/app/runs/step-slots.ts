/** @file The rollouts of the current step: finished, or still being sampled. */
import type { RunEvent } from '../../trainer/messages.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { GrpoConfig } from '../../records/run.ts';
import type { Group } from '../run-data/groups.ts';

export interface PlayingGroup {
  id: string;
  /** True if a rollout of the group is finished. */
  open: boolean;
  /** Sorted by index; null if the rollout is not finished. */
  slots: (RolloutSummary | null)[];
}

/** Group ids are `step-number`. Empty while no rollout is sampled: during compilation and during the evaluation before training. */
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
