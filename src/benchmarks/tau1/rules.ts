/** @file tau-bench's rules of conversation. */
import type { ConversationRuleSet } from '../../agent/rules.ts';
import { customerPrompt } from '../../users/prompt.ts';
import { STOP } from '../../users/types.ts';

export const TAU1_RULES: ConversationRuleSet = {
  stopWords: [STOP],
  quotedStops: true,
  openingStop: 'ignored',
  failedToolEnds: true,
  greeting: null,
  // The agent acts at most 30 times. Exactly one tool result or user reply follows each act.
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
