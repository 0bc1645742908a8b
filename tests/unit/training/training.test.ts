import { describe, expect, test } from 'vitest';
import type { GrpoConfig } from '../../../src/records/run.ts';
import { passHat } from '../../../src/evaluation/pass-hat.ts';
import { permutation } from '../../../src/base/random.ts';
import { estimateAdvantages, meanAdvantage, tokenAdvantages, tokenWeights } from '../../../src/training/advantages.ts';
import { ConfigError, grpoConfig, lossConfig, sftConfig } from '../../../src/training/config.ts';
import { overlongReward } from '../../../src/training/overlong.ts';
import { PAPER } from '../../../src/training/defaults.ts';
import { limitsFor, presetFor, PRESETS } from '../../../src/training/presets.ts';
import { grpoTokenLoss, klEstimate } from '../../../src/training/grpo-loss.ts';
import { learningRate } from '../../../src/training/schedule.ts';

const groupAdvantages = (rewards: number[], changed: Partial<GrpoConfig> = {}) =>
  estimateAdvantages([rewards.map((reward) => ({ reward, length: 2 }))], { ...PAPER, ...changed })[0]!;

describe('advantages', () => {
  // Groups of eight with k successes (sample std).
  test.each([
    [1, 2.475, -0.354],
    [2, 1.62, -0.54],
    [3, 1.208, -0.725],
    [4, 0.935, -0.935],
    [5, 0.725, -1.208],
    [6, 0.54, -1.62],
    [7, 0.354, -2.475],
  ])('%i of 8 correct', (k, success, failure) => {
    const advantages = groupAdvantages(Array.from({ length: 8 }, (_, i) => (i < k ? 1 : 0)));
    expect(advantages[0]).toBeCloseTo(success, 3);
    expect(advantages[7]).toBeCloseTo(failure, 3);
  });
  test('groups without variance have advantage 0', () => {
    expect(groupAdvantages([1, 1, 1])).toEqual([0, 0, 0]);
    expect(groupAdvantages([0, 0, 0])).toEqual([0, 0, 0]);
  });
  test('a group of one rollout has no advantage', () => {
    expect(groupAdvantages([1])).toEqual([0]);
    expect(groupAdvantages([1], { norm_adv_by_std_in_grpo: false })).toEqual([0]);
  });
  test('without the std it is Dr.GRPO', () => expect(groupAdvantages([1, 0], { norm_adv_by_std_in_grpo: false })).toEqual([0.5, -0.5]));
  test('RLOO subtracts the mean of the others', () => {
    expect(groupAdvantages([1, 0, 0, 0], { adv_estimator: 'rloo' })).toEqual([1, -1 / 3, -1 / 3, -1 / 3].map((a) => expect.closeTo(a, 12)));
  });
  test('OPO weighs the rewards of the baseline by length', () => {
    const group = [
      { reward: 1, length: 3 },
      { reward: 0, length: 1 },
    ];
    expect(estimateAdvantages([group], { ...PAPER, adv_estimator: 'opo' })).toEqual([[0.25, -0.75]]);
  });
  test('pass@k: a tie has no advantage', () => {
    expect(groupAdvantages([1, 1, 0], { adv_estimator: 'grpo_passk' })).toEqual([0, 0, 0]);
  });
  test('REINFORCE++ has mean 0 and standard deviation 1 over the tokens, so a longer rollout counts more', () => {
    const groups = [[{ reward: 1, length: 1 }], [{ reward: 0, length: 3 }]];
    const [[success], [failure]] = estimateAdvantages(groups, { ...PAPER, adv_estimator: 'reinforce_plus_plus' });
    expect(meanAdvantage(success!)).toBeCloseTo(1.5, 6);
    expect(failure).toEqual(Array(3).fill(expect.closeTo(-0.5, 6)));
  });
  test('REINFORCE++ without two tokens, and rollouts without a token, have advantage 0', () => {
    const lengths = (...all: number[]) => [all.map((length) => ({ reward: 1, length }))];
    expect(estimateAdvantages(lengths(1, 0), { ...PAPER, adv_estimator: 'reinforce_plus_plus' })).toEqual([[[0], []]]);
    expect(estimateAdvantages(lengths(0, 0), { ...PAPER, adv_estimator: 'opo' })).toEqual([[1, 1]]);
    expect(meanAdvantage([])).toBe(0);
  });
  test('the advantages of sampled tokens are put at their places', () => {
    expect(tokenAdvantages([3, 2, 1], [0, 1, 1, 0, 1])).toEqual([0, 3, 2, 0, 1]);
    expect(tokenAdvantages(2, [0, 1, 1, 0, 1])).toEqual([0, 2, 2, 0, 2]);
  });
});

