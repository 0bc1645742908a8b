/** @file The content of the small box next to a token. */
import { number } from '../../kit/format.ts';
import { type Channel, CHANNEL_INFO, isLogprob, isSecond, stateOf, type ValueChannel } from './channels.ts';
import { type MarkSource, quoted } from './marks.ts';
import type { Highlight, HighlightKind } from './highlights.ts';

export interface Tip {
  text: string;
  /** The values that are stored. The value that colours the tokens comes first. */
  values: { label: string; value: string }[];
  /** A text that replaces missing values; '' if there are values. */
  note: string;
  /** The kinds of the token's highlights in words; '' if it is not a highlight. */
  highlights: string;
}

const HIGHLIGHTS: Record<HighlightKind, string> = {
  push: 'strong push',
  uncertain: 'uncertain choice',
  flip: 'flip',
  write: 'write',
  violation: 'broken rule',
};
const withSign = (value: number) => `${value > 0 ? '+' : ''}${number(value)}`;
const SHORT: Partial<Record<ValueChannel, [label: string, value: (value: number) => string]>> = {
  logprob: ['probability', (value) => `${number(100 * Math.exp(value))} %`],
  entropy: ['entropy', (value) => `${number(value)} nats`],
  pressure: ['push', withSign],
  delta_p: ['after the update', (value) => `${withSign(100 * value)} percentage points`],
};

/** The box of the token at `position`: the value that colours the tokens, and the values that most readers look for. */
export function tipOf(source: MarkSource, channel: Channel, highlights: readonly Highlight[], position: number): Tip {
  const sampled = source.sequence.mask[position] === 1;
  const wanted = new Set<Channel>([channel, 'logprob', 'entropy', 'pressure', 'delta_p']);
  const values = [...wanted].flatMap((name) => {
    if (name === 'none' || name === 'mask' || (isSecond(name) && !source.second)) return [];
    const value = source.values[name][position]!;
    const state = stateOf(name, sampled, value);
    return state === 'zero' || state === 'value' ? [described(name, value)] : [];
  });
  return {
    text: quoted(source, position),
    values,
    note: sampled ? (values.length === 0 ? 'no values stored' : '') : 'not sampled by the agent',
    highlights: highlights.map(({ kind }) => HIGHLIGHTS[kind]).join(', '),
  };
}

function described(name: ValueChannel, value: number): { label: string; value: string } {
  const [label, write] = SHORT[name] ?? [];
  if (label && write) return { label, value: write(value) };
  const { label: long, unit, kind } = CHANNEL_INFO[name];
  const shown = kind === 'diverging' && name !== 'ratio' ? withSign(value) : number(value);
  const p = isLogprob(name) ? ` (${number(100 * Math.exp(value))} %)` : '';
  return { label: long.charAt(0).toLowerCase() + long.slice(1), value: `${shown}${unit ? ` ${unit}` : ''}${p}` };
}
