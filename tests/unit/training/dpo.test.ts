/** Direct preference optimisation: losses and metrics against TRL's DPOTrainer, and the steps of a training. */
import { describe, expect, test } from 'vitest';
import { renderConversation } from '../../../src/agent/chat-template.ts';
import type { AdamWParams, Learner, TrainSequence } from '../../../src/engine/types.ts';
import type { Preference } from '../../../src/records/conversation.ts';
import { dpoConfig } from '../../../src/training/config.ts';
import { accumulatePairs, pairLoss, type PairTokens, renderPair, trainDpo } from '../../../src/training/dpo.ts';
import { cases, pairs, policy, reference } from '../../support/dpo-fixture.ts';
import { bundledTokenizer } from '../../support/tokenizers.ts';

/** A learner that gives the answers these log-probabilities, all at the last token. It keeps what it gets. */
function learnerOf(logps: (pair: PairTokens, side: 'chosen' | 'rejected') => number, known: readonly PairTokens[] = pairs) {
  const batches: TrainSequence[][] = [];
  const params: AdamWParams[] = [];
  const learner = {
    score: async (sequences: readonly TrainSequence[]) => ({
      logprobs: sequences.map(({ tokens }, i) => {
        const pair = known.find(({ chosen, rejected }) => chosen.tokens === tokens || rejected.tokens === tokens)!;
        const row = new Float64Array(tokens.length);
        row[tokens.length - 1] = logps(pair, i % 2 === 0 ? 'chosen' : 'rejected');
        return row;
      }),
    }),
    accumulate: async (sequences: TrainSequence[]) => void batches.push(sequences),
    step: async (given: AdamWParams) => (params.push(given), { gradNorm: 1 }),
  } as unknown as Learner;
  return { learner, batches, params };
}

const ofFixture = learnerOf((pair, side) => policy[pairs.indexOf(pair)]![side]);
const SIDES = ['chosen', 'rejected'] as const;

describe.each(Object.entries(cases))('%s', (_, { config, loss, metrics }) => {
  test('loss, rewards, accuracies, margins and log-probs are TRL’s', async () => {
    const found = await accumulatePairs(ofFixture.learner, pairs, reference, config);
    // TRL computes log-probs in float32.
    expect(found['train/loss']).toBeCloseTo(loss, 5);
    for (const [name, value] of Object.entries(metrics)) expect(found[name]! / value, name).toBeCloseTo(1, 5);
  });

  test('the derivatives are those of the loss', () => {
    for (const [i, pair] of pairs.entries()) {
      const counts = { chosen: 0, rejected: 0 };
      for (const side of SIDES) counts[side] = Array.from(pair[side].lossMask).filter(Boolean).length;
      const lossAt = (side: 'chosen' | 'rejected', shift: number) =>
        pairLoss({ ...policy[i]!, [side]: policy[i]![side] + shift }, reference[i]!, counts, config).loss;
      const { gradient } = pairLoss(policy[i]!, reference[i]!, counts, config);
      for (const side of SIDES) expect((lossAt(side, 1e-5) - lossAt(side, -1e-5)) / 2e-5).toBeCloseTo(gradient[side], 6);
    }
  });
});

test('a large margin neither overflows nor becomes NaN', () => {
  const config = { beta: 1, label_smoothing: 0.1, loss_type: 'sigmoid' as const };
  const zero = { chosen: 0, rejected: 0 };
  const one = { chosen: 1, rejected: 1 };
  const good = pairLoss({ chosen: 5000, rejected: -5000 }, zero, one, config);
  expect(good.loss).toBeCloseTo(1000, 9); // 0.1 · 10,000
  expect(good.gradient).toEqual({ chosen: expect.closeTo(0.1, 9), rejected: expect.closeTo(-0.1, 9) });
  const bad = pairLoss({ chosen: -5000, rejected: 5000 }, zero, one, config);
  expect(bad.loss).toBeCloseTo(9000, 9);
  expect(bad.gradient.chosen).toBeCloseTo(-0.9, 9);
});

