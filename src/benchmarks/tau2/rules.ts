/** @file The conversation rules of tau2-bench. */
import type { ConversationRuleSet } from '../../agent/rules.ts';
import type { TerminationReason } from '../../records/trajectory.ts';
import { GREETING } from '../../users/prompt.ts';
import { OUT_OF_SCOPE, STOP, TRANSFER } from '../../users/types.ts';
import { tau2Prompt } from './user-prompt.ts';

export const TAU2_RULES: ConversationRuleSet = {
  stopWords: [STOP, TRANSFER, OUT_OF_SCOPE],
  quotedStops: true,
  openingStop: 'ends',
  failedToolEnds: false,
  greeting: GREETING,
  maxTurns: Infinity,
  maxSteps: 200,
  maxErrors: 10,
  callsPerTurn: 1,
  callsPerMessage: Infinity,
  passUnknownTools: true,
  emptyTurnEnds: true,
  countsProse: true,
  requireDone: true,
  customerPrompt: tau2Prompt,
  ending: tau2Ending,
};

/** The values of tau2-bench's `termination_reason`. */
const TAU2_ENDINGS = [
  'user_stop',
  'agent_stop',
  'max_steps',
  'too_many_errors',
  'agent_error',
  'user_error',
  'context_window_exceeded',
  'unexpected_error',
] as const;
export type Tau2Ending = (typeof TAU2_ENDINGS)[number];

export const isTau2Ending = (ending: string | undefined): ending is Tau2Ending =>
  (TAU2_ENDINGS as readonly (string | undefined)[]).includes(ending);

const ENDINGS: Record<TerminationReason, Tau2Ending> = {
  user_stop: 'user_stop',
  terminal_tool: 'agent_stop',
  agent_stop: 'agent_stop',
  max_turns: 'max_steps',
  turn_length: 'agent_error',
  malformed_call: 'agent_error',
  context_full: 'context_window_exceeded',
  user_error: 'user_error',
  // `agent_error` of tau2-bench means that the agent's message is malformed.
  agent_error: 'unexpected_error',
  tool_error: 'unexpected_error',
  aborted: 'unexpected_error',
  unknown: 'unexpected_error',
};

export function tau2Ending(termination: TerminationReason, tooManyErrors: boolean): Tau2Ending {
  return termination === 'max_turns' && tooManyErrors ? 'too_many_errors' : ENDINGS[termination];
}
