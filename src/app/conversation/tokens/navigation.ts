/** @file The keys of the inspector, and the steps from message to message and from token to token. */
import type { Query } from '../../routes/routes.ts';
import type { Span } from './sequence.ts';

export type Command =
  | 'next-message'
  | 'previous-message'
  | 'next-token'
  | 'previous-token'
  | 'previous-sibling'
  | 'next-sibling'
  | 'next-highlight'
  | 'previous-highlight'
  | 'next-write'
  | 'next-channel'
  | 'previous-channel'
  | 'view'
  | 'fork'
  | 'fork-as-agent'
  | 'find'
  | 'close';

export const KEYS: readonly { key: string; command: Command; does: string }[] = [
  { key: 'j', command: 'next-message', does: 'next message' },
  { key: 'k', command: 'previous-message', does: 'previous message' },
  { key: 'l', command: 'next-token', does: 'next token' },
  { key: 'h', command: 'previous-token', does: 'previous token' },
  { key: 'n', command: 'next-highlight', does: 'next highlight' },
  { key: 'p', command: 'previous-highlight', does: 'previous highlight' },
  { key: 'w', command: 'next-write', does: 'next result that changed the database' },
  { key: '[', command: 'previous-sibling', does: 'previous rollout of the list from which you came, or of the group; previous trial' },
  { key: ']', command: 'next-sibling', does: 'next rollout of the list or the group; next trial' },
  { key: 'c', command: 'next-channel', does: 'next colour' },
  { key: 'C', command: 'previous-channel', does: 'previous colour' },
  { key: 'v', command: 'view', does: 'show messages or rendered tokens' },
  { key: 'f', command: 'fork', does: 'fork here: play on from this message as the customer' },
  { key: 'a', command: 'fork-as-agent', does: 'fork here as the agent' },
  { key: '/', command: 'find', does: 'find in the text' },
  { key: 'Escape', command: 'close', does: 'close the selected token, database or message' },
];
const COMMANDS = new Map(KEYS.map(({ key, command }) => [key, command]));

export type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'defaultPrevented'>;

/** The command of a key. Null for a key with a modifier, and while the visitor types text, except for Escape. */
export function commandOf({ key, ctrlKey, metaKey, altKey, defaultPrevented }: KeyPress, typing: boolean): Command | null {
  if (ctrlKey || metaKey || altKey || defaultPrevented || (typing && key !== 'Escape')) return null;
  return COMMANDS.get(key) ?? null;
}

/** The next or the previous message; the last message has no next one. If `node` is null, the first or the last message. */
export function stepMessage(spans: readonly Span[], node: number | null, offset: 1 | -1): Span | undefined {
  const at = spans.findIndex((span) => span.node.id === node);
  if (at < 0) return offset > 0 ? spans[0] : spans.at(-1);
  return spans[Math.max(0, Math.min(spans.length - 1, at + offset))];
}

/** The next message after `node` that changed the database. The search continues at the first message after the last one. */
export function nextWrite(spans: readonly Span[], node: number | null): Span | undefined {
  const at = spans.findIndex((span) => span.node.id === node);
  return [...spans.slice(at + 1), ...spans.slice(0, at + 1)].find((span) => span.node.toolResult?.changes.length);
}

/**
 * The position of the next or the previous token in the shown messages. If `position` is null: the first sampled token of `node`, or of the
 * first message with sampled tokens.
 */
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

/** The part of the query that says how a conversation is shown. Links to other conversations keep this part. */
export function lookOf({ view, ch, scale, by }: Query<'trial'>) {
  return { view: view === 'messages' ? '' : view, ch: ch === 'none' ? '' : ch, scale: scale === 'rollout' ? '' : scale, by };
}

/** The item after or before `current`. After the last item comes the first. */
export function cycle<T>(items: readonly T[], current: T, offset: 1 | -1 = 1): T {
  return items[(items.indexOf(current) + offset + items.length) % items.length]!;
}
