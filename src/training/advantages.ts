/**
 * @file Advantages and token weights: verl's `adv_estimator` and `loss_agg_mode` (`core_algos.py`). A group holds the rollouts
 * of one task. In each formula R is the reward of a rollout, n the size of its group, and mean and std are over the group.
 *
 * A group of one has nothing to compare with: its advantages are 0. (verl gives such a rollout its reward as advantage.)
 */
import type { GrpoConfig } from '../records/run.ts';

/** What an estimator needs to know of a rollout. */
export interface Outcome {
  reward: number;
  /** Number of sampled tokens. */
  length: number;
}

/** The advantage of a rollout: one number for all its sampled tokens, or one for each of them in order. */
export type Advantage = number | readonly number[];

type Settings = Pick<GrpoConfig, 'adv_estimator' | 'norm_adv_by_std_in_grpo' | 'gamma'>;
type Groups = readonly (readonly Outcome[])[];

/** verl's epsilon beside a standard deviation. */
const EPSILON = 1e-6;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Mean and sample standard deviation (n − 1) of a group's rewards. */
function moments(rewards: readonly number[]): { mean: number; std: number } {
  const mean = sum(rewards) / rewards.length;
  return { mean, std: Math.sqrt(sum(rewards.map((r) => (r - mean) ** 2)) / (rewards.length - 1)) };
}

/**
 * GRPO (DeepSeekMath, arXiv 2402.03300 §4.1): A = (R − mean) / (std + 1e-6). Dr. GRPO (arXiv 2503.20783) leaves out the
 * division: A = R − mean.
 */
function grpo(rewards: readonly number[], normalizeByStd: boolean): number[] {
  const { mean, std } = moments(rewards);
  return rewards.map((r) => (normalizeByStd ? (r - mean) / (std + EPSILON) : r - mean));
}

/** RLOO (arXiv 2402.14740): R minus the mean reward of the other rollouts, A = n / (n − 1) · (R − mean). */
function rloo(rewards: readonly number[]): number[] {
  const { mean } = moments(rewards);
  return rewards.map((r) => (rewards.length / (rewards.length - 1)) * (r - mean));
}

/** OPO (arXiv 2505.23585): R minus the mean reward of the group's tokens, A = R − Σ length · R / Σ length. */
function opo(group: readonly Outcome[]): number[] {
  const baseline = sum(group.map(({ reward, length }) => length * reward)) / Math.max(1, sum(group.map(({ length }) => length)));
  return group.map(({ reward }) => reward - baseline);
}

/** Pass@k training (arXiv 2503.19595): only the best rollout has an advantage, its lead over the second best, / (std + 1e-6). */
function grpoPassK(rewards: readonly number[], normalizeByStd: boolean): number[] {
  const [first, second] = [...rewards].sort((a, b) => b - a);
  const lead = (first! - second!) / (normalizeByStd ? moments(rewards).std + EPSILON : 1);
  return rewards.map((r) => (r === first ? lead : 0));
}

/**
 * verl's `masked_whiten`: (x − mean) / √(variance + 1e-8), with the mean and the sample variance of all values. Fewer than two
 * values have no variance: they become 0.
 */
function whiten(rows: readonly (readonly number[])[]): number[][] {
  const all = rows.flat();
  if (all.length < 2) return rows.map((row) => row.map(() => 0));
  const { mean, std } = moments(all);
  return rows.map((row) => row.map((x) => (x - mean) / Math.sqrt(std ** 2 + 1e-8)));
}

/** Whitens the advantages of all rollouts together. Each sampled token counts once, so a longer rollout counts more. */
function whitenRollouts(groups: Groups, advantages: readonly (readonly Advantage[])[]): Advantage[][] {
  const outcomes = groups.flat();
  const rows = whiten(advantages.flat().map((a, i) => (typeof a === 'number' ? Array<number>(outcomes[i]!.length).fill(a) : a)));
  let next = 0;
  return groups.map((group) => group.map(() => rows[next++]!));
}

