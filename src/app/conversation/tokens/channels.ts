/** @file The channels that colour tokens: their values, their sources, and how strong each colour is. */
import type { Rescored } from '../../../trainer/messages.ts';
import { klEstimate } from '../../../training/grpo-loss.ts';
import { BY_CHANNELS, type CHANNELS } from '../../routes/routes.ts';
import { annotation, type TokenSequence } from './sequence.ts';

export type Channel = (typeof CHANNELS | typeof BY_CHANNELS)[number];
export type ValueChannel = Exclude<Channel, 'none' | 'mask'>;

export interface ChannelInfo {
  label: string;
  meaning: string;
  /** Sequential: from zero to large. Diverging: both signs around a middle. */
  kind: 'none' | 'mask' | 'sequential' | 'diverging';
  unit?: string;
  /** The smallest strength (see `strength`) with the full colour, so that rounding errors do not look like a signal. */
  floor: number;
}

export const CHANNEL_INFO: Record<Channel, ChannelInfo> = {
  none: { label: 'None', meaning: 'Tokens without a colour.', kind: 'none', floor: 1 },
  mask: {
    label: 'Mask',
    meaning: 'The tokens in the loss are those that the agent sampled. Other tokens are pale, and tokens of the chat template are dotted.',
    kind: 'mask',
    floor: 1,
  },
  logprob: {
    label: 'Log-probability',
    meaning: 'Natural logarithm of the probability that the token had when it was sampled. Strong colour: a surprise.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  ref_logprob: {
    label: 'Reference log-probability',
    meaning: 'Natural logarithm of the probability that the frozen reference model gives the token.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  kl: {
    label: 'KL to the reference',
    meaning: 'Per-token estimate k3 = exp(ref − log p) − (ref − log p) − 1, as the low_var_kl term of the loss.',
    kind: 'sequential',
    unit: 'nats',
    floor: 1e-4,
  },
  entropy: {
    label: 'Entropy',
    meaning: 'Entropy of the distribution that the token was sampled from.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  ratio: {
    label: 'Importance ratio',
    meaning:
      'Probability by the trainer divided by the probability at sampling. Outside the clip band the loss is clipped; these tokens have a frame.',
    kind: 'diverging',
    floor: 0.2,
  },
  advantage: {
    label: 'Advantage',
    meaning: 'One number for the whole rollout: its reward compared with the group’s mean. All sampled tokens have the same colour.',
    kind: 'diverging',
    floor: 1e-6,
  },
  pressure: {
    label: 'Pressure (approximate)',
    meaning:
      'Advantage × (1 − p): the direction and the rough size of the update of the token. An approximation without clipping, KL and the effect of other tokens.',
    kind: 'diverging',
    floor: 1e-3,
  },
  delta_p: {
    label: 'Δp after the update',
    meaning: 'Probability after this step’s update minus the probability before. All rollouts of the step took part in the update.',
    kind: 'diverging',
    floor: 1e-3,
  },
  by_delta_p: {
    label: 'Δp, other weights',
    meaning: 'Probability by the weights chosen under “Scored by” minus the probability that the token had when it was sampled.',
    kind: 'diverging',
    floor: 1e-3,
  },
  by_logprob: {
    label: 'Log-probability, other weights',
    meaning:
      'Natural logarithm of the probability that the weights chosen under “Scored by” give the token. Strong colour: a surprise to them.',
    kind: 'sequential',
    unit: 'nats',
    floor: 0.01,
  },
  by_entropy: {
    label: 'Entropy, other weights',
    meaning: 'Entropy of the whole distribution that the weights chosen under “Scored by” have here.',
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

/** Whether a channel shows scores by other weights. */
export const isSecond = (channel: Channel): boolean => (BY_CHANNELS as readonly Channel[]).includes(channel);

/** k3, the low-variance estimate of KL(policy ‖ reference) from one sample. */
export const k3 = (logprob: number, refLogprob: number): number => klEstimate(logprob - refLogprob, 'low_var_kl');
export const pressure = (advantage: number, logprob: number): number => advantage * (1 - Math.exp(logprob));

/**
 * The values of all channels. NaN: the token was not sampled, or the value is not stored.
 * @param advantage the advantage of the rollout, if it was scored
 * @param second the scores by other weights
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
  // The recorded run keeps four digits of a token's values. Rounded again, its advantage would differ from the rollout's.
  const ofRollout = (own: number) => advantage !== null && !(Math.abs(own - advantage) > 1e-3 * Math.abs(advantage));
  const advantages = stored('advantage').map((own, t) => (mask[t] && ofRollout(own) ? advantage! : own));
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

/** The number that the colour shows: for log-probabilities the surprise, for a ratio the distance from 1. Signed for diverging channels. */
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
  /** The strength with the full colour. */
  clip: number;
  /** The 99th percentile; null if no value is stored. */
  p99: number | null;
  /** The number of rollouts with values. */
  rollouts: number;
}

/** The scale of one or more rollouts: the 99th percentile of the strength, at least the channel's floor. */
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

/** By nearest rank; null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** A number from −1 to 1; for sequential channels from 0 to 1. */
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

/** The likeliest tokens at `position`, if they are stored. */
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

/** The likeliest tokens at `position` by other weights. */
export function secondAlternatives({ scores: { top } }: Second, position: number): Alternative[] {
  return Array.from({ length: top.k }, (_, n) => ({ id: top.ids[position * top.k + n]!, logprob: top.logprobs[position * top.k + n]! }));
}
