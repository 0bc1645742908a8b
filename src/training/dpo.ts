/**
 * @file Direct preference optimisation (DPO, arXiv 2305.18290) and IPO (arXiv 2310.12036), with TRL's names. A pair has a better and a worse
 * answer to the same messages. The loss raises the log-ratio of the better answer, ln π/π_ref, above that of the worse one.
 */
import { renderConversation } from '../agent/chat-template.ts';
import type { Tokenizer } from '../agent/types.ts';
import type { Learner, TrainSequence } from '../engine/types.ts';
import type { Preference } from '../records/conversation.ts';
import type { StepMetrics } from '../records/run.ts';
import { sftLoss } from './grpo-loss.ts';
import { optimizerStep } from './optimizer-step.ts';
import type { DpoConfig } from './settings/dpo.ts';
import { batches, maskedTokens, type SftExample } from './sft.ts';

const SIDES = ['chosen', 'rejected'] as const;
type Side = (typeof SIDES)[number];

/** The tokens of both answers, each after the prompt. */
export type PairTokens = Record<Side, SftExample>;
/** A number for each answer. Log-probabilities are sums over the answer's tokens, in nats. */
export type PairNumbers = Record<Side, number>;

/** As in TRL, only tokens of the answers are in the loss. Of these, only those that the agent writes: an answer may have several turns. */
export function renderPair(tokenizer: Tokenizer, { prompt, tools, ...pair }: Preference, thinking: boolean): PairTokens {
  const render = (messages: Preference['prompt']) => renderConversation(tokenizer, { messages, ...(tools && { tools }) }, thinking);
  const before = render(prompt).tokens.length;
  const side = (name: Side): SftExample => {
    const { tokens, lossMask } = render([...prompt, ...pair[name]]);
    return { tokens, lossMask: lossMask.map((value, t) => (t < before ? 0 : value)) };
  };
  return { chosen: side('chosen'), rejected: side('rejected') };
}

export interface PairLoss {
  loss: number;
  /** The derivatives of the loss with respect to the log-probabilities of the policy. */
  gradient: PairNumbers;
  /** beta · (policy − reference), TRL's implicit rewards. */
  rewards: PairNumbers;
}

type LossConfig = Pick<DpoConfig, 'beta' | 'label_smoothing' | 'loss_type'>;

/**
 * The loss of one pair, in float64. With Δ = (π − π_ref of chosen) − (π − π_ref of rejected):
 * sigmoid: −(1 − ε) ln σ(βΔ) − ε ln σ(−βΔ), where ε is `label_smoothing`.
 * ipo: (Δ' − 1/(2β))², where Δ' has means over the answer's tokens in place of sums, as in TRL.
 * @param counts the numbers of the answers' tokens
 */
export function pairLoss(policy: PairNumbers, reference: PairNumbers, counts: PairNumbers, config: LossConfig): PairLoss {
  const { beta, label_smoothing: smoothing, loss_type } = config;
  const ratio = (side: Side) => policy[side] - reference[side];
  const rewards = { chosen: beta * ratio('chosen'), rejected: beta * ratio('rejected') };
  if (loss_type === 'ipo') {
    const short = ratio('chosen') / counts.chosen - ratio('rejected') / counts.rejected - 1 / (2 * beta);
    return { loss: short ** 2, gradient: { chosen: (2 * short) / counts.chosen, rejected: (-2 * short) / counts.rejected }, rewards };
  }
  const margin = rewards.chosen - rewards.rejected;
  const slope = beta * (smoothing * sigmoid(margin) - (1 - smoothing) * sigmoid(-margin));
  return {
    loss: (1 - smoothing) * softplus(-margin) + smoothing * softplus(margin),
    gradient: { chosen: slope, rejected: -slope },
    rewards,
  };
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
/** ln(1 + e^x), exact also for a large |x|. */
const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** The log-probabilities of the answers under the learner's weights. */
export async function scorePairs(learner: Learner, pairs: readonly PairTokens[], signal?: AbortSignal): Promise<PairNumbers[]> {
  const { logprobs } = await learner.score(sequencesOf(pairs), { signal });
  const sum = (i: number, { lossMask }: SftExample) =>
    logprobs[i]!.reduce((total, value, t) => (t > 0 && lossMask[t] ? total + value : total), 0);
  return pairs.map(({ chosen, rejected }, i) => ({ chosen: sum(2 * i, chosen), rejected: sum(2 * i + 1, rejected) }));
}

/** The chosen answer of each pair, followed by the rejected one. */
const sequencesOf = (pairs: readonly PairTokens[], weight: (pair: number, side: Side) => number = () => 1): TrainSequence[] =>
  pairs.flatMap((pair, i) => SIDES.map((side) => ({ ...pair[side], weight: weight(i, side) })));

/**
 * Adds the gradient of the mean loss over the pairs. The loss is not a sum over tokens. So its derivatives with respect to the log-probabilities
 * are computed first, and weigh the tokens of the answers.
 * @returns TRL's metrics, as means over the pairs
 */
export async function accumulatePairs(
  learner: Learner,
  pairs: readonly PairTokens[],
  reference: readonly PairNumbers[],
  config: LossConfig,
): Promise<Record<string, number>> {
  const policy = await scorePairs(learner, pairs);
  const losses = pairs.map(({ chosen, rejected }, i) => {
    const counts = { chosen: maskedTokens(chosen), rejected: maskedTokens(rejected) };
    return pairLoss(policy[i]!, reference[i]!, counts, config);
  });
  // The derivative of sftLoss is −1.
  await learner.accumulate(
    sequencesOf(pairs, (i, side) => -losses[i]!.gradient[side] / pairs.length),
    sftLoss,
  );
  const mean = (value: (i: number) => number) => pairs.reduce((sum, _, i) => sum + value(i), 0) / pairs.length;
  const rewards = (i: number) => losses[i]!.rewards;
  return {
    'train/loss': mean((i) => losses[i]!.loss),
    'rewards/chosen': mean((i) => rewards(i).chosen),
    'rewards/rejected': mean((i) => rewards(i).rejected),
    'rewards/accuracies': mean((i) => Number(rewards(i).chosen > rewards(i).rejected)),
    'rewards/margins': mean((i) => rewards(i).chosen - rewards(i).rejected),
    'logps/chosen': mean((i) => policy[i]!.chosen),
    'logps/rejected': mean((i) => policy[i]!.rejected),
  };
}

/**
 * Trains on `train_batch_size` pairs in each step and yields after every update, as `trainSft` does with conversations.
 * @param reference the log-probabilities of all pairs under the reference
 * @throws if a gradient is not finite
 */
export async function* trainDpo(
  learner: Learner,
  pairs: readonly PairTokens[],
  reference: readonly PairNumbers[],
  config: DpoConfig,
  doneSteps = 0,
): AsyncGenerator<StepMetrics> {
  for (const { step, lr, indices } of batches(pairs.length, config, doneSteps)) {
    const batch = indices.map((i) => pairs[i]!);
    const metrics = await accumulatePairs(
      learner,
      batch,
      indices.map((i) => reference[i]!),
      config,
    );
    const gradNorm = await optimizerStep(learner, config, lr, step);
    const tokens = sequencesOf(batch).reduce((total, sequence) => total + sequence.tokens.length, 0);
    yield { step, ...metrics, 'actor/lr': lr, 'actor/grad_norm': gradNorm, 'perf/total_num_tokens': tokens };
  }
}
