/**
 * @file Advantages and token weights: verl's `adv_estimator` and `loss_agg_mode` (`core_algos.py`). A group holds the rollouts
 * of one task. In each formula R is the reward of a rollout, n is the size of its group, and mean and std are over the group.
 *
 * A rollout that is alone in its group cannot be compared, so its advantage is 0. (verl uses the reward of such a rollout as
 * its advantage.)
 */
import type { GrpoConfig } from '../records/run.ts';

/** A turn of the agent: a message with sampled tokens. */
export interface Turn {
  reward: number;
  /** Number of sampled tokens. */
  length: number;
}

/** What an advantage estimator needs to know about a rollout. */
export interface Outcome {
  /** The reward of the whole rollout, in which the rewards of its turns are included. */
  reward: number;
  /** Number of sampled tokens. */
  length: number;
  /** The turns in order; together they have `length` tokens. Only the turn-level estimators need the turns. */
  turns?: readonly Turn[];
}

/**
 * The advantage of a rollout. A number is the advantage of all its sampled tokens. An array has one number for each sampled
 * token, in order.
 */
export type Advantage = number | readonly number[];

type Settings = Pick<GrpoConfig, 'adv_estimator' | 'norm_adv_by_std_in_grpo' | 'gamma' | 'outcome_advantage_coef'>;
type Groups = readonly (readonly Outcome[])[];

/** verl adds this epsilon to a standard deviation before it divides. */
const EPSILON = 1e-6;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Mean and sample standard deviation (n − 1) of a group's rewards. */
function moments(rewards: readonly number[]): { mean: number; std: number } {
  const mean = sum(rewards) / rewards.length;
  return { mean, std: Math.sqrt(sum(rewards.map((r) => (r - mean) ** 2)) / (rewards.length - 1)) };
}

/** GRPO (DeepSeekMath, arXiv 2402.03300 §4.1): A = (R − mean) / (std + 1e-6). Dr. GRPO (arXiv 2503.20783) does not divide: A = R − mean. */
function grpo(rewards: readonly number[], normalizeByStd: boolean): number[] {
  const { mean, std } = moments(rewards);
  return rewards.map((r) => (normalizeByStd ? (r - mean) / (std + EPSILON) : r - mean));
}

/** RLOO (arXiv 2402.14740): R minus the mean reward of the other rollouts, A = n / (n − 1) · (R − mean). */
function rloo(rewards: readonly number[]): number[] {
  const { mean } = moments(rewards);
  return rewards.map((r) => (rewards.length / (rewards.length - 1)) * (r - mean));
}

/** OPO (arXiv 2505.23585): A = R − Σ length · R / Σ length. The baseline is the group's mean reward, weighted by the number of tokens. */
function opo(group: readonly Outcome[]): number[] {
  const baseline = sum(group.map(({ reward, length }) => length * reward)) / Math.max(1, sum(group.map(({ length }) => length)));
  return group.map(({ reward }) => reward - baseline);
}

/** Pass@k training (arXiv 2503.19595): only the best rollout has an advantage, (its reward − the second best reward) / (std + 1e-6). */
function grpoPassK(rewards: readonly number[], normalizeByStd: boolean): number[] {
  const [first, second] = [...rewards].sort((a, b) => b - a);
  const lead = (first! - second!) / (normalizeByStd ? moments(rewards).std + EPSILON : 1);
  return rewards.map((r) => (r === first ? lead : 0));
}

/**
 * verl's `masked_whiten`: (x − mean) / √(variance + 1e-8), with the mean and the sample variance of all values. A single value
 * has no sample variance and becomes 0.
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
 * REINFORCE++ (arXiv 2501.03262): the return of a token, γ^(sampled tokens after it) · R, whitened over all tokens of the
 * step. No group baseline is subtracted. Only sampled tokens count as steps: the tokens of tools and of the customer neither
 * discount a return nor end it. (verl sets the return to 0 at each token that was not sampled, so that only the last turn gets
 * credit.)
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

/** Whether an estimator gives each turn its own advantage. Such an estimator needs rewards of turns. */
export const isTurnLevel = ({ adv_estimator }: Pick<GrpoConfig, 'adv_estimator'>): boolean =>
  adv_estimator === 'mt_grpo' || adv_estimator === 'gtpo';

/** The rewards of a rollout’s turns, and its outcome: the part of the reward that belongs to no turn. */
function partsOf({ reward, turns }: Outcome): { turns: readonly Turn[]; rewards: number[]; outcome: number } {
  if (!turns) throw new Error('a rollout has no turns: expected the reward and the length of each turn, as adv_estimator is turn-level');
  const rewards = turns.map((turn) => turn.reward);
  return { turns, rewards, outcome: reward - sum(rewards) };
}

