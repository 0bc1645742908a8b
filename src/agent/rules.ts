/** @file What differs between benchmarks in how a conversation is held and ended. One machine plays them all: `episode.ts`. */
import type { Benchmark, Domain } from '../environments/types.ts';
import { GREETING } from '../users/prompt.ts';
import { STOP, TAU2_STOPS } from '../users/types.ts';
import type { TerminationReason } from './types.ts';

export interface EpisodeRules {
  /** What ends the conversation when the user says it. */
  stopWords: readonly string[];
  /** What a stop word in the user's first message does: a broken simulator, a proper end, or nothing. */
  openingStop: 'error' | 'ends' | 'ignored';
  /** Executing one ends the episode; default: those of the domain. */
  terminalTools: readonly string[];
  /** Whether one that failed ends it too. */
  failedToolEnds: boolean;
  /** A greeting that the agent's context begins with, not sampled; null: the user speaks first. */
  greeting: string | null;
  /** Tool executions and user replies; null: those of the limits. */
  maxTurns: number | null;
  /** Messages of agent, user and tools together, where each counts one. A pending call is still carried out. */
  maxSteps: number;
  /** Failed calls of agent and user. */
  maxErrors: number;
  /** Whether a call of a tool that does not exist is the environment's to refuse, in its own words. */
  passUnknownTools: boolean;
  /** Whether a turn with neither words nor call ends the episode as malformed. */
  emptyTurnEnds: boolean;
  /** Whether words beside a call count as said, where a task wants something said. */
  countsProse: boolean;
  /** Whether a conversation that neither user nor terminal tool ended earns nothing. */
  requireDone: boolean;
}

/** What ends an episode in MUA-RL and tau-bench. */
const TRANSFER_TOOL = 'transfer_to_human_agents';

const MUA: Omit<EpisodeRules, 'terminalTools'> = {
  stopWords: [STOP], openingStop: 'error', failedToolEnds: false, greeting: null, maxTurns: null, maxSteps: Infinity, maxErrors: Infinity,
  passUnknownTools: false, emptyTurnEnds: false, countsProse: false, requireDone: false,
};

const RULES: Record<Benchmark, Omit<EpisodeRules, 'terminalTools'>> = {
  // Thirty acts of the agent: each is followed by exactly one tool result or user reply.
  tau1: { ...MUA, openingStop: 'ignored', failedToolEnds: true, maxTurns: 30, passUnknownTools: true, requireDone: true },
  tau2: {
    ...MUA, stopWords: TAU2_STOPS, openingStop: 'ends', greeting: GREETING, maxTurns: Infinity, maxSteps: 200, maxErrors: 10,
    passUnknownTools: true, emptyTurnEnds: true, countsProse: true, requireDone: true,
  },
};

/** Whose rules a conversation is held by: its domain's, or MUA-RL's on whatever domain. */
export type ConversationRules = 'domain' | 'mua_rl';

/** As departures from the domain's own rules. */
export function departures(rules: ConversationRules): Partial<EpisodeRules> {
  return rules === 'mua_rl' ? { ...MUA, terminalTools: [TRANSFER_TOOL] } : {};
}

/** The rules of a domain: its benchmark's, or MUA-RL's. */
export function rulesOf({ benchmark, terminalTools }: Pick<Domain, 'benchmark' | 'terminalTools'>): EpisodeRules {
  return { ...(benchmark ? RULES[benchmark] : MUA), terminalTools };
}

/** tau2-bench's `termination_reason`. */
export type Tau2Ending = 'user_stop' | 'agent_stop' | 'max_steps' | 'too_many_errors' | 'agent_error' | 'user_error' | 'context_window_exceeded' | 'unexpected_error';

const ENDINGS: Record<TerminationReason, Tau2Ending> = {
  user_stop: 'user_stop', terminal_tool: 'agent_stop', max_turns: 'max_steps', turn_length: 'agent_error', malformed_call: 'agent_error',
  context_full: 'context_window_exceeded', user_error: 'user_error', aborted: 'unexpected_error',
};

/** An ending in tau2-bench's words. */
export function tau2Ending(termination: TerminationReason, tooManyErrors: boolean): Tau2Ending {
  return termination === 'max_turns' && tooManyErrors ? 'too_many_errors' : ENDINGS[termination];
}
