/** @file The requests of telecom's customers at level `glimpse`. Each request changes one line. */
import type { Dice } from '../../../base/dice.ts';
import type { ToolCall, Wish } from '../../../records/task.ts';
import type { WishFor } from '../../retail/customer/listening.ts';

export const LINE_INTENTS = ['add_data', 'enable_roaming'] as const;
export type LineIntent = (typeof LINE_INTENTS)[number];

/** `gb_amount` is a whole number of gigabytes; only `add_data` has it. */
export interface LineRequest extends Pick<Wish, 'words'> {
  intent: LineIntent;
  slots: { line_id: string; gb_amount?: string };
}

export type LineWish = WishFor<LineRequest>;

export const TOOL_OF: Record<LineIntent, string> = { add_data: 'refuel_data', enable_roaming: 'enable_roaming' };
const MOST_GB = 9;

export function requestFor(dice: Dice, intent: LineIntent, line_id: string): LineRequest {
  return { intent, slots: { line_id, ...(intent === 'add_data' && { gb_amount: String(dice.int(1, MOST_GB)) }) }, words: {} };
}

/** The same request with another amount of data. */
export function withOtherAmount(dice: Dice, { intent, slots, words }: LineRequest): LineRequest {
  const now = Number(slots.gb_amount);
  return { intent, slots: { ...slots, gb_amount: String(((now - 1 + dice.int(1, MOST_GB - 1)) % MOST_GB) + 1) }, words };
}

/** The gold call, which fulfils the request. */
export const goldCall = ({ intent, slots: { line_id, gb_amount } }: LineRequest): ToolCall => ({
  name: TOOL_OF[intent],
  arguments: { line_id, ...(gb_amount !== undefined && { gb_amount: Number(gb_amount) }) },
});

/** The request as a clause that follows "want to". */
export const requestText = ({ intent, slots }: LineRequest): string =>
  intent === 'add_data' ? `add ${slots.gb_amount} GB to line ${slots.line_id}` : `enable roaming on line ${slots.line_id}`;