/**
 * Compares each value of turn k with the values of turn k in the other rollouts, by `compare`. `rows` has one value per turn of
 * each rollout. Rollouts have different numbers of turns: if only one rollout has a turn k, the result for this turn is 0.
 */
function compareTurns(rows: readonly (readonly number[])[], compare: (values: readonly number[]) => number[]): number[][] {
  const compared = rows.map((): number[] => []);
  for (let k = 0; rows.some((row) => k < row.length); k++) {
    const having = rows.flatMap((row, i) => (k < row.length ? [i] : []));
    const values = having.length < 2 ? [0] : compare(having.map((i) => rows[i]![k]!));
    having.forEach((i, at) => compared[i]!.push(values[at]!));
  }
  return compared;
}

/** Σ_{l=k}^{K} γ^(l−k) · values_l + γ^(K−k) · end, for each turn k of the turns 1 to K. */
function returns(values: readonly number[], end: number, gamma: number): number[] {
  const all = [...values];
  for (let k = values.length - 1; k >= 0; k--) all[k] = values[k]! + (k === values.length - 1 ? end : gamma * all[k + 1]!);
  return all;
}

/**
 * The advantages of the tokens of a group, by a turn-level estimator. GN is the comparison of GRPO in the group: (x − mean) /
 * (std + 1e-6), or x − mean without the division. r_k is the reward of turn k, o the outcome, K the number of turns. In the
 * papers the last turn has no reward of its own. Here it can have one, which is added to what the outcome gives it.
 *
 * - mt_grpo (MT-GRPO, arXiv 2505.11821, the advantage of K turns; its α is γ): each reward is compared, then the results are
 *   summed. A_k = Σ_{l=k}^{K} γ^(l−k) · GN(r_l) + γ^(K−k) · GN(o).
 * - gtpo (the hybrid of MT-GRPO and GTPO, arXiv 2604.02869 §3.2; its λ is `outcome_advantage_coef`): the return of a turn is
 *   summed first and then compared. A_k = GN(Σ_{l=k}^{K} γ^(l−k) · r_l + γ^(K−k) · o) + λ · GN(o).
 *
 * Each turn is compared with the turns of the same number in the group (`compareTurns`). The papers have no such comparison of
 * rollouts with different numbers of turns: MT-GRPO forces all rollouts of a group to have the same number.
 */
function turnLevel(
  group: readonly Outcome[],
  { adv_estimator, norm_adv_by_std_in_grpo, gamma, outcome_advantage_coef }: Settings,
): Advantage[] {
  const parts = group.map(partsOf);
  const compare = (values: readonly number[]) => grpo(values, norm_adv_by_std_in_grpo);
  const rewards = parts.map((part) => part.rewards);
  const outcomes = group.length < 2 ? [0] : compare(parts.map(({ outcome }) => outcome));
  const ofTurns =
    adv_estimator === 'mt_grpo'
      ? compareTurns(rewards, compare).map((row, i) => returns(row, outcomes[i]!, gamma))
      : compareTurns(
          parts.map((part) => returns(part.rewards, part.outcome, gamma)),
          compare,
        ).map((row, i) => row.map((value) => value + outcome_advantage_coef * outcomes[i]!));
  return parts.map(({ turns }, i) => turns.flatMap(({ length }, k) => Array<number>(length).fill(ofTurns[i]![k]!)));
}

/** Computes the advantages of a step's rollouts by `adv_estimator`, in the order of `groups`. */
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
    case 'mt_grpo':
    case 'gtpo':
      return groups.map((group) => turnLevel(group, settings));
  }
}

/** The mean advantage of a rollout's sampled tokens. */
export const meanAdvantage = (advantage: Advantage): number =>
  typeof advantage === 'number' ? advantage : sum(advantage) / Math.max(1, advantage.length);

/** The advantage at each token of a sequence, and 0 where `lossMask` is 0. */
export function tokenAdvantages(advantage: Advantage, lossMask: ArrayLike<number>): number[] {
  let next = 0;
  return Array.from(lossMask, (mask) => (mask ? (typeof advantage === 'number' ? advantage : advantage[next++]!) : 0));
}

/**
 * The weight that each token in the loss mask has in the loss, for each sequence, by verl's `loss_agg_mode` (`agg_loss`).
 * `counts` are the numbers of these tokens in the sequences of a mini-batch, in order. Sequences that the update does not
 * train on are included. The loss is averaged over `ppo_micro_batch_size_per_gpu` consecutive sequences, and the results are
 * averaged over these micro-batches, as in MUA-RL's code. If `ppo_micro_batch_size_per_gpu` is 0, the whole mini-batch is one
 * micro-batch. `seq-mean-token-sum-norm` divides the sum over a micro-batch by `loss_scale_factor`, or by `max_model_len` if
 * that is 0.
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
