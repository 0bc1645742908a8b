/**
 * @file The rules by which a conversation starts, continues and ends. `episode.ts` plays all conversations, and gets the rules
 * as an argument. The rules of a benchmark are in its folder under `src/benchmarks`.
 */
import type { Task } from '../records/task.ts';
import type { TerminationReason } from '../records/trajectory.ts';
import { customerPrompt } from '../users/prompt.ts';
import { saysStop } from '../users/stop.ts';
import { STOP } from '../users/types.ts';
import type { AuditRules } from './audit-rules.ts';
import type { ParsedTurn } from './tool-call.ts';

export interface EpisodeRules {
  /** Words with which the user ends the conversation. */
  stopWords: readonly string[];
  /** Whether a stop word inside quotation marks also ends the conversation, as in the code of the benchmarks. */
  quotedStops: boolean;
  /** What a stop word in the user's first message does: it is an error of the simulator, ends the episode, or is ignored. */
  openingStop: 'error' | 'ends' | 'ignored';
  /** Words with which the agent ends the conversation. A message with such a word is not executed. Absent: none. */
  agentStopWords?: readonly string[];
  /** The number of first messages in which a stop word does not count. Absent: 0. */
  stopsAfter?: number;
  /** Tools that end the episode when a call of them succeeds. */
  terminalTools: readonly string[];
  /** Whether a failed call of a terminal tool also ends the episode. */
  failedToolEnds: boolean;
  /** The agent's first message, which is not sampled. Null if the user speaks first. */
  greeting: string | null;
  /** The limit on the number of tool results and user replies. Null means `EpisodeLimits.max_turns`. */
  maxTurns: number | null;
  /** The limit on the number of messages of agent, user and tools. The agent's last tool call is still run. */
  maxSteps: number;
  /** The limit on the number of failed tool calls of agent and user. */
  maxErrors: number;
  /** The largest number of tool calls in one turn of the agent. If it is 1, sampling stops at the end of the first call. */
  callsPerTurn: number;
  /** The same for a model behind a server, whose messages can have several calls. Further calls are dropped. Absent: `callsPerTurn`. */
  callsPerMessage?: number;
  /**
   * The most turns with calls after one message of the user. One further turn is still executed. Then the episode ends. Absent: any
   * number.
   */
  callTurns?: number;
  /** Reads a turn of the agent, if the benchmark has its own way. Absent: `parseTurn`. */
  readTurn?: (text: string, task: Task) => ParsedTurn;
  /** The same for the calls of a model behind a server, with the texts of their arguments. */
  readCalls?: (calls: readonly { name: string; arguments: string }[]) => Omit<ParsedTurn, 'content'>;
  /** Whether the environment answers a call of an unknown tool. If false, such a call counts as malformed. */
  passUnknownTools: boolean;
  /** Whether a turn with neither text nor call is malformed and ends the episode. */
  emptyTurnEnds: boolean;
  /** Whether text next to a tool call counts as said to the user. Some tasks require that the agent says something. */
  countsProse: boolean;
  /** Whether the reward is 0 if neither the user nor a terminal tool ended the episode. */
  requireDone: boolean;
  /** Makes the system prompt of a language model that plays the customer. `hasTools`: whether the customer has tools. */
  customerPrompt: (instruction: string, hasTools: boolean) => string;
  /** Loads the rules for the audit of the agent. Null if conversations are not audited; this does not mean that the agent follows the rules. */
  audit: (() => Promise<AuditRules>) | null;
  /** The benchmark's name for the ending. The trajectory stores it in the field `ending`. */
  ending?: (termination: TerminationReason, tooManyErrors: boolean) => string;
}

/** The rules without those that depend on the domain. */
export type ConversationRuleSet = Omit<EpisodeRules, 'terminalTools' | 'audit'>;

/** MUA-RL's rules (arXiv 2508.18669). */
export const MUA_RULES: ConversationRuleSet = {
  stopWords: [STOP],
  quotedStops: false,
  openingStop: 'error',
  failedToolEnds: false,
  greeting: null,
  maxTurns: null,
  maxSteps: Infinity,
  maxErrors: Infinity,
  callsPerTurn: 1,
  passUnknownTools: false,
  emptyTurnEnds: false,
  countsProse: false,
  requireDone: false,
  customerPrompt,
};

/**
 * Whether a message of the user ends the conversation under these rules.
 * @param messages the number of messages so far, with this one
 */
export const endsByUser = (
  text: string,
  { stopWords, quotedStops, stopsAfter = 0 }: Pick<EpisodeRules, 'stopWords' | 'quotedStops' | 'stopsAfter'>,
  messages = Infinity,
): boolean => messages > stopsAfter && (quotedStops ? stopWords.some((word) => text.includes(word)) : saysStop(text, stopWords));

/** The same for a message of the agent. */
export const endsByAgent = (
  text: string,
  { agentStopWords = [], stopsAfter = 0 }: Pick<EpisodeRules, 'agentStopWords' | 'stopsAfter'>,
  messages: number,
): boolean => messages > stopsAfter && agentStopWords.some((word) => text.includes(word));

/** Whether the user, the agent or a terminal tool ended the conversation. */
export const isProper = (termination: TerminationReason): boolean =>
  termination === 'user_stop' || termination === 'terminal_tool' || termination === 'agent_stop';
