/** Guesses for misspelt names. The expected names are what a reader would mean. */
import { expect, test } from 'vitest';
import { didYouMean, nearest } from '../../../src/base/did-you-mean.ts';
import { grpoConfig } from '../../../src/training/config.ts';

const SETTINGS = Object.keys(grpoConfig('nano'));

test.each([
  ['total_traning_steps', 'total_training_steps'],
  ['total-training-steps', 'total_training_steps'],
  ['lora_rnak', 'lora_rank'],
  ['Temperature', 'temperature'],
  ['usekl_loss', 'use_kl_loss'],
  ['use_kl_los', 'use_kl_loss'],
  ['batch_size', 'train_batch_size'],
  ['test_frequency', 'test_freq'],
  ['l', 'lr'],
])('%s means %s', (given, meant) => expect(nearest(given, SETTINGS)).toContain(meant));

test('a name that is far from all, an empty one and a very long one mean nothing', () => {
  for (const given of ['colour', '', 'x'.repeat(1_000_000), 'zzzzzzzz']) expect(nearest(given, SETTINGS)).toEqual([]);
  expect(didYouMean('colour', SETTINGS)).toBe('');
});

test('the likeliest names come first, and at most three', () => {
  expect(nearest('trian', ['train', 'brain', 'plan'])).toEqual(['train']);
  expect(nearest('aab', ['aaa', 'aac', 'aad', 'aae'])).toHaveLength(3);
  expect(didYouMean('trainn', ['train', 'trains'])).toBe(' (did you mean train or trains?)');
});

test('a setting, a preset and a level name their neighbours', () => {
  expect(() => grpoConfig('nano', { lora_rnk: '4' })).toThrow(/^unknown setting "lora_rnk" \(did you mean lora_rank\?\); known: /);
  expect(() => grpoConfig('naon')).toThrow(/^unknown preset "naon" \(did you mean nano\?\); known: /);
  expect(() => grpoConfig('nano', { 'customers.pushi': '1' })).toThrow(/\(did you mean .*pushy/);
});
