/** @file Joins the tokens of a trajectory into one sequence, with the position of each message. */
import { path } from '../../../base/message-path.ts';
import type { MessageNode, Trajectory } from '../../../records/trajectory.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface Span {
  node: MessageNode;
  /** The message has the tokens from `start` up to, but without, `end`. */
  start: number;
  end: number;
}

export interface TokenSequence {
  spans: Span[];
  length: number;
  ids: Int32Array;
  /** 1 if the model sampled the token. */
  mask: Uint8Array;
}

/** @throws if the graph is broken */
export function sequenceOf(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>): TokenSequence {
  let length = 0;
  const spans = path(trajectory).map((node): Span => ({ node, start: length, end: (length += node.tokens.length) }));
  const ids = new Int32Array(length);
  const mask = new Uint8Array(length);
  for (const { node, start } of spans) {
    ids.set(node.tokens, start);
    mask.set(node.mask, start);
  }
  return { spans, length, ids, mask };
}

/** The message of the token at `position`. */
export function spanAt({ spans }: Pick<TokenSequence, 'spans'>, position: number): Span | undefined {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end <= position) low = middle + 1;
    else high = middle;
  }
  const found = spans[low];
  return found && found.start <= position ? found : undefined;
}

/** The values stored under `name` for each token; NaN if there is no value. */
export function annotation({ spans, length }: TokenSequence, name: string): Float64Array {
  const values = new Float64Array(length).fill(NaN);
  for (const { node, start } of spans) node.annotations?.[name]?.forEach((value, t) => value !== null && (values[start + t] = value));
  return values;
}

export interface SequenceText {
  /** One piece for each token. The joined pieces are the text. */
  pieces: string[];
  /** 1 for tokens of the chat template around the text of a message. */
  scaffold: Uint8Array;
}

/**
 * Decodes the sequence with `vocabulary`. Null if the result differs from the text that was stored with the sampled tokens: another
 * vocabulary made them.
 */
export function textOf(sequence: TokenSequence, vocabulary: Vocabulary): SequenceText | null {
  const text: SequenceText = { pieces: [], scaffold: new Uint8Array(sequence.length) };
  for (const { node, start, end } of sequence.spans) {
    const pieces = vocabulary.pieces(node.tokens);
    if (node.role === 'assistant' && node.mask.includes(1) && repaired(pieces.join('')) !== repaired(node.text)) return null;
    for (const piece of pieces) text.pieces.push(piece);
    if (node.role === 'template') text.scaffold.fill(1, start, end);
    else if (node.role !== 'assistant') markScaffold(node, pieces, text.scaffold.subarray(start, end));
  }
  return text;
}

/** Removes replacement characters, because decoders write different numbers of them for broken UTF-8. */
const repaired = (text: string) => text.replace(/\ufffd+/g, '');

/** The text that the chat template puts before a message. */
const OPENINGS: Partial<Record<MessageNode['role'], string>> = {
  system: '<|im_start|>system\n',
  user: '<|im_start|>user\n',
  tool: '<|im_start|>user\n<tool_response>\n',
};

function markScaffold({ role, text }: MessageNode, pieces: readonly string[], scaffold: Uint8Array): void {
  const whole = pieces.join('');
  const opening = OPENINGS[role] ?? '';
  const begin = whole.startsWith(opening + text) ? opening.length : whole.indexOf(text);
  let at = 0;
  pieces.forEach((piece, t) => {
    if (begin < 0 || at + piece.length <= begin || at >= begin + text.length) scaffold[t] = 1;
    at += piece.length;
  });
}