describe('weights of tokens', () => {
  const weights = (counts: number[], loss_agg_mode: GrpoConfig['loss_agg_mode'], ppo_micro_batch_size_per_gpu = 0, loss_scale_factor = 0) =>
    tokenWeights(counts, { loss_agg_mode, ppo_micro_batch_size_per_gpu, loss_scale_factor, max_model_len: 32 });
  test('the loss aggregations differ on sequences of different lengths', () => {
    expect(weights([3, 1], 'token-mean')).toEqual([1 / 4, 1 / 4]);
    expect(weights([3, 1], 'seq-mean-token-sum')).toEqual([1 / 2, 1 / 2]);
    expect(weights([3, 1], 'seq-mean-token-mean')).toEqual([1 / 6, 1 / 2]);
    expect(weights([3, 1], 'seq-mean-token-sum-norm', 0, 10)).toEqual([1 / 10, 1 / 10]);
  });
  test('without loss_scale_factor the divisor is the largest length', () => {
    expect(weights([3, 1], 'seq-mean-token-sum-norm')).toEqual([1 / 32, 1 / 32]);
  });
  test('a sequence without sampled tokens does not count as a sequence', () => {
    expect(weights([3, 0], 'seq-mean-token-sum')).toEqual([1, 1]);
    expect(weights([2, 0], 'seq-mean-token-mean')[0]).toBe(1 / 2);
  });
  test('per micro-batch: the means of all micro-batches have equal weight', () => {
    expect(weights([3, 1, 2], 'token-mean', 2)).toEqual([1 / 8, 1 / 8, 1 / 4]);
    expect(weights([3, 1, 2], 'seq-mean-token-sum', 2)).toEqual([1 / 4, 1 / 4, 1 / 2]);
    expect(weights([3, 1, 2], 'token-mean', 8)).toEqual([1 / 6, 1 / 6, 1 / 6]);
  });
});

test('the penalty for length grows in the buffer before the limit', () => {
  const config = {
    ...PAPER,
    max_model_len: 100,
    'overlong_buffer.enable': true,
    'overlong_buffer.len': 20,
    'overlong_buffer.penalty_factor': 2,
  };
  expect([50, 80, 85, 100].map((tokens) => overlongReward(tokens, config))).toEqual([0, 0, -0.5, -2]);
  expect(overlongReward(100, { ...config, 'overlong_buffer.enable': false })).toBe(0);
});

describe('policy loss', () => {
  const config = { ...PAPER, use_kl_loss: false };
  const atRatio = (ratio: number, advantage: number) => grpoTokenLoss(Math.log(ratio), advantage, 0, 0, config);
  test('dual clip bounds a negative advantage', () => expect(atRatio(5, -1)).toMatchObject({ policy: 3, clippedLower: true }));
  test('a positive advantage is clipped above', () => expect(atRatio(5, 1).policy).toBeCloseTo(-1.2, 12));
  test('a positive advantage is not clipped below', () => expect(atRatio(0.1, 1)).toMatchObject({ clipped: false }));
  test('a negative advantage is clipped below', () => {
    expect(atRatio(0.1, -1).policy).toBeCloseTo(0.8, 12);
    expect(atRatio(0.1, -1).clipped).toBe(true);
  });
  test('KL estimators', () => {
    expect(klEstimate(0.1, 'k1')).toBe(0.1);
    expect(klEstimate(-0.1, 'abs')).toBe(0.1);
    expect(klEstimate(-1, 'k2')).toBe(0.5);
    expect(klEstimate(1, 'low_var_kl')).toBeCloseTo(Math.exp(-1), 12);
    expect(klEstimate(-1, 'low_var_kl')).toBeCloseTo(Math.E - 2, 12);
    expect(klEstimate(-25, 'low_var_kl')).toBe(10);
    expect(klEstimate(25, 'low_var_kl')).toBeCloseTo(19 + Math.exp(-20) - 9, 6);
  });
});

test('learning-rate schedules', () => {
  expect(learningRate(1, 'constant', 50, 100, 0)).toBe(1);
  expect(learningRate(1, 'linear', 50, 100, 0)).toBe(0.5);
  expect(learningRate(1, 'cosine', 50, 100, 0)).toBeCloseTo(0.5, 12);
  expect(learningRate(1, 'constant', 0, 100, 3)).toBe(0.25);
  expect(learningRate(1, 'constant', 3, 100, 3)).toBe(1);
});

