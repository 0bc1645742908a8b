/** Sampling of a run's held-out evaluation: during the run, and when the evaluation is repeated. */
import { expect, test } from 'vitest';
import type { Learner } from '../../../src/engine/types.ts';
import type { Evaluation } from '../../../src/evaluation/evaluate.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { heldOutSettings, validationSampling } from '../../../src/training/evaluation-settings.ts';
import { trainRun } from '../../../src/training/run.ts';
import { stage } from '../../support/episodes.ts';

const sampled = { temperature: 0.7, top_p: 0.9, top_k: 5 };
const greedy = { temperature: 0, top_p: 1, top_k: 0 };

test.each([
  [true, sampled],
  [false, greedy],
])('val_kwargs.do_sample %s', async (sample, expected) => {
  const config = grpoConfig('nano', { ...sampled, 'val_kwargs.do_sample': sample, val_tasks: 1, total_training_steps: 0 });
  expect(validationSampling(config)).toEqual(expected);
  expect(heldOutSettings(config, { mode: 'scripted' })).toMatchObject(expected);
  const { options, sampler } = stage({ agent: ['Done.<|im_end|>'], user: ['Hello.', '###STOP###'] });
  const parts = { ...options, sampler };
  await trainRun(parts, {} as Learner, config, 1, { onStep: async () => {}, onBaseline: async () => {} });
  const { temperature, top_p, top_k } = expected;
  expect(sampler.params).toEqual([expect.objectContaining({ temperature, topP: top_p, topK: top_k })]);
});

test('the settings of a run’s evaluation have its split; runs from before the setting existed played held-out tasks', () => {
  const splitOf = (config: object) => heldOutSettings(config as ReturnType<typeof grpoConfig>, { mode: 'scripted' }).split;
  expect(splitOf(grpoConfig('nano', { val_split: 'unseen' }))).toBe('unseen');
  const { val_split: _, ...old } = grpoConfig('nano');
  expect(splitOf(old)).toBe('heldout');
});

test('with val_greedy, the last evaluation is played once more, greedily; not if it is greedy already', async () => {
  const temperatures = async (overrides: object) => {
    const config = grpoConfig('nano', { ...sampled, val_greedy: true, val_tasks: 1, total_training_steps: 0, ...overrides });
    const { options, sampler } = stage({
      agent: ['Done.<|im_end|>', 'Done.<|im_end|>'],
      user: ['Hello.', '###STOP###', 'Hello.', '###STOP###'],
    });
    const kept: Evaluation[] = [];
    await trainRun({ ...options, sampler }, {} as Learner, config, 1, {
      onStep: async () => {},
      onBaseline: async (evaluation) => void kept.push(evaluation),
    });
    expect(kept).toHaveLength(1);
    return { played: sampler.params.map(({ temperature }) => temperature), both: kept[0]!.greedy !== undefined };
  };
  expect(await temperatures({ 'val_kwargs.do_sample': true })).toEqual({ played: [0.7, 0], both: true });
  expect(await temperatures({ 'val_kwargs.do_sample': false })).toEqual({ played: [0], both: false });
  expect(await temperatures({ 'val_kwargs.do_sample': true, val_greedy: false })).toEqual({ played: [0.7], both: false });
});
