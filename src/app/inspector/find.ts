/** @file Finding text in the shown messages, across the borders of tokens. */
import type { Span } from './sequence.ts';

/** Tokens [start, end) that hold a match. */
export interface Match {
  start: number;
  end: number;
}

const MOST = 10_000;

/**
 * Matches of `query`, whatever its case, in the messages of `spans`; `pieces` are the tokens' texts. Without them a
 * message's own words are searched, and its first token stands for it.
 */
export function findText(spans: readonly Span[], pieces: readonly string[] | null, query: string): Match[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return [];
  const matches: Match[] = [];
  for (const { node, start, end } of spans) {
    const parts = pieces ? pieces.slice(start, end).map((piece) => piece.toLowerCase()) : [node.text.toLowerCase()];
    const whole = parts.join('');
    const ends: number[] = [];
    let length = 0;
    for (const part of parts) ends.push((length += part.length));
    let token = 0;
    for (let at = whole.indexOf(wanted); at >= 0 && matches.length < MOST; at = whole.indexOf(wanted, at + wanted.length)) {
      while (ends[token]! <= at) token += 1;
      let last = token;
      while (ends[last]! < at + wanted.length) last += 1;
      matches.push({ start: start + token, end: start + last + 1 });
    }
  }
  return matches;
}
