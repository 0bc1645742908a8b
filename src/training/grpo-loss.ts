/**
 * @file The token losses: GRPO's clipped policy loss with KL and entropy terms (verl's `vanilla` policy loss,
 * `core_algos.py`), and the negative log-likelihood of supervised fine-tuning. WGSL computes the derivative of a loss for
 * the engine; TypeScript computes its value in float64 for metrics and reports.
 */
import type { TokenLoss } from '../engine/types.ts';
import type { GrpoConfig } from '../records/run.ts';

export type GrpoLossConfig = Pick<
  GrpoConfig,
  'clip_ratio_low' | 'clip_ratio_high' | 'clip_ratio_c' | 'use_kl_loss' | 'kl_loss_coef' | 'kl_loss_type' | 'entropy_coeff'
>;

const KL_TYPES = ['k1', 'abs', 'k2', 'low_var_kl'] as const;

/** The mean negative log-likelihood, if each weight is 1 / (number of masked tokens). */
export const sftLoss: TokenLoss = {
  name: 'sft',
  wgsl: 'fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f { return vec2f(-1.0, 0.0); }',
  settings: [0, 0, 0, 0, 0, 0, 0, 0],
};

/**
 * L = max(−A·r, −A·clip(r)) with the dual clip −A·clip_ratio_c for A < 0, + kl_loss_coef · KL − entropy_coeff · H.
 * Per-token inputs: (advantage A, old log-prob, reference log-prob); r = exp(logprob − old).
 */
export function grpoLoss(config: GrpoLossConfig): TokenLoss {
  return {
    name: 'grpo',
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
fn token_loss(logprob: f32, entropy: f32, inputs: vec3f, settings: array<f32, 8>) -> vec2f {
  let advantage = inputs.x;
  let difference = logprob - inputs.y;
  let ratio = exp(clamp(difference, -20.0, 20.0));
  let unclipped = -advantage * ratio;
  let clipped = -advantage * clamp(ratio, 1.0 - settings[0], 1.0 + settings[1]);
  var derivative = unclipped;
  if (clipped > unclipped || abs(difference) > 20.0) { derivative = 0.0; }
  if (advantage < 0.0 && max(unclipped, clipped) > -advantage * settings[2]) { derivative = 0.0; }
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

/** Parts of the loss of one token, in float64. */
export interface TokenLossParts {
  policy: number;
  kl: number;
  /** Whether the clip changed the loss (verl: pg_clipfrac), and whether the dual clip did (pg_clipfrac_lower). */
  clipped: boolean;
  clippedLower: boolean;
}

const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);

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
  const ratio = Math.exp(clamp(logprob - oldLogprob, -20, 20));
  const unclipped = -advantage * ratio;
  const clipped = -advantage * clamp(ratio, 1 - config.clip_ratio_low, 1 + config.clip_ratio_high);
  const upper = Math.max(unclipped, clipped);
  const lower = -advantage * config.clip_ratio_c;
  const clippedLower = advantage < 0 && upper > lower;
  return {
    policy: clippedLower ? lower : upper,
    kl: config.use_kl_loss ? klEstimate(logprob - refLogprob, config.kl_loss_type) : 0,
    clipped: clipped > unclipped,
    clippedLower,
  };
}