/**
 * REINFORCE++ (arXiv 2501.03262): the return γ^(tokens after this one) · R, whitened over all tokens of the step. There is no
 * group baseline. Only sampled tokens count as steps: the tokens of tools and of the customer neither discount nor end a
 * return. (verl sets the return to 0 at each token that was not sampled, so that only the last turn gets credit.)
 */
const reinforcePlusPlus = (groups: Groups, gamma: number): Advantage[][] =>
  whitenRollouts(
    groups,
    groups.map((group) => group.map(({ reward, length }) => Array.from({ length }, (_, t) => reward * gamma ** (length - 1 - t)))),
  );

/** REINFORCE++ with a baseline (arXiv 2501.03262 §3): A = R − mean, whitened over all tokens of the step. */
const reinforcePlusPlusBaseline = (groups: Groups): Advantage[][] =>
  whitenRollouts(
    groups,
    groups.map((group) => groupAdvantages(group, (rewards) => grpo(rewards, false))),
  );

const groupAdvantages = (group: readonly Outcome[], estimate: (rewards: readonly number[]) => number[]): number[] =>
  group.length < 2 ? group.map(() => 0) : estimate(group.map(({ reward }) => reward));

/** The advantages of a step's rollouts by `adv_estimator`, in the order of `groups`. */
export function estimateAdvantages(groups: Groups, settings: Settings): Advantage[][] {
  const normalize = settings.norm_adv_by_std_in_grpo;
  const inGroups = (estimate: (rewards: readonly number[]) => number[]) => groups.map((group) => groupAdvantages(group, estimate));
  switch (settings.adv_estimator) {
    case 'grpo':
      return inGroups((rewards) => grpo(rewards, normalize));
    case 'rloo':
      return inGroups(rloo);
    case 'opo':
      return groups.map((group) => groupAdvantages(group, () => opo(group)));
    case 'grpo_passk':
      return inGroups((rewards) => grpoPassK(rewards, normalize));
    case 'reinforce_plus_plus':
      return reinforcePlusPlus(groups, settings.gamma);
    case 'reinforce_plus_plus_baseline':
      return reinforcePlusPlusBaseline(groups);
  }
}

/** The mean advantage of a rollout's sampled tokens. */
export const meanAdvantage = (advantage: Advantage): number =>
  typeof advantage === 'number' ? advantage : sum(advantage) / Math.max(1, advantage.length);

/** The advantage at each token of a sequence: 0 where `lossMask` is 0. */
export function tokenAdvantages(advantage: Advantage, lossMask: ArrayLike<number>): number[] {
  let next = 0;
  return Array.from(lossMask, (mask) => (mask ? (typeof advantage === 'number' ? advantage : advantage[next++]!) : 0));
}

/**
 * Weight of every masked token in the loss, by verl's `loss_agg_mode` (`agg_loss`). `counts`: the masked tokens of each sequence
 * of a mini-batch, in order, including sequences that are left out of the update. The loss is averaged over
 * `ppo_micro_batch_size_per_gpu` consecutive sequences, and then over these micro-batches, as in MUA-RL's code. 0 averages over
 * the mini-batch at once. `seq-mean-token-sum-norm` divides the sum over a micro-batch by `loss_scale_factor` alone.
 */
export function tokenWeights(
  counts: readonly number[],
  config: Pick<GrpoConfig, 'loss_agg_mode' | 'loss_scale_factor' | 'ppo_micro_batch_size_per_gpu' | 'max_model_len'>,
): number[] {
  const size = config.ppo_micro_batch_size_per_gpu || Math.max(1, counts.length);
  const microBatches = Math.ceil(counts.length / size);
  return counts.map((n, i) => {
    const own = counts.slice(i - (i % size), i - (i % size) + size);
    const sequences = Math.max(1, own.filter((count) => count > 0).length);
    const divisor = {
      'token-mean': Math.max(1, sum(own)),
      'seq-mean-token-sum': sequences,
      'seq-mean-token-mean': sequences * Math.max(1, n),
      'seq-mean-token-sum-norm': config.loss_scale_factor || config.max_model_len,
    }[config.loss_agg_mode];
    return 1 / (microBatches * divisor);
  });
}
