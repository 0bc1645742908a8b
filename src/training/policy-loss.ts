/**
 * @file The policy losses: verl's `policy_loss.loss_mode` (`core_algos.py`). A is the advantage of a token. r is its
 * probability ratio exp(logprob − old). clip(r) limits r to [1 − clip_ratio_low, 1 + clip_ratio_high]. sg(x) is x without its
 * gradient.
 */
import type { GrpoConfig } from '../records/run.ts';

export type ClipConfig = Pick<GrpoConfig, 'clip_ratio_low' | 'clip_ratio_high' | 'clip_ratio_c'>;

/** The policy loss of one token, in float64. */
export interface PolicyLossParts {
  policy: number;
  /**
   * `clipped`: whether the clip changed the loss (verl: pg_clipfrac). `clippedLower`: whether the dual clip changed it
   * (pg_clipfrac_lower).
   */
  clipped: boolean;
  clippedLower: boolean;
}

interface PolicyLoss {
  /**
   * Source of `fn policy_derivative(advantage: f32, difference: f32, settings: array<f32, 8>) -> f32`. It returns the derivative
   * of the loss with respect to the token's log-probability. `difference` is logprob − old. settings[0], [1] and [2] are
   * clip_ratio_low, clip_ratio_high and clip_ratio_c.
   */
  wgsl: string;
  value(logprob: number, advantage: number, difference: number, config: ClipConfig): PolicyLossParts;
}

export const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);
const clip = (ratio: number, config: ClipConfig) => clamp(ratio, 1 - config.clip_ratio_low, 1 + config.clip_ratio_high);

/** PPO's clipped loss max(−A·r, −A·clip(r)) (arXiv 1707.06347). If A < 0, it is at most −A·clip_ratio_c (dual clip, arXiv 1912.09729). */
const vanilla: PolicyLoss = {
  wgsl: /* wgsl */ `
fn policy_derivative(advantage: f32, difference: f32, settings: array<f32, 8>) -> f32 {
  if (abs(difference) > 20.0) { return 0.0; }
  let ratio = exp(difference);
  let unclipped = -advantage * ratio;
  let clipped = -advantage * clamp(ratio, 1.0 - settings[0], 1.0 + settings[1]);
  if (clipped > unclipped) { return 0.0; }
  if (advantage < 0.0 && unclipped > -advantage * settings[2]) { return 0.0; }
  return unclipped;
}`,
  value(_, advantage, difference, config) {
    const ratio = Math.exp(clamp(difference, -20, 20));
    const unclipped = -advantage * ratio;
    const clipped = -advantage * clip(ratio, config);
    const upper = Math.max(unclipped, clipped);
    const lower = -advantage * config.clip_ratio_c;
    const clippedLower = advantage < 0 && upper > lower;
    return { policy: clippedLower ? lower : upper, clipped: clipped > unclipped, clippedLower };
  },
};

/**
 * GSPO (arXiv 2507.18071). The whole sequence has one ratio s = exp(mean(logprob − old)), the geometric mean of its tokens'
 * ratios. As in verl, the ratio of a token is sg(s)·exp(logprob − sg(logprob)), and the loss max(−A·s, −A·clip(s)) has no dual
 * clip. `difference` must be ln s: `sequenceOldLogprobs` computes old log-probs for which this holds.
 */
const gspo: PolicyLoss = {
  wgsl: /* wgsl */ `
fn policy_derivative(advantage: f32, difference: f32, settings: array<f32, 8>) -> f32 {
  if (difference > 10.0) { return 0.0; }
  let ratio = exp(difference);
  let unclipped = -advantage * ratio;
  let clipped = -advantage * clamp(ratio, 1.0 - settings[0], 1.0 + settings[1]);
  return select(unclipped, 0.0, clipped > unclipped);
}`,
  value(_, advantage, difference, config) {
    const ratio = Math.exp(Math.min(difference, 10));
    const unclipped = -advantage * ratio;
    const clipped = -advantage * clip(ratio, config);
    return { policy: Math.max(unclipped, clipped), clipped: clipped > unclipped, clippedLower: false };
  },
};

/** CISPO (MiniMax-M1, arXiv 2506.13585): −sg(clip(r))·A·logprob. A clipped token still has a gradient, but with a limited weight. */
const cispo: PolicyLoss = {
  wgsl: /* wgsl */ `
fn policy_derivative(advantage: f32, difference: f32, settings: array<f32, 8>) -> f32 {
  return -advantage * clamp(exp(clamp(difference, -20.0, 20.0)), 1.0 - settings[0], 1.0 + settings[1]);
}`,
  value(logprob, advantage, difference, config) {
    const ratio = Math.exp(clamp(difference, -20, 20));
    const clipped = clip(ratio, config);
    return { policy: -clipped * advantage * logprob, clipped: clipped !== ratio, clippedLower: false };
  },
};

export const POLICY_LOSSES: Record<GrpoConfig['loss_mode'], PolicyLoss> = { vanilla, gspo, cispo };

/**
 * Computes old log-probs for which, at each token in the loss mask, logprob − old equals the mean of logprob − old over the
 * sequence. `logprobs` are computed with the current weights. With the result, the loss of each token uses the ratio of the
 * whole sequence.
 */
export function sequenceOldLogprobs(logprobs: ArrayLike<number>, oldLogprobs: ArrayLike<number>, lossMask: ArrayLike<number>): number[] {
  let total = 0;
  let count = 0;
  for (let t = 0; t < lossMask.length; t++) {
    if (!lossMask[t]) continue;
    total += logprobs[t]! - oldLogprobs[t]!;
    count += 1;
  }
  return Array.from(lossMask, (mask, t) => (mask ? logprobs[t]! - total / count : 0));
}
