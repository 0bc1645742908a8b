/** Supervised fine-tuning: the conversations of a step, and the tokens over which its loss is averaged. */
import { expect, test } from 'vitest';
import type { AdamWParams, Learner, TrainSequence } from '../../../src/engine/types.ts';
import { sftConfig } from '../../../src/training/config.ts';
import { maskedTokens, type SftStep, trainSft } from '../../../src/training/sft.ts';

/** Example i has i + 1 tokens in the loss. */
const examples = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    tokens: [0, ...Array<number>(i + 1).fill(i)],
    lossMask: [0, ...Array<number>(i + 1).fill(1)],
  }));

async function train(count: number, overrides: Record<string, string>) {
  const batches: (readonly TrainSequence[])[] = [];
  const params: AdamWParams[] = [];
  const learner = {
    accumulate: async (sequences: readonly TrainSequence[]) => {
      batches.push(sequences);
      return { logprobs: sequences.map(({ tokens }) => new Float32Array(tokens.length).fill(-2)), entropies: [] };
    },
    step: async (given: AdamWParams) => (params.push(given), { gradNorm: 1 }),
  } as unknown as Learner;
  const steps: SftStep[] = [];
  for await (const step of trainSft(learner, examples(count), sftConfig(overrides))) steps.push(step);
  const seen = batches.map((batch) => batch.map(({ tokens }) => tokens.length - 2));
  return { batches, params, steps, seen };
}

test('every epoch trains on every conversation once', async () => {
  const { seen, steps } = await train(7, { train_batch_size: '3', total_training_steps: '0' });
  expect(seen.map((batch) => batch.length)).toEqual([3, 3, 1, 3, 3, 1]);
  for (const epoch of [seen.slice(0, 3), seen.slice(3)]) expect(epoch.flat().sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(seen.slice(0, 3)).not.toEqual(seen.slice(3));
  expect(steps.map(({ step, totalSteps }) => [step, totalSteps])).toEqual([1, 2, 3, 4, 5, 6].map((step) => [step, 6]));
});

test('the loss of each batch is the mean over its own tokens, also in a smaller batch', async () => {
  const { batches, steps } = await train(4, { train_batch_size: '3', total_training_steps: '2' });
  expect(batches.map(({ length }) => length)).toEqual([3, 1]);
  for (const batch of batches) {
    const tokens = batch.reduce((sum, sequence) => sum + sequence.tokens.length - 1, 0);
    expect(batch.map(({ weight }) => weight)).toEqual(Array(batch.length).fill(1 / tokens));
  }
  expect(steps.map(({ loss }) => loss)).toEqual([expect.closeTo(2, 6), expect.closeTo(2, 6)]);
});

test('fewer conversations than a batch are one batch', async () => {
  expect((await train(2, { train_batch_size: '16', total_training_steps: '0' })).seen.map((batch) => batch.length)).toEqual([2, 2]);
});

test('weight decay of all parameters is a setting', async () => {
  for (const value of [true, false])
    expect((await train(1, { decay_all_parameters: String(value) })).params[0]).toMatchObject({ decay_all_parameters: value });
});

test('nothing predicts the first token', () => {
  expect(maskedTokens({ tokens: [5, 6, 7, 8], lossMask: [1, 1, 0, 1] })).toBe(2);
});
