/** @file The step under way as slots: what is done, what is still being played. */
import type { GrpoConfig, RolloutSummary, RunEvent } from '../../training/types.ts';
import type { Group } from './groups.ts';

export interface PlayingGroup {
  id: string;
  /** True once one of its rollouts has ended. */
  open: boolean;
  /** By index; null: not ended yet. */
  slots: (RolloutSummary | null)[];
}

/** Groups of a step are named `step-number`. Empty where nothing of the step is played: while kernels compile, or in the evaluation before training. */
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