describe('pass^k', () => {
  test('unbiased estimate', () => {
    expect(passHat(3, 4, 1)).toBe(0.75);
    expect(passHat(3, 4, 2)).toBe(0.5);
    expect(passHat(1, 4, 2)).toBe(0);
    expect(() => passHat(1, 4, 5)).toThrow(/k is 5, expected 1 to 4/);
  });
});

describe('configuration', () => {
  test('TRL names and values are understood', () => {
    expect(grpoConfig('nano', { num_generations: '4', epsilon: '0.3', kl_loss_type: 'k3' })).toMatchObject({
      n: 4,
      clip_ratio_low: 0.3,
      kl_loss_type: 'low_var_kl',
    });
  });
  test('verl’s names with a dot are understood', () => {
    expect(
      grpoConfig('nano', { 'filter_groups.enable': 'false', 'filter_groups.max_num_gen_batches': '4', 'val_kwargs.do_sample': 'False' }),
    ).toMatchObject({ filter_groups: false, 'filter_groups.max_num_gen_batches': 4, 'val_kwargs.do_sample': false });
  });
  test('GSPO averages over sequences', () => {
    expect(lossConfig({ loss_mode: 'gspo' })).toMatchObject({ loss_agg_mode: 'seq-mean-token-mean' });
    expect(grpoConfig('nano', { 'policy_loss.loss_mode': 'gspo' })).toMatchObject({
      loss_mode: 'gspo',
      loss_agg_mode: 'seq-mean-token-mean',
    });
  });
  test('only presets with a bundled model stand for a domain and a level', () => {
    expect(presetFor('retail', 'nano')).toBe('nano');
    expect([presetFor('retail', 'full'), presetFor('tau1-retail', 'full')]).toEqual([undefined, undefined]);
    expect(limitsFor('retail', 'full')).toMatchObject({ level: 'full', lora_rank: 0, max_model_len: 8192 });
  });
  test('every preset is valid', () => {
    for (const name of Object.keys(PRESETS)) expect(grpoConfig(name)).toEqual(PRESETS[name]!.config);
  });
  test.each([
    [{ lr: '-1' }, /"lr" is -1/],
    [{ n: '2.5' }, /"n" is 2.5/],
    [{ n: '1' }, /"n" is 1: expected at least 2/],
    [{ 'filter_groups.max_num_gen_batches': '-1' }, /"filter_groups.max_num_gen_batches" is -1/],
    [{ beta1: '1' }, /"beta1" is 1/],
    [{ adam_beta2: '1' }, /"beta2" is 1/],
    [{ n: 'many' }, /"n" is "many": expected a number/],
    [{ require_done: 'maybe' }, /"require_done" is "maybe": expected true or false/],
    [{ kv_cache_dtype: 'fp8' }, /"kv_cache_dtype" is "fp8"/],
    [{ max_model_len: '512', kv_cache_tokens: '511' }, /"kv_cache_tokens" is 511: expected 0, or at least max_model_len \(512\)/],
    [{ colour: 'red' }, /unknown setting "colour"/],
    [{ __proto__x: '1' }, /unknown setting/],
    [{ adv_estimator: 'gae' }, /"adv_estimator" is "gae"/],
    [{ 'policy_loss.loss_mode': 'sapo' }, /"loss_mode" is "sapo"/],
    [
      { loss_mode: 'gspo', loss_agg_mode: 'token-mean' },
      /"loss_agg_mode" is "token-mean": expected seq-mean-token-mean, as loss_mode is gspo/,
    ],
    [{ 'overlong_buffer.enable': 'true', 'overlong_buffer.len': '0' }, /"overlong_buffer.len" is 0: expected 1 to max_model_len \(1024\)/],
    [{ 'overlong_buffer.enable': 'true', 'overlong_buffer.len': '1025' }, /"overlong_buffer.len" is 1025/],
    [{ gamma: '1.5' }, /"gamma" is 1.5/],
    [{ ppo_mini_batch_size: '3' }, /"ppo_mini_batch_size" is 3: expected a divisor/],
  ])('bad setting %j', (overrides, message) => {
    expect(() => grpoConfig('nano', overrides)).toThrow(ConfigError);
    expect(() => grpoConfig('nano', overrides)).toThrow(message);
  });
  test('SFT settings', () => expect(sftConfig({ lr: '0.01' }).lr).toBe(0.01));
});

test('a permutation contains every index once and depends on its epoch', () => {
  const first = permutation(100, 7, 0);
  expect([...first].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(permutation(100, 7, 0)).toEqual(first);
  expect(permutation(100, 7, 1)).not.toEqual(first);
});
