/** @file Places in the recorded run that lessons open. The lookup works with any recording. */
import type { RolloutSummary } from '../../../records/rollout.ts';
import { type Group, groupRollouts } from '../run/groups.ts';

export interface Examples {
  /** The run's id; null if this page has no recorded run. */
  run: string | null;
  /** A group with correct and wrong rollouts, and one rollout of each kind. */
  mixed: { group: string; right: string; wrong: string } | null;
  /** The newest correct rollout; if no rollout is correct, the newest. */
  rollout: string | null;
  /** The task of that rollout. */
  task: { domain: string; id: string } | null;
}

/** @param kept ids of the rollouts whose conversation is stored; a lesson can show only these */
export function examplesOf(run: string | null, rollouts: readonly RolloutSummary[], kept: ReadonlySet<string>): Examples {
  const readable = rollouts.filter(({ id }) => kept.has(id));
  const mixed = groupRollouts(readable).findLast(({ outcome }) => outcome === 'mixed');
  const example = readable.findLast(({ reward }) => reward === 1) ?? readable.at(-1);
  return {
    run,
    mixed: mixed ? sides(mixed) : null,
    rollout: example?.id ?? null,
    task: example ? { domain: example.domain ?? example.task.split('/')[0]!, id: example.task } : null,
  };
}

function sides({ id, rollouts }: Group): { group: string; right: string; wrong: string } {
  const of = (wanted: number) => rollouts.find(({ reward }) => reward === wanted)!.id;
  return { group: id, right: of(1), wrong: of(0) };
}
