/** @file A conversation with a benchmark's environment, as evaluations see it, whatever file it came from. */
import type { ExactCall } from '../environments/exact/types.ts';

export interface ConversationCall extends ExactCall {
  /** What it answered then; undefined where the conversation ended before. */
  recorded?: string;
}

/** One thing that happened: somebody spoke, or called a tool. */
export type Turn =
  | { kind: 'said'; role: 'assistant' | 'user'; text: string }
  | { kind: 'called'; call: ConversationCall };

export interface Conversation {
  turns: Turn[];
  /** The agent or the user ended it; limits and failures did not. */
  ended: boolean;
}

export const callsOf = ({ turns }: Conversation): ConversationCall[] => turns.flatMap((turn) => (turn.kind === 'called' ? [turn.call] : []));

/** What the assistant said, lower-cased and without commas: both benchmarks look for texts in it. */
export function assistantTexts({ turns }: Conversation): string[] {
  return turns.flatMap((turn) => (turn.kind === 'said' && turn.role === 'assistant' && turn.text !== '' ? [plainText(turn.text)] : []));
}

export const plainText = (text: string) => text.toLowerCase().replaceAll(',', '');

/** Quirk of both benchmarks: commas are dropped from what was said, not from what is looked for. */
export const mentions = (texts: readonly string[], wanted: string) => texts.some((text) => text.includes(wanted.toLowerCase()));
