/** The values of verl and TRL that tests/reference/verl_algorithms.py writes, and our chain from rewards to derivatives on them. */
import type { GrpoConfig } from '../../src/records/run.ts';
import { estimateAdvantages, tokenAdvantages, tokenWeights } from '../../src/training/advantages.ts';
import { ownName } from '../../src/training/settings/index.ts';
import { overlongReward } from '../../src/training/overlong.ts';
import { sequenceOldLogprobs } from '../../src/training/policy-loss.ts';
import { PAPER } from '../../src/training/defaults.ts';
import fixture from '../reference/fixtures/verl-algorithms.json' with { type: 'json' };

export { fixture };
export const { batch } = fixture;
export type Case = Omit<(typeof fixture.cases)[number], 'config'> & { config: Record<string, unknown>; metrics?: Record<string, number> };
export const cases = fixture.cases as unknown as Case[];

const KL_NAMES: Record<string, string> = { kl: 'k1', mse: 'k2' };

/** The configuration of a case. verl's values have our names. */
export function configOf({ config }: Case): GrpoConfig {
  const own = Object.fromEntries(Object.entries(config).map(([name, value]) => [ownName(name), KL_NAMES[String(value)] ?? value]));
  return { ...PAPER, ...own };
}

/** A sampled token with all numbers of its loss. */
export interface LossToken {
  sequence: number;
  /** Position in its sequence. */
  at: number;
  logprob: number;
  /** The sampler's log-probability, and the old one that the loss gets. They differ with `gspo`. */
  sampled: number;
  old: number;
  ref: number;
  entropy: number;
  advantage: number;
  weight: number;
}

export interface Chain {
  /** The reward of each sequence. */
  rewards: number[];
  /** The advantage of each token of each sequence. */
  advantages: number[][];
  tokens: LossToken[];
}

/** The numbers of a batch's tokens, as a training step computes them from rewards, masks and log-probabilities. */
export function chainOf(config: GrpoConfig, groups: readonly number[] = [0, 1, 2]): Chain {
  const rows = batch.index.flatMap((group, i) => (groups.includes(group) ? [i] : []));
  const lengths = rows.map((i) => batch.masks[i]!.filter((m) => m === 1).length);
  const rewards = rows.map((i) => batch.rewards[i]! + overlongReward(batch.prompt + batch.masks[i]!.length, config));
  const estimates = estimateAdvantages(
    groups.map((group) => rows.flatMap((i, s) => (batch.index[i] === group ? [{ reward: rewards[s]!, length: lengths[s]! }] : []))),
    config,
  ).flat();
  const advantages = rows.map((i, s) => tokenAdvantages(estimates[s]!, batch.masks[i]!));
  const weights = tokenWeights(lengths, config);
  const tokens = rows.flatMap((i, sequence) => {
    const [mask, logprobs, sampled] = [batch.masks[i]!, batch.logprobs[i]!, batch.old_logprobs[i]!];
    const old = config.loss_mode === 'gspo' ? sequenceOldLogprobs(logprobs, sampled, mask) : sampled;
    return mask.flatMap((m, at): LossToken[] =>
      m === 0
        ? []
        : [
            {
              sequence,
              at,
              logprob: logprobs[at]!,
              sampled: sampled[at]!,
              old: old[at]!,
              ref: batch.ref_logprobs[i]![at]!,
              entropy: batch.entropies[i]![at]!,
              advantage: advantages[sequence]![at]!,
              weight: weights[sequence]!,
            },
          ],
    );
  });
  return { rewards, advantages, tokens };
}

/** The largest difference of two lists, relative to the largest expected value. */
export function relativeError(got: readonly number[], expected: readonly number[]): number {
  if (got.length !== expected.length) throw new Error(`got ${got.length} values: expected ${expected.length}`);
  const scale = Math.max(...expected.map(Math.abs));
  return Math.max(...expected.map((value, i) => Math.abs(got[i]! - value))) / (scale || 1);
}
