/** From rewards to derivatives: our float64 numbers against verl's and TRL's own functions (tests/reference/verl_algorithms.py). */
import { describe, expect, test } from 'vitest';
import type { GrpoConfig } from '../../../src/records/run.ts';
import { estimateAdvantages } from '../../../src/training/advantages.ts';
import { ALGORITHMS } from '../../../src/training/algorithms/index.ts';
import { grpoTokenLoss } from '../../../src/training/grpo-loss.ts';
import { UpdateMeter } from '../../../src/training/metrics.ts';
import { POLICY_LOSSES } from '../../../src/training/policy-loss.ts';
import { PAPER } from '../../../src/training/defaults.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { batch, cases, chainOf, configOf, fixture, type LossToken, relativeError } from '../../support/verl-algorithms.ts';

const TOLERANCE = 1e-7;

/** The loss of a token. The gradient stops at `held`: CISPO's ratio is that of the fixed log-probability `held`. */
function tokenLoss(token: LossToken, config: GrpoConfig, logprob = token.logprob): number {
  const parts = grpoTokenLoss(logprob, token.advantage, token.old, token.ref, config);
  const held = POLICY_LOSSES.cispo.value(logprob, token.advantage, token.logprob - token.old, config);
  const policy = config.loss_mode === 'cispo' ? held.policy : parts.policy;
  return token.weight * (policy + (config.use_kl_loss ? config.kl_loss_coef * parts.kl! : 0) - config.entropy_coeff * token.entropy);
}

/** The derivative of the loss by the log-probability of each token, by differences. */
const gradientOf = (tokens: readonly LossToken[], config: GrpoConfig): number[] =>
  tokens.map((token) => (tokenLoss(token, config, token.logprob + 1e-5) - tokenLoss(token, config, token.logprob - 1e-5)) / 2e-5);

const onTokens = (tokens: readonly LossToken[], rows: readonly (readonly number[])[]) =>
  tokens.map(({ sequence, at }) => rows[sequence]![at]!);
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

describe.each(cases)('verl: $name', (expected) => {
  const config = configOf(expected);
  const { rewards, advantages, tokens } = chainOf(config, expected.groups);

  test('rewards and advantages', () => {
    expect(relativeError(rewards, expected.rewards)).toBeLessThan(TOLERANCE);
    expect(relativeError(advantages.flat(), expected.advantages.flat())).toBeLessThan(TOLERANCE);
  });

  test('the loss, and its derivative by each log-probability and entropy', () => {
    expect(Math.abs(total(tokens.map((token) => tokenLoss(token, config))) / expected.loss - 1)).toBeLessThan(TOLERANCE);
    expect(relativeError(gradientOf(tokens, config), onTokens(tokens, expected.gradient))).toBeLessThan(TOLERANCE);
    const entropy = tokens.map(({ weight }) => -config.entropy_coeff * weight);
    expect(relativeError(entropy, onTokens(tokens, expected.entropy_gradient))).toBeLessThan(TOLERANCE);
    // verl's derivative is 0 at tokens that were not sampled.
    expect(total(expected.gradient.flat())).toBeCloseTo(total(onTokens(tokens, expected.gradient)), 12);
  });

  const { metrics: reference } = expected;
  if (!reference) return; // verl's metrics of micro-batches are means of means
  test('the clip fractions and the KL metric', () => {
    const meter = new UpdateMeter();
    for (const { logprob, sampled, old, ref, entropy, advantage } of tokens)
      meter.add(grpoTokenLoss(logprob, advantage, old, ref, config), entropy, logprob - sampled);
    const metrics = meter.metrics(0);
    for (const [name, value] of Object.entries(reference)) expect(metrics[name], name).toBeCloseTo(value, 6);
  });
});

