/**
 * @file A shadow: what a candidate would have done at each recorded turn of conversations that another agent had. The file is JSON lines:
 * the head, then conversations and turns. A turn comes after its conversation.
 */
import type { AgentServer } from './agent-server.ts';
import type { Json } from './json.ts';
import type { Precision } from './model.ts';
import type { ToolCall } from './task.ts';
import type { UserRequest } from './user.ts';

/** How the candidate's turn compares with the recorded one, in the order of lists. */
export const SHADOW_KINDS = [
  'same_call', // the same calls with the same arguments
  'other_arguments', // the same tools, but other arguments
  'other_tool', // another tool, or more or fewer calls
  'asked_instead', // words where the recorded agent called a tool
  'called_instead', // a call where the recorded agent spoke
  'both_text', // words in both turns, which are not compared
  'unreadable', // an empty answer, or a call that cannot be read
  'failed', // the candidate gave no answer, so the turn is not scored
] as const;
export type ShadowKind = (typeof SHADOW_KINDS)[number];

/** The kinds, for people. */
export const SHADOW_LABELS: Record<ShadowKind, string> = {
  same_call: 'same call',
  other_arguments: 'other arguments',
  other_tool: 'other tool',
  asked_instead: 'asked instead',
  called_instead: 'called instead of words',
  both_text: 'words in both',
  unreadable: 'empty or unreadable',
  failed: 'unscored',
};

/** What an agent wrote in one turn. */
export interface ShadowAct {
  /** The words to the customer, or beside the calls. */
  content: string;
  calls: ToolCall[];
  /** Why a call cannot be read. */
  error?: string;
}

/** An argument that differs. Absent values: the call has no such argument. */
export interface OtherArgument {
  tool: string;
  argument: string;
  recorded?: Json;
  candidate?: Json;
}

export interface ShadowTurn {
  conversation: string | number;
  /** The index of the recorded message in the conversation. */
  message: number;
  kind: ShadowKind;
  recorded: ShadowAct;
  /** Null if there is no answer. */
  candidate: ShadowAct | null;
  /** The reads of the candidate before its act, which were made on a snapshot. */
  reads?: ToolCall[];
  /** The arguments that differ, if the kind is `other_arguments`. */
  arguments?: OtherArgument[];
  /** The writes of the candidate. `why`: why the customer had not agreed to the write; null if they had. */
  writes: { tool: string; why: string | null }[];
  /** The requests to the candidate's server. Empty for a model on this computer. */
  requests: UserRequest[];
  /** Why there is no answer. */
  error?: string;
}

/** A message of a recorded conversation. */
export interface ShadowMessage {
  /** Its index in the conversation of the file. */
  message: number;
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  /** The calls of the agent's message. */
  calls?: ToolCall[];
  /** The tool of a result. */
  tool?: string;
  /** Whether the result is an error. */
  failed?: boolean;
}

export interface ShadowConversation {
  id: string | number;
  messages: ShadowMessage[];
}

/** A candidate whose weights are on this computer. */
export interface ShadowModelRef {
  model: string;
  /** Of the weights. */
  model_sha256: string;
  precision: Precision;
}

export interface ShadowHead {
  version: 1;
  domain: string;
  agent: Omit<AgentServer, 'apiKey'> | ShadowModelRef;
  temperature: number;
  seed: number;
  /** SHA-256 of the file with the conversations. */
  conversations_sha256: string;
  /** The benchmark data of the snapshot: rules and path. Absent: no snapshot. */
  data?: string;
  /** The number of recorded turns that the candidate is asked for. */
  turns: number;
}

/** A line of the file. */
export type ShadowLine = { shadow: ShadowHead } | { conversation: ShadowConversation } | { turn: ShadowTurn };
