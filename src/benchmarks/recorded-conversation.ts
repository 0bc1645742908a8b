/** @file A recorded conversation with a benchmark's environment, in one form for all file formats. */
import type { Json } from '../records/json.ts';
import type { ToolCall } from '../records/task.ts';

export interface ConversationCall extends ToolCall {
  /** The recorded observation. Undefined if the conversation ended before it. */
  recorded?: string;
  /** Whether the recorded observation is an error. */
  failed?: boolean;
}

/** One event of a conversation: a party spoke or called a tool. */
export type Turn = { kind: 'said'; role: 'assistant' | 'user'; text: string } | { kind: 'called'; call: ConversationCall };

export interface Conversation {
  turns: Turn[];
  /** Whether the agent or the user ended the conversation. False if a limit or a failure ended it. */
  ended: boolean;
}

/** A conversation from a results file, with its recorded reward. */
export interface RecordedRun {
  /** The name of the task in the results: its id, or in tau-bench its index in a split. */
  task: string;
  trial: number;
  conversation: Conversation;
  reward: number | null;
  /** The recorded parts of the reward, by name (`DB`, `r_actions`, …). */
  parts: Record<string, number>;
  /** The gold actions at the time of the recording. Null if the results do not contain them. */
  gold: { name: string; arguments: Record<string, Json> }[] | null;
  /** `instruction` and `outputs`: those of the recorded task, for tau-bench. They identify the task in our data. */
  instruction?: string;
  outputs?: string[];
  /** For tau2-bench: the recorded judgement of each assertion. */
  judged: Map<string, boolean>;
  /** For tau2-bench: whether the recorded scoring found each gold action in the conversation. */
  actionChecks?: boolean[];
  /** The benchmark's name for the ending. */
  ending?: string;
  /** Why the recording failed, for example a server that did not answer. Such a run has no reward. */
  error?: string;
  /** Describes the parts of the conversation that could not be read. */
  problems: string[];
}

export const callsOf = ({ turns }: Conversation): ConversationCall[] =>
  turns.flatMap((turn) => (turn.kind === 'called' ? [turn.call] : []));
