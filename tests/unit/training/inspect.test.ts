/** Scores of the group that is always stored. They must not change the updates. */
import { expect, test } from 'vitest';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import type { Learner, ScoreOptions, Scores, TrainSequence } from '../../../src/engine/types.ts';
import { inspectGroup, TOP_LOGPROBS } from '../../../src/training/inspect.ts';
import { PAPER } from '../../../src/training/defaults.ts';

const trajectory = () =>
  ({
    leaf: 1,
    nodes: [
      { id: 0, parent: null, role: 'user', text: '', tokens: [7, 8], mask: [0, 0], logprobs: [null, null] },
      { id: 1, parent: 0, role: 'assistant', text: '', tokens: [9, 3], mask: [1, 1], logprobs: [Math.log(0.5), Math.log(0.25)] },
    ],
  }) as unknown as Trajectory;

/** An engine that can only score. The probability of each token grows with each pass. */
function scorer() {
  const calls: ScoreOptions[] = [];
  const score = async (sequences: readonly TrainSequence[], options: ScoreOptions = {}): Promise<Scores> => {
    calls.push(options);
    const p = options.weights === 'reference' ? 0.125 : calls.filter((call) => call.weights !== 'reference').length === 1 ? 0.5 : 0.75;
    const filled = (value: number) => sequences.map(({ tokens }) => new Float32Array(tokens.length).fill(value));
    const k = options.topLogprobs ?? 0;
    const top = sequences.map(({ tokens }) => ({
      k,
      ids: Uint32Array.from({ length: k * tokens.length }, (_, i) => 10 * Math.floor(i / k) + (i % k)),
      logprobs: new Float32Array(k * tokens.length).fill(-2),
    }));
    return { logprobs: filled(Math.log(p)), entropies: filled(1.5), ...(k > 0 && { top }) };
  };
  return { calls, learner: { score } as unknown as Learner };
}

const sample = () => ({
  trajectory: trajectory(),
  tokens: [7, 8, 9, 3],
  lossMask: [0, 0, 1, 1],
  oldLogprobs: [0, 0, Math.log(0.5), Math.log(0.25)],
});

test('alternatives before the update, the change of probability after it, on sampled tokens only', async () => {
  const { calls, learner } = scorer();
  const inspected = sample();
  const after = await inspectGroup(learner, [inspected], { ...PAPER, temperature: 0.5 }, { trained: [] });
  const [given, sampled] = inspected.trajectory.nodes;
  expect(sampled!.annotations!.delta_p).toBeUndefined();
  await after();
  expect(given!.annotations).toBeUndefined();
  const { annotations } = sampled!;
  expect(annotations!.delta_p).toEqual([0.25, 0.25].map((v) => expect.closeTo(v, 6)));
  expect(annotations!.ratio).toEqual([1, 2].map((v) => expect.closeTo(v, 6)));
  expect(annotations!.ref_logprobs).toEqual([Math.log(0.125), Math.log(0.125)].map((v) => expect.closeTo(v, 6)));
  expect(annotations!.entropy).toEqual([1.5, 1.5]);
  expect(annotations!.top_1_id).toEqual([20, 30]);
  expect(annotations![`top_${TOP_LOGPROBS}_id`]).toEqual([24, 34]);
  expect([annotations!.after_top_1_id, annotations!.after_top_1_logprob]).toEqual([
    [20, 30],
    [-2, -2],
  ]);
  expect(annotations!.top_3_logprob).toEqual([-2, -2]);
  expect(calls.map(({ weights, topLogprobs, temperature }) => [weights ?? 'trained', topLogprobs ?? 0, temperature])).toEqual([
    ['trained', TOP_LOGPROBS, 0.5],
    ['reference', 0, 0.5],
    ['trained', 1, 0.5],
  ]);
});

test('scores of the reference from the update are reused; without the KL term the reference scores nothing', async () => {
  for (const [use_kl_loss, known] of [
    [true, true],
    [false, false],
  ] as const) {
    const { calls, learner } = scorer();
    const inspected = sample();
    await (
      await inspectGroup(learner, [inspected], { ...PAPER, use_kl_loss }, { trained: known ? [inspected] : [] })
    )();
    expect(calls).toHaveLength(2);
    expect(inspected.trajectory.nodes[1]!.annotations!.ref_logprobs).toBeUndefined();
  }
});

test('in a group that is trained on in part, the reference scores the other rollouts', async () => {
  const { calls, learner } = scorer();
  const [known, rest] = [sample(), sample()];
  await (
    await inspectGroup(learner, [known, rest], PAPER, { trained: [known] })
  )();
  expect(calls).toHaveLength(3);
  expect(known.trajectory.nodes[1]!.annotations!.ref_logprobs).toBeUndefined();
  expect(rest.trajectory.nodes[1]!.annotations!.ref_logprobs).toEqual([Math.log(0.125), Math.log(0.125)].map((v) => expect.closeTo(v, 6)));
});

test('without a group nothing is scored', async () => {
  const { calls, learner } = scorer();
  await (
    await inspectGroup(learner, [], PAPER, { trained: [] })
  )();
  expect(calls).toEqual([]);
});