test('only the answers’ tokens that the agent writes are in the loss', () => {
  const tokenizer = bundledTokenizer('nano-retail');
  const prompt: Preference['prompt'] = [
    { role: 'system', content: 'Help.' },
    { role: 'user', content: 'Cancel it.' },
    { role: 'assistant', content: 'Which order?' },
    { role: 'user', content: 'Order 1.' },
  ];
  const chosen: Preference['prompt'] = [
    { role: 'assistant', content: 'Yes or no?' },
    { role: 'user', content: 'Yes.' },
    { role: 'assistant', content: 'Done.' },
  ];
  const rejected: Preference['prompt'] = [{ role: 'assistant', content: 'No.' }];
  const pair = renderPair(tokenizer, { prompt, chosen, rejected }, false);
  const said = ({ tokens, lossMask }: PairTokens['chosen']) => tokenizer.decode(Array.from(tokens).filter((_, t) => lossMask[t]));
  expect(said(pair.chosen)).toBe('Yes or no?<|im_end|>Done.<|im_end|>');
  expect(said(pair.rejected)).toBe('No.<|im_end|>');
  expect(pair.chosen.tokens).toEqual(renderConversation(tokenizer, { messages: [...prompt, ...chosen] }).tokens);
});

test('each epoch has each pair once, with its own reference; a resumed run goes on with the same batches', async () => {
  const many = Array.from({ length: 5 }, (_, i): PairTokens => {
    const side = (token: number) => ({ tokens: [0, i, token], lossMask: [0, 0, 1] });
    return { chosen: side(1), rejected: side(2) };
  });
  const own = many.map((_, i) => ({ chosen: -i, rejected: -10 * i }));
  const config = dpoConfig({ train_batch_size: '2', total_training_steps: '0', lr: '1', lr_scheduler_type: 'constant' });
  const { learner, batches, params } = learnerOf((pair, side) => own[many.indexOf(pair)]![side], many);
  const steps = [];
  for await (const step of trainDpo(learner, many, own, config)) steps.push(step);
  expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
  const seen = batches.map((batch) => batch.filter((_, i) => i % 2 === 0).map(({ tokens }) => tokens[1]!));
  for (const epoch of [seen.slice(0, 3), seen.slice(3)]) expect(epoch.flat().sort()).toEqual([0, 1, 2, 3, 4]);
  // The policy is the reference, so each margin is 0, the loss ln 2, and each answer has the weight ± beta/2 of a mean over the batch.
  for (const { 'train/loss': loss } of steps) expect(loss).toBeCloseTo(Math.LN2, 12);
  for (const batch of batches)
    expect(batch.map(({ weight }) => weight)).toEqual(
      batch.map((_, i) => expect.closeTo((i % 2 === 0 ? 0.05 : -0.05) / (batch.length / 2), 12) as number),
    );
  expect(params).toHaveLength(6);
  expect(params[0]!.lr).toBe(1);
  const later = [];
  for await (const step of trainDpo(learner, many, own, config, 4)) later.push(step);
  expect(later).toEqual(steps.slice(4));
  expect(batches.slice(6)).toEqual(batches.slice(4, 6));
});

test('settings have TRL’s names, and wrong values are refused', () => {
  expect(dpoConfig({ beta: '0.3', loss_type: 'ipo', learning_rate: '1e-4' })).toMatchObject({ beta: 0.3, loss_type: 'ipo', lr: 1e-4 });
  expect(() => dpoConfig({ beta: '0' })).toThrow('setting "beta" is 0');
  expect(() => dpoConfig({ label_smoothing: '0.5' })).toThrow('setting "label_smoothing" is 0.5');
  expect(() => dpoConfig({ loss_type: 'hinge' })).toThrow('setting "loss_type" is "hinge"');
  expect(() => dpoConfig({ loss_type: 'ipo', label_smoothing: '0.1' })).toThrow('expected 0, as loss_type is ipo');
  expect(() => dpoConfig({ kl_loss_coef: '0.1' })).toThrow('kl_loss_coef');
});
