/** The picture of GRPO’s loop: “Advantage” and “Update” lead to a token that has the values. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { explainedGroup, mostChanged } from '../../../src/app/grpo/loop-moments.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';

const recorded = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));

/** All values of one annotation, in the order of the tokens. */
const valuesOf = ({ nodes }: Trajectory, name: string) =>
  nodes.flatMap(({ tokens, annotations }) => annotations?.[name] ?? tokens.map(() => null));

test('the recorded run: the newest mixed group with Δp, and the token of the largest Δp', () => {
  const group = explainedGroup(recorded.rollouts, recorded.trajectories)!;
  // Group 40-7 is newer and mixed, but a run keeps Δp only for the first group of each step.
  expect(group.id).toBe('36-0');
  const own = recorded.trajectories.filter((one) => one.group === '36-0');
  const token = mostChanged(own)!;
  const chosen = own.find(({ id }) => id === token.id)!;
  const sizes = own.flatMap((one) => valuesOf(one, 'delta_p').map((change) => Math.abs(change ?? 0)));
  expect(Math.abs(valuesOf(chosen, 'delta_p')[token.position]!)).toBe(Math.max(...sizes));
  expect(valuesOf(chosen, 'advantage')[token.position]).not.toBeNull();
});

test('a run that keeps no Δp has no group to explain', () => {
  const without = recorded.trajectories.filter(({ group }) => group === '40-7');
  expect(explainedGroup(recorded.rollouts, without)).toBeUndefined();
  expect(mostChanged(without)).toBeNull();
});
