/** @file Describes the element of a token: its text, its states as class names, and its values as CSS custom properties. */
import { type ChannelValues, type ClipBand, isSecond, outside, type Second, stateOf, VALUE_CHANNELS } from './channels.ts';
import type { SequenceText, Span, TokenSequence } from './sequence.ts';
import { drawn, inLine, type TokenText, type Vocabulary } from './vocabulary.ts';

export interface Mark {
  text: string;
  className: string;
  style: string;
}

export interface MarkSource {
  sequence: TokenSequence;
  values: ChannelValues;
  /** Scores by other weights. */
  second: Second | null;
  band: ClipBand;
  /** Null if the text of the tokens is unknown. */
  vocabulary: Vocabulary | null;
  text: SequenceText | null;
}

export function tokenOf({ vocabulary }: Pick<MarkSource, 'vocabulary'>, id: number): TokenText {
  return vocabulary ? vocabulary.token(id) : { id, kind: 'unknown', bytes: new Uint8Array(), text: '' };
}

export const tokenAt = (source: Pick<MarkSource, 'sequence' | 'vocabulary'>, position: number): TokenText =>
  tokenOf(source, source.sequence.ids[position]!);

/** The text of a token in quotes, for a sentence. By default, it is the token at `position`. */
export const quoted = (
  source: Pick<MarkSource, 'sequence' | 'vocabulary'>,
  position: number,
  id = source.sequence.ids[position]!,
): string => `“${inLine(tokenOf(source, id))}”`;

/**
 * The class names mean: `t` every token, `s` sampled, `m` not sampled, `f` of the chat template, `k` control token, `b` bytes that are not
 * UTF-8 text, `n-x` not stored in channel x, `z-x` zero in channel x, `o` outside the clip band.
 */
export function markOf(source: MarkSource, position: number): Mark {
  const { sequence, values, second, band, text } = source;
  const token = tokenAt(source, position);
  const classes = ['t'];
  const styles: string[] = [];
  if (token.kind === 'control') classes.push('k');
  else if (token.kind !== 'text') classes.push('b');
  if (sequence.mask[position]) {
    classes.push('s');
    for (const channel of VALUE_CHANNELS) {
      if (!second && isSecond(channel)) continue;
      const value = values[channel][position]!;
      const state = stateOf(channel, true, value);
      if (state === 'null') classes.push(`n-${channel}`);
      else {
        if (state === 'zero') classes.push(`z-${channel}`);
        styles.push(`--${channel}:${value.toPrecision(3)}`);
      }
    }
    if (outside(band, values.ratio[position]!)) classes.push('o');
  } else {
    classes.push('m');
    if (text?.scaffold[position]) classes.push('f');
  }
  return { text: drawn(token), className: classes.join(' '), style: styles.join(';') };
}

/** The smallest number of tokens in a block of a long message. Browsers skip the layout of blocks that are out of sight. */
const BLOCK = 200;

/** Cuts the tokens of a message into blocks [from, to) that end at line ends. */
export function blocksOf(span: Span, endsLine: (position: number) => boolean): [number, number][] {
  const blocks: [number, number][] = [];
  let from = span.start;
  for (let at = span.start; at < span.end; at++) {
    if (at + 1 - from < BLOCK || !endsLine(at) || span.end - (at + 1) < BLOCK) continue;
    blocks.push([from, at + 1]);
    from = at + 1;
  }
  if (from < span.end) blocks.push([from, span.end]);
  return blocks;
}
