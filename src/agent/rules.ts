/**
 * @file How a conversation starts, goes on and ends. One machine (`episode.ts`) plays all conversations. The rules are passed
 * in. The rules of a benchmark are in its folder under `src/benchmarks`.
 */
import type { TerminationReason } from '../records/trajectory.ts';
import { customerPrompt } from '../users/prompt.ts';
import { saysStop } from '../users/stop.ts';
import { STOP } from '../users/types.ts';

export interface EpisodeRules {
  /** Words of the user that end the conversation. */
  stopWords: readonly string[];
  /** A stop word inside quotation marks ends the conversation too, as in the code of the benchmarks. */
  quotedStops: boolean;
  /** A stop word in the user's first message is an error of the simulator, ends the episode, or is ignored. */
  openingStop: 'error' | 'ends' | 'ignored';
  /** Tools whose successful call ends the episode. */
  terminalTools: readonly string[];
  /** A failed call of a terminal tool ends the episode too. */
  failedToolEnds: boolean;
  /** The agent's first message, which is not sampled. Null if the user speaks first. */
  greeting: string | null;
  /** Limit of tool results and user replies. Null means `EpisodeLimits.max_turns`. */
  maxTurns: number | null;
  /** Limit of messages: each message of agent, user and tools counts 1. The agent's last tool call still runs. */
  maxSteps: number;
  /** Limit of failed tool calls of agent and user. */
  maxErrors: number;
  /** Most tool calls of one turn of the agent. If 1, sampling stops at the end of the first call. */
  callsPerTurn: number;
  /** The environment answers a call of an unknown tool. If false, such a call is malformed. */
  passUnknownTools: boolean;
  /** A turn with neither text nor call ends the episode as malformed. */
  emptyTurnEnds: boolean;
  /** Text beside a tool call counts as said, for tasks that require the agent to say something. */
  countsProse: boolean;
  /** The reward is 0 unless the user or a terminal tool ended the episode. */
  requireDone: boolean;
  /** The system prompt of a language model that plays the customer. `hasTools`: the customer has tools of their own. */
  customerPrompt: (instruction: string, hasTools: boolean) => string;
  /** The ending in the words of the benchmark. The trajectory stores it as `ending`. */
  ending?: (termination: TerminationReason, tooManyErrors: boolean) => string;
}

/** The rules without the terminal tools, which depend on the domain. */
export type ConversationRuleSet = Omit<EpisodeRules, 'terminalTools'>;

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

/** Whether a message of the user ends the conversation under these rules. */
export const endsByUser = (text: string, { stopWords, quotedStops }: Pick<EpisodeRules, 'stopWords' | 'quotedStops'>): boolean =>
  quotedStops ? stopWords.some((word) => text.includes(word)) : saysStop(text, stopWords);

/** Whether the user or a terminal tool ended the conversation. */
export const isProper = (termination: TerminationReason): boolean => termination === 'user_stop' || termination === 'terminal_tool';
