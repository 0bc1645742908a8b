/** The tree of a group's rollouts: which moves share a stretch, where the stretches lie, and GRPO's formula beside them. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RolloutSummary } from '../../../src/records/rollout.ts';
import { turnsOf, type Turn } from '../../../src/app/conversation/aligned/acts.ts';
import { actTree, type Played, rewardTone, type Stretch } from '../../../src/app/grpo/act-tree.ts';
import { advantageFormula, formulaInWords, groupFormulas } from '../../../src/app/grpo/advantage-formula.ts';
import { signed } from '../../../src/app/kit/format.ts';
import { BEND, layOut } from '../../../src/app/grpo/tree-layout.ts';
import { groupRollouts } from '../../../src/app/run-data/groups.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { estimateAdvantages } from '../../../src/training/advantages.ts';
import { grpoConfig } from '../../../src/training/config.ts';

/** A rollout whose moves are the letters of `moves`. */
const played = (index: number, moves: string, reward: number | null): Played => ({
  rollout: { id: `1-0-${index}`, index, reward },
  turns: [...moves].map((move, node): Turn => ({ node, act: 'ask', label: '', move, broken: [], nodes: [] })),
});
/** `abc*3[…]`: the moves of a stretch, the number of its rollouts, and what follows. */
const drawn = ({ turns, rollouts, next }: Stretch): string =>
  `${turns.map(({ move }) => move).join('')}*${rollouts.length}${next.length > 0 ? `[${next.map(drawn).join(' ')}]` : ''}`;

describe('the tree', () => {
  test('splits where moves differ; equal moves after a split are not joined again; the best way comes first', () => {
    const tree = actTree([played(0, 'abxs', 0), played(1, 'abcds', 1), played(2, 'abces', 0), played(3, 'abxs', 0)]);
    expect(drawn(tree)).toBe('ab*4[c*2[ds*1 es*1] xs*2]');
    expect([tree.mean, tree.next[0]!.mean, tree.next[0]!.from, tree.next[0]!.next[0]!.from]).toEqual([0.25, 0.5, 2, 3]);
    expect(tree.next[1]!.rollouts.map(({ rollout }) => rollout.index)).toEqual([0, 3]);
  });

  test('rollouts that differ from the first turn on have a root without turns', () => {
    expect(drawn(actTree([played(0, 'as', 0), played(1, 'bs', 1)]))).toBe('*2[bs*1 as*1]');
  });

  test('a rollout that ends where others go on has a stretch of its own, without turns', () => {
    expect(drawn(actTree([played(0, 'ab', 1), played(1, 'abc', 0)]))).toBe('ab*2[*1 c*1]');
  });

  test('equal rollouts, one rollout and no rollout have one stretch', () => {
    expect(drawn(actTree([played(0, 'ab', 1), played(1, 'ab', 1)]))).toBe('ab*2');
    expect(drawn(actTree([played(0, '', 1)]))).toBe('*1');
    expect(drawn(actTree([]))).toBe('*0');
  });

  test('rollouts without a reward do not count in the mean, and come last', () => {
    const tree = actTree([played(0, 'a', null), played(1, 'b', 0), played(2, 'b', null)]);
    expect(tree.next.map(({ mean }) => mean)).toEqual([0, null]);
    expect(tree.mean).toBe(0);
  });

  test('the colour goes from wrong over grey to correct', () => {
    expect([0, 0.5, 1, 2].map(rewardTone)).toEqual([
      'color-mix(in oklab, var(--bad) 100%, var(--line-strong))',
      'color-mix(in oklab, var(--good) 0%, var(--line-strong))',
      'color-mix(in oklab, var(--good) 100%, var(--line-strong))',
      'color-mix(in oklab, var(--good) 100%, var(--line-strong))',
    ]);
    expect(rewardTone(null)).toBe('var(--line-strong)');
  });
});

test('the layout: heights count rollouts, parents are centred, stretches of a level do not touch', () => {
  const { blocks, ends, ribbons, levels, height } = layOut(
    actTree([played(0, 'abxs', 0), played(1, 'abcds', 1), played(2, 'abces', 0), played(3, 'abxs', 0)]),
    10,
    4,
  );
  expect([levels, height]).toEqual([3, 48]);
  expect(blocks.map(({ left, width, top, height }) => [left, width, top, height])).toEqual([
    [0, 1 - BEND, 4, 40],
    [1, 1 - BEND, 2, 20],
    [2, 1, 0, 10],
    [2, 1, 14, 10],
    [1, 2, 28, 20],
  ]);
  expect(ends.map(({ one, top }) => [one.rollout.index, top])).toEqual([
    [1, 0],
    [2, 14],
    [0, 28],
    [3, 38],
  ]);
  expect(ribbons).toHaveLength(4);
});

