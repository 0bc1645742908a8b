/** @file tau2-bench's rules of conversation. */
import type { ConversationRuleSet } from '../../agent/rules.ts';
import type { Tau2Ending, TerminationReason } from '../../records/trajectory.ts';
import { GREETING } from '../../users/prompt.ts';
import { TAU2_STOPS } from '../../users/types.ts';

export const TAU2_RULES: ConversationRuleSet = {
  stopWords: TAU2_STOPS,
  quotedStops: true,
  openingStop: 'ends',
  failedToolEnds: false,
  greeting: GREETING,
  maxTurns: Infinity,
  maxSteps: 200,
  maxErrors: 10,
  passUnknownTools: true,
  emptyTurnEnds: true,
  countsProse: true,
  requireDone: true,
  ending: tau2Ending,
};

const ENDINGS: Record<TerminationReason, Tau2Ending> = {
  user_stop: 'user_stop',
  terminal_tool: 'agent_stop',
  max_turns: 'max_steps',
  turn_length: 'agent_error',
  malformed_call: 'agent_error',
  context_full: 'context_window_exceeded',
  user_error: 'user_error',
  aborted: 'unexpected_error',
  unknown: 'unexpected_error',
};

/** tau2-bench's `termination_reason`. */
export function tau2Ending(termination: TerminationReason, tooManyErrors: boolean): Tau2Ending {
  return termination === 'max_turns' && tooManyErrors ? 'too_many_errors' : ENDINGS[termination];
}
