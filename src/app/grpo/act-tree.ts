/**
 * @file Makes a tree of moves from the rollouts of a group. Rollouts share a stretch while their moves are equal, and split where they
 * differ.
 */
import { isScored, totalReward } from '../../base/total-reward.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { Turn } from '../conversation/aligned/acts.ts';

/** A rollout with the turns of its stored conversation. */
export interface Played {
  rollout: Pick<RolloutSummary, 'id' | 'index' | 'reward'>;
  turns: readonly Turn[];
}

export interface Stretch<R extends Played = Played> {
  /** The index of the stretch's first turn. */
  from: number;
  /**
   * The turns that the rollouts of this stretch have in common, taken from the first rollout. Empty at the root if the rollouts differ in
   * their first turn, and for rollouts that end where other rollouts continue.
   */
  turns: readonly Turn[];
  /** The rollouts in the order of the argument of `actTree`. */
  rollouts: readonly R[];
  /** Mean reward of the scored rollouts of this stretch; null if none is scored. */
  mean: number | null;
  /** The stretches that follow, the highest mean reward first; of equal ones, the most rollouts first. Empty where the rollouts end. */
  next: readonly Stretch<R>[];
}

/** The tree of the moves from turn `from` on. Two moves are equal as in `Turn.move`. */
export function actTree<R extends Played>(rollouts: readonly R[], from = 0): Stretch<R> {
  const first = rollouts[0]?.turns ?? [];
  let to = from;
  while (to < first.length && rollouts.every(({ turns }) => turns[to]?.move === first[to]!.move)) to++;
  const ways = new Map<string | undefined, R[]>();
  if (rollouts.some(({ turns }) => to < turns.length)) {
    for (const one of rollouts) {
      const move = one.turns[to]?.move;
      ways.set(move, [...(ways.get(move) ?? []), one]);
    }
  }
  const next = [...ways.values()].map((way) => actTree(way, to));
  next.sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1) || b.rollouts.length - a.rollouts.length);
  return { from, turns: first.slice(from, to), rollouts, mean: meanReward(rollouts), next };
}

function meanReward(rollouts: readonly Played[]): number | null {
  const scored = rollouts.flatMap(({ rollout }) => rollout.reward ?? []);
  return scored.length === 0 ? null : scored.reduce((sum, reward) => sum + reward, 0) / scored.length;
}

/** The colour of a mean reward: the colour of “wrong” at 0, grey at 0.5, the colour of “correct” at 1. */
export function rewardTone(mean: number | null): string {
  if (mean === null) return 'var(--line-strong)';
  const share = Math.round(100 * Math.min(1, Math.abs(2 * mean - 1)));
  return `color-mix(in oklab, var(${mean < 0.5 ? '--bad' : '--good'}) ${share}%, var(--line-strong))`;
}

/**
 * The colour of each rollout, from 0 to 1: its outcome. In a group of another tool it is the place of its reward between the lowest and the
 * highest of the group, or 0.5 if they are equal. Null if it is not scored.
 */
export function shadesOf(rollouts: readonly RolloutSummary[]): ReadonlyMap<string, number | null> {
  const rewards = rollouts.filter((own) => own.foreign && isScored(own)).map(totalReward);
  const [low, high] = [Math.min(...rewards), Math.max(...rewards)];
  return new Map(
    rollouts.map((own) => {
      if (!own.foreign) return [own.id, own.reward];
      const place = high > low ? (totalReward(own) - low) / (high - low) : 0.5;
      return [own.id, isScored(own) ? place : null];
    }),
  );
}

/** The rollouts with their shades as rewards, for the colours of the tree. */
export const shaded = (played: readonly Played[], shades: ReadonlyMap<string, number | null>): Played[] =>
  played.map(({ rollout, turns }) => ({ rollout: { ...rollout, reward: shades.get(rollout.id) ?? null }, turns }));
