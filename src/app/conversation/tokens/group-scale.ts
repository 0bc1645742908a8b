/** @file Loads the values of all rollouts of a group, so that they share one colour scale. */
import { channelValues, type scaleOf } from './channels.ts';
import { sequenceOf } from './sequence.ts';
import type { Subject } from './subject.ts';

export type ScaledRollout = Parameters<typeof scaleOf>[1][number];

export async function readGroup({ group = [], read }: Pick<Subject, 'group' | 'read'>): Promise<ScaledRollout[]> {
  const found = await Promise.all(group.map(async ({ id, advantage = null }) => ({ rollout: await read(id), advantage })));
  return found.flatMap(({ rollout, advantage }) => {
    if (!rollout) return [];
    const sequence = sequenceOf(rollout);
    return [{ values: channelValues(sequence, advantage), mask: sequence.mask }];
  });
}
