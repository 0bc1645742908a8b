/**
 * @file The metrics of a step, under verl's and MUA-RL's names (`metric_utils.py`). Metrics of tokens count the tokens in the
 * loss mask; upstream counts the attention mask in entropy, advantages and `response_length`. Metrics of rollouts include
 * every rollout that was played. `critic/score/*` is the binary outcome, and `critic/rewards/*` is the reward of training. Runs of other
 * tools lack the metrics whose facts the file does not have. As
 * in verl, metrics `actor/*` are means over the tokens that the update trains on. The tokens of other rollouts are not
 * measured, as this would need two more forward passes. `actor/trained_token_ratio` is the share of the measured tokens.
 */
import type { Trajectory } from '../records/trajectory.ts';
import { path } from '../base/message-path.ts';
import { flatten, knowsWrites, writesOf } from '../agent/trajectory.ts';
import { totalReward } from '../base/total-reward.ts';
import { isAudited } from '../domains/registry.ts';
import { mean } from '../evaluation/pass-hat.ts';
import { REWARD_TERMS } from '../records/rewards.ts';
import type { TokenLossParts } from './grpo-loss.ts';
import { transfersIn } from './rewards.ts';

type Metrics = Record<string, number>;

function spread(name: string, values: readonly number[]): Metrics {
  if (values.length === 0) return {};
  let max = -Infinity;
  let min = Infinity;
  for (const v of values) {
    max = Math.max(max, v);
    min = Math.min(min, v);
  }
  return { [`${name}/mean`]: mean(values), [`${name}/max`]: max, [`${name}/min`]: min };
}

/** Computes the metrics of a step's rollouts. `groups` has the scored trajectories of each task. */
export function rolloutMetrics(groups: readonly (readonly Trajectory[])[]): Metrics {
  const trajectories = groups.flat();
  const scored = groups.filter((group) => group.length > 0 && group.every((t) => t.reward !== null));
  const scores = trajectories.flatMap((t) => t.reward ?? []);
  const allCorrect = scored.filter((group) => group.every((t) => t.reward === 1)).length;
  const allWrong = scored.filter((group) => group.every((t) => t.reward === 0)).length;
  const valid = scored.length - allCorrect - allWrong;
  const share = (n: number) => n / Math.max(1, scored.length);
  const modelTokens = trajectories.map((t) => flatten(t).lossMask.reduce((sum: number, m: number) => sum + m, 0));
  const promptTokens = trajectories.map(promptLength);
  return {
    ...spread('critic/score', scores),
    ...spread('critic/rewards', trajectories.map(totalReward)),
    ...partMetrics(trajectories),
    ...((scored.length > 0 || trajectories.length === 0) && {
      'trajectories/valid_query_num': valid,
      'trajectories/all_correct_query_num': allCorrect,
      'trajectories/all_wrong_query_num': allWrong,
      'trajectories/valid_query_ratio': share(valid),
      'trajectories/all_correct_query_ratio': share(allCorrect),
      'trajectories/all_wrong_query_ratio': share(allWrong),
    }),
    ...spread(
      'rollout/turns',
      trajectories.map((t) => t.turns),
    ),
    ...spread('prompt_length', promptTokens),
    ...spread(
      'response_length',
      trajectories.map((t, i) => flatten(t).tokens.length - promptTokens[i]!),
    ),
    ...spread('response_length_only_model', modelTokens),
    'response_length/clip_ratio': mean(
      trajectories.map((t) => Number(t.termination === 'context_full' || t.termination === 'turn_length')),
    ),
    ...toolMetrics(trajectories),
    ...terminationMetrics(trajectories),
    ...writeMetrics(trajectories),
    ...diversityMetrics(groups),
  };
}

/** Number of tokens before the first assistant message: system prompt, tools and the first user message. */
function promptLength(trajectory: Trajectory): number {
  let tokens = 0;
  for (const node of path(trajectory)) {
    if (node.role === 'assistant') break;
    tokens += node.tokens.length;
  }
  return tokens;
}

function toolMetrics(trajectories: readonly Trajectory[]): Metrics {
  const times = trajectories.map((t) => Object.values(t.toolCalls).reduce((sum, n) => sum + n, 0));
  const metrics: Metrics = {
    ...spread('tool_call/times', times),
    'tool_call/usage_ratio': mean(times.map((n) => Number(n > 0))),
    ...spread(
      'tool_call/times_when_used',
      times.filter((n) => n > 0),
    ),
    'tool_call/parse_error_ratio': mean(trajectories.map((t) => Number(t.parseErrors > 0))),
  };
  for (const tool of new Set(trajectories.flatMap((t) => Object.keys(t.toolCalls)))) {
    const uses = trajectories.map((t) => t.toolCalls[tool] ?? 0);
    metrics[`tool_call/${tool}/times/mean`] = mean(uses);
    metrics[`tool_call/${tool}/usage_ratio`] = mean(uses.map((n) => Number(n > 0)));
  }
  return metrics;
}

function terminationMetrics(trajectories: readonly Trajectory[]): Metrics {
  const metrics: Metrics = {};
  const audited = trajectories.filter((t) => isAudited(t.task.domain));
  if (audited.length > 0) metrics['violations/ratio'] = mean(audited.map((t) => Number(t.violations.length > 0)));
  for (const reason of new Set(trajectories.map((t) => t.termination))) {
    if (reason === 'unknown') continue;
    metrics[`termination/${reason}/ratio`] = mean(trajectories.map((t) => Number(t.termination === reason)));
  }
  return metrics;
}

