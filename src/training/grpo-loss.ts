/**
 * @file The token losses: the policy loss of `loss_mode` with KL and entropy terms (verl's `core_algos.py`), and the negative
 * log-likelihood of supervised fine-tuning. WGSL code computes the derivative of a loss for the engine. TypeScript code
 * computes the value of the loss in float64, for metrics and reports.
 */
import type { TokenLoss } from '../engine/types.ts';
import type { GrpoConfig } from '../records/run.ts';
import { clamp, type ClipConfig, POLICY_LOSSES, type PolicyLossParts } from './policy-loss.ts';

export type GrpoLossConfig = ClipConfig & Pick<GrpoConfig, 'loss_mode' | 'use_kl_loss' | 'kl_loss_coef' | 'kl_loss_type' | 'entropy_coeff'>;

const KL_TYPES = ['k1', 'abs', 'k2', 'low_var_kl'] as const;

/** The negative log-likelihood. The total loss is its mean if the weight of each token is 1 / (number of tokens in the loss mask). */
export const sftLoss: TokenLoss = {
  name: 'sft',
  wgsl: 'fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f { return vec2f(-1.0, 0.0); }',
  settings: [0, 0, 0, 0, 0, 0, 0, 0],
};

/**
 * L = policy loss + kl_loss_coef · KL − entropy_coeff · H. The inputs of each token are (advantage, old log-prob, reference
 * log-prob). If `loss_mode` is gspo, `sequenceOldLogprobs` must compute the old log-probs.
 */
export function grpoLoss(config: GrpoLossConfig): TokenLoss {
  return {
    name: `grpo ${config.loss_mode}`,
    wgsl: /* wgsl */ `
fn kl_derivative(x: f32, kind: f32) -> f32 {
  if (kind == 0.0) { return 1.0; }
  if (kind == 1.0) { return sign(x); }
  if (kind == 2.0) { return x; }
  // k3 = exp(-x) + x - 1, flat where verl clamps: |x| > 20 or k3 > 10
  if (abs(x) > 20.0) { return 0.0; }
  let e = exp(-x);
  return select(1.0 - e, 0.0, e + x - 1.0 > 10.0);
}
${POLICY_LOSSES[config.loss_mode].wgsl}
fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f {
  var derivative = policy_derivative(inputs.x, logprob - inputs.y, settings);
  if (settings[3] != 0.0) { derivative += settings[3] * kl_derivative(logprob - inputs.z, settings[4]); }
  return vec2f(derivative, -settings[5]);
}`,
    settings: [
      config.clip_ratio_low,
      config.clip_ratio_high,
      config.clip_ratio_c,
      config.use_kl_loss ? config.kl_loss_coef : 0,
      KL_TYPES.indexOf(config.kl_loss_type),
      config.entropy_coeff,
      0,
      0,
    ],
  };
}

/** The parts of the loss of one token, in float64. */
export interface TokenLossParts extends PolicyLossParts {
  /** The KL estimate in nats; null without the KL loss, because the reference model then scores nothing. */
  kl: number | null;
}

export function klEstimate(x: number, type: GrpoConfig['kl_loss_type']): number {
  switch (type) {
    case 'k1':
      return x;
    case 'abs':
      return Math.abs(x);
    case 'k2':
      return (x * x) / 2;
    case 'low_var_kl': {
      const negative = clamp(-x, -20, 20);
      return clamp(Math.exp(negative) - negative - 1, -10, 10);
    }
  }
}

export function grpoTokenLoss(
  logprob: number,
  advantage: number,
  oldLogprob: number,
  refLogprob: number,
  config: GrpoLossConfig,
): TokenLossParts {
  return {
    ...POLICY_LOSSES[config.loss_mode].value(logprob, advantage, logprob - oldLogprob, config),
    kl: config.use_kl_loss ? klEstimate(logprob - refLogprob, config.kl_loss_type) : null,
  };
}