test('each rollout of the recorded run is on one way through its tree, move by move', async () => {
  const { rollouts, trajectories } = await readRunBundle(new Blob([readFileSync('public/recorded/run.mua.zip')]));
  const turns = new Map(trajectories.map((trajectory) => [trajectory.id, turnsOf(trajectory).turns]));
  let splits = 0;
  for (const group of groupRollouts(rollouts.filter(({ id }) => turns.has(id)))) {
    const tree = actTree(group.rollouts.map((rollout) => ({ rollout, turns: turns.get(rollout.id)! })));
    for (const { id } of group.rollouts) {
      const way: string[] = [];
      let at: Stretch | undefined = tree;
      while (at) {
        way.push(...at.turns.map(({ move }) => move));
        const into: Stretch[] = at.next.filter((next) => next.rollouts.some(({ rollout }) => rollout.id === id));
        expect(into).toHaveLength(at.next.length > 0 ? 1 : 0);
        splits += at.next.length;
        at = into[0];
      }
      expect(way).toEqual(turns.get(id)!.map(({ move }) => move));
    }
  }
  expect(splits).toBeGreaterThan(0);
});

describe('the formula', () => {
  const config = grpoConfig('tiny');
  /** A group with these rewards and the advantages that the trainer computes. */
  const groupOf = (rewards: number[], settings = config, extra: Partial<RolloutSummary> = {}) => {
    const [advantages] = estimateAdvantages([rewards.map((reward) => ({ reward, length: 10 }))], settings);
    return groupRollouts(
      rewards.map(
        (reward, index) => ({ id: `1-0-${index}`, group: '1-0', index, reward, advantage: advantages![index], ...extra }) as RolloutSummary,
      ),
    )[0]!;
  };

  test('has the numbers of the group, and gives the trainer’s advantage', () => {
    const group = groupOf([1, 0, 0, 0, 1, 0, 0, 0]);
    expect(groupFormulas(group, config).map(({ text }) => text)).toEqual(['(1 − 0.25) / 0.463 = 1.62', '(0 − 0.25) / 0.463 = −0.54']);
    expect(formulaInWords(config)).toBe('(reward − mean) / standard deviation = advantage');
  });

  test('an imported run that names no estimator used GRPO', () => {
    const settings = { norm_adv_by_std_in_grpo: true };
    expect(groupFormulas(groupOf([1, 0, 0, 0]), settings).map(({ text }) => text)).toEqual([
      '(1 − 0.25) / 0.5 = 1.5',
      '(0 − 0.25) / 0.5 = −0.5',
    ]);
  });

  test('without the division by the standard deviation', () => {
    const settings = { ...config, norm_adv_by_std_in_grpo: false };
    const group = groupOf([1, 0, 0, 0], settings);
    expect(advantageFormula(group.rollouts[0]!, group, settings)).toBe('1 − 0.25 = 0.75');
    expect(formulaInWords(settings)).toBe('reward − mean = advantage');
    // The advantages were computed with the division, so the formula without it does not explain them.
    expect(groupFormulas(groupOf([1, 0, 0, 0]), settings)).toEqual([]);
  });

  test('equal rewards give 0; of many rewards the highest and the lowest are shown; a negative mean is in brackets', () => {
    expect(groupFormulas(groupOf([1, 1, 1]), config)).toEqual([{ reward: 1, text: '1 − 1 = 0' }]);
    expect(groupFormulas(groupOf([0.5, 1, 0]), config).map(({ reward }) => reward)).toEqual([1, 0]);
    const settings = { ...config, norm_adv_by_std_in_grpo: false };
    const [advantages] = estimateAdvantages(
      [
        [
          { reward: 0, length: 1 },
          { reward: -1, length: 1 },
        ],
      ],
      settings,
    );
    const shaped = groupRollouts(
      [0, -1].map(
        (price, index) =>
          ({
            id: `1-0-${index}`,
            group: '1-0',
            index,
            reward: 0,
            rewards: { unconfirmed_write: price },
            advantage: advantages![index],
          }) as unknown as RolloutSummary,
      ),
    )[0]!;
    expect(groupFormulas(shaped, settings).map(({ text }) => text)).toEqual(['0 − (−0.5) = 0.5', '−1 − (−0.5) = −0.5']);
  });

  test('is absent for other estimators, before the advantages are known, and for a single rollout', () => {
    const rloo = { ...config, adv_estimator: 'rloo' as const };
    expect(groupFormulas(groupOf([1, 0], rloo), rloo)).toEqual([]);
    expect(formulaInWords(rloo)).toBeNull();
    expect(formulaInWords({ ...config, algorithm: 'rft' })).toBeNull();
    expect(groupFormulas(groupOf([1, 0], config, { advantage: null }), config)).toEqual([]);
    expect(groupFormulas(groupOf([1]), config)).toEqual([]);
  });

  test('advantages have a sign and two decimals', () => {
    expect([1.62, -0.7246, 0, 1e-9].map(signed)).toEqual(['+1.62', '−0.72', '0', '0']);
  });
});
