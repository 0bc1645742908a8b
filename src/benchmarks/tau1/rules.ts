/** @file The conversation rules of tau-bench. */
import type { ConversationRuleSet } from '../../agent/rules.ts';
import { customerPrompt } from '../../users/prompt.ts';
import { STOP } from '../../users/types.ts';

export const TAU1_RULES: ConversationRuleSet = {
  stopWords: [STOP],
  quotedStops: true,
  openingStop: 'ignored',
  failedToolEnds: true,
  greeting: null,
  // In tau-bench the agent acts at most 30 times. This is the same limit, because exactly one tool result or user reply follows
  // each act.
  maxTurns: 30,
  maxSteps: Infinity,
  maxErrors: Infinity,
  callsPerTurn: 1,
  passUnknownTools: true,
  emptyTurnEnds: false,
  countsProse: false,
  requireDone: true,
  customerPrompt,
};