test('the batch reaches both sides of the clip and the dual clip, and has positive and negative advantages', () => {
  const config = { ...PAPER, ...configOf(cases[0]!) };
  const { tokens } = chainOf(config);
  const ratio = ({ logprob, old }: LossToken) => Math.exp(logprob - old);
  const count = (test: (token: LossToken) => boolean) => tokens.filter(test).length;
  expect(count((t) => t.advantage > 0 && ratio(t) > 1.2)).toBeGreaterThan(2);
  expect(count((t) => t.advantage < 0 && ratio(t) < 0.8)).toBeGreaterThan(2);
  expect(count((t) => t.advantage < 0 && ratio(t) > 3)).toBeGreaterThan(0);
  expect(batch.masks.some((mask) => mask.join('').includes('101'))).toBe(true);
});

test('every algorithm that verl has is a case with its settings', () => {
  const preset = PRESETS.nano!.config;
  /** Settings that are about the rollouts, or that follow from the size of the batch. */
  const others = ['filter_groups', 'filter_groups.max_num_gen_batches', 'ppo_mini_batch_size', 'ppo_epochs'];
  const scaled = ['loss_scale_factor', 'overlong_buffer.len'];
  for (const [name, { settings, source }] of Object.entries(ALGORITHMS)) {
    // turn-rewards.test.ts compares these with the equations of their papers.
    if (source.includes('Neither verl nor TRL')) continue;
    const expected = cases.find((one) => one.name === name);
    expect(expected, name).toBeDefined();
    const own = Object.entries(settings(preset)).filter(([setting]) => ![...others, ...scaled].includes(setting));
    expect(expected!.config, name).toMatchObject(Object.fromEntries(own));
    for (const setting of scaled) expect(Object.hasOwn(settings(preset), setting)).toBe(Boolean(expected!.config[setting]));
  }
});

describe('TRL', () => {
  const base = { ...PAPER, ppo_micro_batch_size_per_gpu: 0, use_kl_loss: false, clip_ratio_c: 1e9 };
  /** Our settings for TRL's. TRL's `dr_grpo` also divides by the number of sequences. */
  const settings: Partial<GrpoConfig>[] = [
    { loss_agg_mode: 'seq-mean-token-mean' },
    { loss_mode: 'gspo', loss_agg_mode: 'seq-mean-token-mean' },
    { loss_mode: 'cispo', clip_ratio_low: 10 },
    {},
    { loss_agg_mode: 'seq-mean-token-sum-norm', loss_scale_factor: 9 * batch.index.length },
  ];
  test.each(fixture.trl_cases.map((expected, i) => ({ ...expected, own: settings[i]! })))(
    '$loss_type with ratios of each $importance_sampling_level',
    ({ own, ...expected }) => {
      const clip_ratio_high = expected.loss_type === 'cispo' ? expected.epsilon_high - 1 : expected.epsilon_high;
      const config = { ...base, clip_ratio_low: expected.epsilon, clip_ratio_high, ...own };
      const { tokens } = chainOf(config);
      expect(Math.abs(total(tokens.map((token) => tokenLoss(token, config))) / expected.loss - 1)).toBeLessThan(TOLERANCE);
      expect(relativeError(gradientOf(tokens, config), onTokens(tokens, expected.gradient))).toBeLessThan(TOLERANCE);
    },
  );
});

describe('where we differ from verl on purpose', () => {
  test('a group of one: verl’s advantage is its reward, ours is 0', () => {
    const alone = [[{ reward: 1, length: 2 }]];
    expect(fixture.group_of_one[0]).toBeCloseTo(1, 5);
    for (const adv_estimator of ['grpo', 'rloo', 'opo', 'grpo_passk'] as const)
      expect(estimateAdvantages(alone, { ...PAPER, adv_estimator })).toEqual([[0]]);
  });
  test('REINFORCE++ with tokens of tools in between: verl gives the turns before them no return', () => {
    const [whole, ...lasts] = [0, 2, 4].map((at) => fixture.reinforce_plus_plus_with_gaps[0]![at]!);
    // The first response is 111011: in verl tokens 0 to 2 have another advantage than tokens 4 and 5.
    expect(lasts[0]).toBe(whole);
    expect(lasts[1]).toBeGreaterThan(whole! + 0.5);
    const [ours] = chainOf(configOf(cases.find(({ name }) => name === 'reinforce-plus-plus')!)).advantages;
    expect(new Set(ours!.filter((_, at) => batch.masks[0]![at] === 1)).size).toBe(1);
  });
});
