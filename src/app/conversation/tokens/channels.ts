/** @file The channels, that is, the values that can colour the tokens: how each is computed, and how strong its colour is. */
import type { Rescored } from '../../../trainer/messages.ts';
import { klEstimate } from '../../../training/grpo-loss.ts';
import { BY_CHANNELS, type CHANNELS } from '../../routes/routes.ts';
import { annotation, type TokenSequence } from './sequence.ts';

export type Channel = (typeof CHANNELS | typeof BY_CHANNELS)[number];
export type ValueChannel = Exclude<Channel, 'none' | 'mask'>;

export interface ChannelInfo {
  label: string;
  meaning: string;
  /** `sequential`: values from zero up. `diverging`: values of both signs around zero. */
  kind: 'none' | 'mask' | 'sequential' | 'diverging';
  unit?: string;
  /** The full colour never stands for a smaller strength (see `strength`) than this, so that rounding errors do not look like a signal. */
  floor: number;
}

export const CHANNEL_INFO: Record<Channel, ChannelInfo> = {
  none: { label: 'None', meaning: 'The tokens have no colour.', kind: 'none', floor: 1 },
  mask: {
    label: 'Mask',
    meaning: 'Only the tokens that the agent sampled are in the loss. Other tokens are pale, and tokens of the chat template are dotted.',
    kind: 'mask',
    floor: 1,
  },
  logprob: {
    label: 'Log-probability',
    meaning: 'The natural logarithm of the token’s probability when it was sampled. A strong colour marks a surprising token.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  ref_logprob: {
    label: 'Reference log-probability',
    meaning: 'The natural logarithm of the token’s probability under the frozen reference model.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  kl: {
    label: 'KL to the reference',
    meaning: 'An estimate from this one token: k3 = exp(ref − log p) − (ref − log p) − 1. The loss uses it if kl_loss_type is low_var_kl.',
    kind: 'sequential',
    unit: 'nats',
    floor: 1e-4,
  },
  entropy: {
    label: 'Entropy',
    meaning: 'The entropy of the distribution from which the token was sampled.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  ratio: {
    label: 'Importance ratio',
    meaning:
      'The token’s probability under the weights being trained, divided by its probability when it was sampled. A token outside the clip band has a frame.',
    kind: 'diverging',
    floor: 0.2,
  },
  advantage: {
    label: 'Advantage',
    meaning:
      'The reward of the rollout compared with the mean of its group. Usually all sampled tokens have the same. With mt_grpo and gtpo, each turn has its own.',
    kind: 'diverging',
    floor: 1e-6,
  },
  pressure: {
    label: 'Pressure (approximate)',
    meaning:
      'Advantage × (1 − p): the direction and the rough size of the update of the token. This approximation ignores clipping, KL and the effect of other tokens.',
    kind: 'diverging',
    floor: 1e-3,
  },
  delta_p: {
    label: 'Δp after the update',
    meaning:
      'The token’s probability after this step’s update minus its probability before the update. The update used all rollouts of the step, not only this one.',
    kind: 'diverging',
    floor: 1e-3,
  },
  by_delta_p: {
    label: 'Δp, other weights',
    meaning: 'The token’s probability under the weights chosen in “Scored by”, minus its probability when it was sampled.',
    kind: 'diverging',
    floor: 1e-3,
  },
  by_logprob: {
    label: 'Log-probability, other weights',
    meaning:
      'The natural logarithm of the token’s probability under the weights chosen in “Scored by”. A strong colour marks a token that is unlikely under these weights.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  by_entropy: {
    label: 'Entropy, other weights',
    meaning: 'The entropy of the distribution over all tokens at this position, under the weights chosen in “Scored by”.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
};

export const VALUE_CHANNELS = (Object.keys(CHANNEL_INFO) as Channel[]).filter(
  (channel): channel is ValueChannel => channel !== 'none' && channel !== 'mask',
);

export type ChannelValues = Record<ValueChannel, Float64Array>;

/** The scores of the tokens by other weights, and the name of these weights. */
export interface Second {
  name: string;
  scores: Rescored;
}

/** True if a channel shows scores by other weights. */
export const isSecond = (channel: Channel): boolean => (BY_CHANNELS as readonly Channel[]).includes(channel);

/** k3, the low-variance estimate of KL(policy ‖ reference) from one sample. */
export const k3 = (logprob: number, refLogprob: number): number => klEstimate(logprob - refLogprob, 'low_var_kl');
export const pressure = (advantage: number, logprob: number): number => advantage * (1 - Math.exp(logprob));

/**
 * Computes the values of all channels. A value is NaN if the token was not sampled, or if the value is not stored.
 * @param advantage the advantage of the rollout, if it was scored
 * @param second the scores by other weights; null if there are none
 */
export function channelValues(sequence: TokenSequence, advantage: number | null, second: Second | null = null): ChannelValues {
  const { length, mask, spans } = sequence;
  const logprob = new Float64Array(length).fill(NaN);
  for (const { node, start } of spans) node.logprobs.forEach((value, t) => value !== null && (logprob[start + t] = value));
  const stored = (name: string) => annotation(sequence, name);
  const ref_logprob = stored('ref_logprobs');
  const bySecond = (value: (scores: Rescored, t: number) => number) =>
    second ? logprob.map((_, t) => (mask[t] ? value(second.scores, t) : NaN)) : new Float64Array(length).fill(NaN);
  const by_logprob = bySecond(({ logprobs }, t) => logprobs[t]!);
  // The recorded run stores only four digits of a token's values. So an advantage this close to the rollout's counts as equal to it.
  const ofRollout = (own: number) => advantage !== null && !(Math.abs(own - advantage) > 1e-3 * Math.abs(advantage));
  const own = stored('advantage');
  // With a turn-level estimator the tokens differ, and the rollout's advantage is only their mean.
  const equal = own.every((value, t) => !mask[t] || ofRollout(value));
  const advantages = own.map((value, t) => (mask[t] && equal ? advantage! : value));
  return {
    logprob,
    ref_logprob,
    kl: logprob.map((value, t) => k3(value, ref_logprob[t]!)),
    entropy: stored('entropy'),
    ratio: stored('ratio'),
    advantage: advantages,
    pressure: logprob.map((value, t) => pressure(advantages[t]!, value)),
    delta_p: stored('delta_p'),
    by_delta_p: by_logprob.map((value, t) => Math.exp(value) - Math.exp(logprob[t]!)),
    by_logprob,
    by_entropy: bySecond(({ entropies }, t) => entropies[t]!),
  };
}

export const isLogprob = (channel: Channel): boolean => channel === 'logprob' || channel === 'ref_logprob' || channel === 'by_logprob';

/**
 * The number that the colour shows: the surprise for log-probabilities, the distance from 1 for a ratio. Diverging channels keep the sign.
 */
export function strength(channel: ValueChannel, value: number): number {
  if (isLogprob(channel)) return -value;
  return channel === 'ratio' ? value - 1 : value;
}

/** `masked`: not sampled. `null`: sampled, but not stored. `zero`: stored, and zero. */
export type TokenState = 'masked' | 'null' | 'zero' | 'value';
const ZERO = 1e-6;

export function stateOf(channel: ValueChannel, sampled: boolean, value: number): TokenState {
  if (!sampled) return 'masked';
  if (Number.isNaN(value)) return 'null';
  return Math.abs(strength(channel, value)) < ZERO ? 'zero' : 'value';
}

export interface Scale {
  /** The strength from which on the colour is full. */
  clip: number;
  /** The 99th percentile; null if no value is stored. */
  p99: number | null;
  /** The number of rollouts with values. */
  rollouts: number;
}

/** The colour scale of one or more rollouts. Its end is the 99th percentile of the strength, but at least `floor`. */
export function scaleOf(
  channel: ValueChannel,
  rollouts: readonly { values: ChannelValues; mask: Uint8Array }[],
  floor = CHANNEL_INFO[channel].floor,
): Scale {
  const strengths: number[] = [];
  let known = 0;
  for (const { values, mask } of rollouts) {
    const before = strengths.length;
    values[channel].forEach((value, t) => mask[t] && !Number.isNaN(value) && strengths.push(Math.abs(strength(channel, value))));
    if (strengths.length > before) known += 1;
  }
  const p99 = percentile(strengths, 0.99);
  return { clip: Math.max(p99 ?? 0, floor), p99, rollouts: known };
}

/** The percentile of `values` at `share`, by nearest rank; null if there are no values. */
export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** How much of the full colour a value gets: a number from −1 to 1, or from 0 to 1 for sequential channels. */
export function intensity(channel: ValueChannel, value: number, clip: number): number {
  const share = strength(channel, value) / clip;
  return Math.min(1, Math.max(CHANNEL_INFO[channel].kind === 'diverging' ? -1 : 0, share));
}

export interface ClipBand {
  low: number;
  high: number;
}
export const outside = ({ low, high }: ClipBand, ratio: number): boolean => ratio < low || ratio > high;

export interface Alternative {
  id: number;
  logprob: number;
}

/** The most likely tokens at `position`, if they are stored. */
export function alternatives({ spans }: TokenSequence, position: number): Alternative[] {
  const span = spans.find(({ start, end }) => start <= position && position < end);
  const kept = span?.node.annotations ?? {};
  const found: Alternative[] = [];
  for (let n = 1; ; n++) {
    const [id, logprob] = ['id', 'logprob'].map((what) => kept[`top_${n}_${what}`]?.[position - span!.start]);
    if (id === undefined || id === null || logprob === undefined || logprob === null) return found;
    found.push({ id, logprob });
  }
}

/** The most likely tokens at `position` by other weights. */
export function secondAlternatives({ scores: { top } }: Second, position: number): Alternative[] {
  return Array.from({ length: top.k }, (_, n) => ({ id: top.ids[position * top.k + n]!, logprob: top.logprobs[position * top.k + n]! }));
}
