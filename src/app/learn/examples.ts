/** @file Places in the recorded run that lessons open: they are looked up, so that any recording will do. */
import type { RolloutSummary } from '../../training/types.ts';
import { type Group, groupRollouts } from '../logic/groups.ts';

export interface Examples {
  /** A group with right and wrong tries, and one of each. */
  mixed: { group: string; right: string; wrong: string } | null;
  /** A try that went right, else any. */
  rollout: string | null;
  /** Its task. */
  task: { domain: string; id: string } | null;
}

/** @param kept ids of the rollouts whose words are stored: others are no use to a reader */
export function examplesOf(rollouts: readonly RolloutSummary[], kept: ReadonlySet<string>): Examples {
  const readable = rollouts.filter(({ id }) => kept.has(id));
  const mixed = groupRollouts(readable).findLast(({ outcome }) => outcome === 'mixed');
  const example = readable.findLast(({ reward }) => reward === 1) ?? readable.at(-1);
  return {
    mixed: mixed ? sides(mixed) : null,
    rollout: example?.id ?? null,
    task: example ? { domain: example.domain ?? example.task.split('/')[0]!, id: example.task } : null,
  };
}

function sides({ id, rollouts }: Group): { group: string; right: string; wrong: string } {
  const of = (wanted: number) => rollouts.find(({ reward }) => reward === wanted)!.id;
  return { group: id, right: of(1), wrong: of(0) };
}
