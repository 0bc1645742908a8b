/** @file Finds text in the shown messages. A match can cover several tokens. */
import type { Span } from './sequence.ts';

/** The tokens that contain a match: from `start` up to, but without, `end`. */
export interface Match {
  start: number;
  end: number;
}

const MOST = 10_000;

/**
 * Finds `query` in the messages of `spans` and ignores case. `pieces` are the texts of the tokens. If `pieces` is null, searches the stored
 * text of each message, and the match is at the message's first token.
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
