/** @file The texts of the assistant in which tau-bench and tau2-bench search for outputs. */
import type { Conversation } from '../recorded-conversation.ts';

/** The assistant's messages, in lower case and without commas. Both benchmarks search for texts in them. */
export function assistantTexts({ turns }: Conversation): string[] {
  return turns.flatMap((turn) => (turn.kind === 'said' && turn.role === 'assistant' && turn.text !== '' ? [plainText(turn.text)] : []));
}

export const plainText = (text: string) => text.toLowerCase().replaceAll(',', '');

/** Whether a text was said. Quirk of both benchmarks: commas are removed from the messages, but not from the wanted text. */
export const mentions = (texts: readonly string[], wanted: string) => texts.some((text) => text.includes(wanted.toLowerCase()));
