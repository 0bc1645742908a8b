/** @file A recorded conversation with a benchmark's environment, in one form for all file formats. */
import type { ExactCall } from '../domains/exact/types.ts';
import type { Json } from '../records/json.ts';

export interface ConversationCall extends ExactCall {
  /** The recorded answer; undefined if the conversation ended before the answer. */
  recorded?: string;
}

/** One event: somebody spoke or called a tool. */
export type Turn = { kind: 'said'; role: 'assistant' | 'user'; text: string } | { kind: 'called'; call: ConversationCall };

export interface Conversation {
  turns: Turn[];
  /** Whether the agent or the user ended it, not a limit or a failure. */
  ended: boolean;
}

/** A conversation of a results file, with its recorded reward. */
export interface RecordedRun {
  /** The task's index in tau-bench, its id in tau2-bench. */
  task: string;
  trial: number;
  conversation: Conversation;
  reward: number | null;
  /** The recorded parts of the reward, by name (`DB`, `r_actions`, …). */
  parts: Record<string, number>;
  /** The gold actions when the conversation was recorded. Null if the results do not contain them. */
  gold: { name: string; arguments: Record<string, Json> }[] | null;
  /** tau-bench: the task when the conversation was recorded, to find it in our data. */
  instruction?: string;
  outputs?: string[];
  /** tau2-bench: the recorded judgements by assertion. */
  judged: Map<string, boolean>;
  /** tau2-bench: whether the recorded scoring found each gold action. */
  actionChecks?: boolean[];
  /** Parts of the conversation that could not be read. */
  problems: string[];
}

export const callsOf = ({ turns }: Conversation): ConversationCall[] =>
  turns.flatMap((turn) => (turn.kind === 'called' ? [turn.call] : []));

/** The assistant's messages in lower case and without commas. Both benchmarks search them for texts. */
export function assistantTexts({ turns }: Conversation): string[] {
  return turns.flatMap((turn) => (turn.kind === 'said' && turn.role === 'assistant' && turn.text !== '' ? [plainText(turn.text)] : []));
}

export const plainText = (text: string) => text.toLowerCase().replaceAll(',', '');

/** Quirk of both benchmarks: commas are removed from the messages, but not from the wanted text. */
export const mentions = (texts: readonly string[], wanted: string) => texts.some((text) => text.includes(wanted.toLowerCase()));
