/** @file Finds text in the shown messages, across the borders of tokens. */
import type { Span } from './sequence.ts';

/** The tokens [start, end) with the match. */
export interface Match {
  start: number;
  end: number;
}

const MOST = 10_000;

/**
 * Finds `query` in the messages of `spans`, in upper or lower case. `pieces` are the texts of the tokens. Without `pieces`
 * the search uses the stored text of a message, and a match begins at the message's first token.
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