/** Computes `reward/<term>/mean`: how much each term adds to the reward. Empty if the reward is only the outcome. */
function partMetrics(trajectories: readonly Trajectory[]): Metrics {
  const shaped = trajectories.flatMap(({ rewards }) => (rewards ? [rewards] : []));
  const terms = new Set([...REWARD_TERMS, ...shaped.flatMap(Object.keys)]);
  return Object.fromEntries(
    [...terms]
      .filter((term) => shaped.some((rewards) => rewards[term] !== undefined))
      .map((term) => [`reward/${term}/mean`, mean(shaped.map((rewards) => rewards[term] ?? 0))]),
  );
}

/**
 * Computes metrics of writes and transfers. `writes/mean` and `handover/ratio` are per rollout. Audited domains also have the
 * counts `writes/audited` and `writes/confirmed` over the step, their ratio, and the violations of all rules per write, which
 * can exceed 1. A write is confirmed if the customer said yes to it. If nothing was written, the ratios are absent.
 */
function writeMetrics(trajectories: readonly Trajectory[]): Metrics {
  const counted = trajectories.filter(knowsWrites);
  const own = trajectories.filter(({ foreign }) => !foreign);
  const metrics: Metrics = {
    ...(counted.length > 0 && { 'writes/mean': mean(counted.map(writesOf)) }),
    ...(own.length > 0 && { 'handover/ratio': mean(own.map((t) => Number(transfersIn(t) > 0))) }),
  };
  const audited = trajectories.filter((t) => isAudited(t.task.domain));
  if (audited.length === 0) return metrics;
  const writes = audited.reduce((sum, t) => sum + writesOf(t), 0);
  const violations = audited.flatMap((t) => t.violations);
  const confirmed = writes - violations.filter(({ rule }) => rule === 'unconfirmed_write').length;
  Object.assign(metrics, { 'writes/audited': writes, 'writes/confirmed': confirmed });
  if (writes > 0)
    Object.assign(metrics, { 'writes/confirmed_ratio': confirmed / writes, 'violations/per_write': violations.length / writes });
  return metrics;
}

/** Computes the share of distinct 4-grams in the sampled tokens of a rollout, and the share of distinct rollouts in a group. */
function diversityMetrics(groups: readonly (readonly Trajectory[])[]): Metrics {
  const fourGrams: number[] = [];
  const sequences: number[] = [];
  for (const group of groups) {
    const texts = group.map((t) => {
      const { tokens, lossMask } = flatten(t);
      return Array.from(tokens).filter((_, i) => lossMask[i] === 1);
    });
    for (const tokens of texts) {
      const total = tokens.length - 3;
      if (total < 1) continue;
      const grams = new Set<string>();
      for (let i = 0; i < total; i++) grams.add(tokens.slice(i, i + 4).join());
      fourGrams.push(grams.size / total);
    }
    if (texts.length > 0) sequences.push(new Set(texts.map((t) => t.join())).size / texts.length);
  }
  return {
    'sample_diversity/unique_4gram_ratio_mean': mean(fourGrams),
    'sample_diversity/unique_sequence_ratio_mean': mean(sequences),
  };
}

/** Averages the per-token numbers of the update over all optimizer steps of a step of the run. */
export class UpdateMeter {
  #tokens = 0;
  #policy = 0;
  #kl: number | null = null;
  #entropy = 0;
  #clipped = 0;
  #clippedLower = 0;
  #ppoKl = 0;
  #gradNorms: number[] = [];

  add(parts: TokenLossParts, entropy: number, difference: number): void {
    this.#tokens += 1;
    this.#policy += parts.policy;
    if (parts.kl !== null) this.#kl = (this.#kl ?? 0) + parts.kl;
    this.#entropy += entropy;
    this.#clipped += Number(parts.clipped);
    this.#clippedLower += Number(parts.clippedLower);
    this.#ppoKl -= difference;
  }

  /** Number of optimizer steps so far. */
  get updates(): number {
    return this.#gradNorms.length;
  }

  update(gradNorm: number): void {
    this.#gradNorms.push(gradNorm);
  }

  /** Without the KL loss, no update measures the KL, so the KL is absent. */
  metrics(klCoef: number): Metrics {
    if (this.#tokens === 0) return {};
    return {
      'actor/pg_loss': this.#policy / this.#tokens,
      ...(this.#kl !== null && { 'actor/kl_loss': this.#kl / this.#tokens, 'actor/kl_coef': klCoef }),
      'actor/entropy': this.#entropy / this.#tokens,
      'actor/pg_clipfrac': this.#clipped / this.#tokens,
      'actor/pg_clipfrac_lower': this.#clippedLower / this.#tokens,
      'actor/ppo_kl': this.#ppoKl / this.#tokens,
      'actor/grad_norm': mean(this.#gradNorms),
    };
  }
}

/** Computes |p_sampler − p_trainer| over the trained tokens. Both use the same weights and kernels, so only rounding makes a difference. */
export function samplerMismatch(sampler: readonly number[], trainer: readonly number[]): Metrics {
  let max = 0;
  let sum = 0;
  sampler.forEach((logprob, i) => {
    const difference = Math.abs(Math.exp(logprob) - Math.exp(trainer[i]!));
    max = Math.max(max, difference);
    sum += difference;
  });
  return sampler.length === 0 ? {} : { 'training/rollout_probs_diff_max': max, 'training/rollout_probs_diff_mean': sum / sampler.length };
}
