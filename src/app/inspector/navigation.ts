/** @file The keys of the inspector, and where they lead. */
import type { Query } from '../logic/routes.ts';
import type { Span } from './sequence.ts';

export type Command =
  | 'next-turn' | 'previous-turn' | 'next-token' | 'previous-token' | 'previous-sibling' | 'next-sibling'
  | 'next-write' | 'channel' | 'previous-channel' | 'view' | 'fork' | 'fork-as-agent' | 'find' | 'close';

export const KEYS: readonly { key: string; command: Command; does: string }[] = [
  { key: 'j', command: 'next-turn', does: 'next message' },
  { key: 'k', command: 'previous-turn', does: 'message before' },
  { key: 'l', command: 'next-token', does: 'next token' },
  { key: 'h', command: 'previous-token', does: 'token before' },
  { key: 'w', command: 'next-write', does: 'next result that changed the database' },
  { key: '[', command: 'previous-sibling', does: 'rollout before, of the same group; trial before' },
  { key: ']', command: 'next-sibling', does: 'next rollout of the same group; next trial' },
  { key: 'c', command: 'channel', does: 'next colour' },
  { key: 'C', command: 'previous-channel', does: 'colour before' },
  { key: 'v', command: 'view', does: 'messages or rendered tokens' },
  { key: 'f', command: 'fork', does: 'fork here: play on from this message as the customer' },
  { key: 'a', command: 'fork-as-agent', does: 'the same as the agent' },
  { key: '/', command: 'find', does: 'find in the text' },
  { key: 'Escape', command: 'close', does: 'close what is selected' },
];
const COMMANDS = new Map(KEYS.map(({ key, command }) => [key, command]));

export type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'defaultPrevented'>;

/** Null for keys that are somebody else's: with a modifier, or where text is typed. Escape is also heard in fields. */
export function commandOf({ key, ctrlKey, metaKey, altKey, defaultPrevented }: KeyPress, typing: boolean): Command | null {
  if (ctrlKey || metaKey || altKey || defaultPrevented || (typing && key !== 'Escape')) return null;
  return COMMANDS.get(key) ?? null;
}

/** The message `offset` messages on, stopping at the ends; from nowhere, the first or the last. */
export function stepTurn(spans: readonly Span[], node: number | null, offset: 1 | -1): Span | undefined {
  const at = spans.findIndex((span) => span.node.id === node);
  if (at < 0) return offset > 0 ? spans[0] : spans.at(-1);
  return spans[Math.max(0, Math.min(spans.length - 1, at + offset))];
}

/** The next message after `node` that changed the database, from the start again after the last. */
export function nextWrite(spans: readonly Span[], node: number | null): Span | undefined {
  const at = spans.findIndex((span) => span.node.id === node);
  return [...spans.slice(at + 1), ...spans.slice(0, at + 1)].find((span) => span.node.toolResult?.changes.length);
}

/** The position one token on among the shown messages. From nowhere: the first token of `node`, sampled ones first. */
export function stepToken(spans: readonly Span[], position: number | null, node: number | null, offset: 1 | -1): number | null {
  const shown = spans.filter(({ start, end }) => end > start);
  if (position === null) {
    const span = shown.find((one) => one.node.id === node) ?? shown.find((one) => one.node.mask.includes(1)) ?? shown[0];
    if (!span) return null;
    return span.start + Math.max(0, span.node.mask.indexOf(1));
  }
  const at = shown.findIndex(({ end }) => position < end);
  const span = shown[at];
  if (!span) return shown.at(-1) ? shown.at(-1)!.end - 1 : null;
  if (position < span.start) return offset > 0 ? span.start : (shown[at - 1]?.end ?? span.start + 1) - 1;
  const next = position + offset;
  if (next >= span.start && next < span.end) return next;
  const neighbour = shown[at + offset];
  return neighbour ? (offset > 0 ? neighbour.start : neighbour.end - 1) : position;
}

/** How a conversation is looked at, as the query of another that is to be looked at in the same way. */
export function lookOf({ view, ch, scale, by }: Query<'rollout'>) {
  return { view: view === 'messages' ? '' : view, ch: ch === 'none' ? '' : ch, scale: scale === 'rollout' ? '' : scale, by };
}

/** `items` in a ring. */
export function cycle<T>(items: readonly T[], current: T, offset: 1 | -1 = 1): T {
  return items[(items.indexOf(current) + offset + items.length) % items.length]!;
}
