/** @file A recorded conversation with a benchmark's environment, in one form for all file formats. */
import type { Json } from '../records/json.ts';
import type { ToolCall } from '../records/task.ts';

export interface ConversationCall extends ToolCall {
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
  /** The task as the results name it: by its id, or as tau-bench by its index in a split. */
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
