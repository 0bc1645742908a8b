/** @file The conversation rules of BFCL Multi Turn, and how a turn of the agent is read. */
import type { ConversationRuleSet } from '../../agent/rules.ts';
import { type ParsedTurn, spoken } from '../../agent/tool-call.ts';
import type { ToolCall } from '../../records/task.ts';
import { STOP } from '../../users/types.ts';
import { qwenCalls, splitThoughts, toolsCalls } from './decode.ts';
import { exactCall } from './task.ts';

/** Upstream's limit on the executed steps of a turn. */
export const STEPS = 20;

/** Reads native calls as BFCL's handler for OpenAI's interface does. A message with a call that cannot be decoded has no calls. */
function readCalls(calls: readonly { name: string; arguments: string }[]): Omit<ParsedTurn, 'content'> {
  try {
    return { calls: toolsCalls(calls).map(({ name, args }) => exactCall(name, args)) };
  } catch {
    return { calls: [] };
  }
}

/** Reads a turn as BFCL's handler for Qwen does. A turn that cannot be decoded has no calls, so the user speaks next. */
function readTurn(text: string): ParsedTurn {
  const { text: said } = splitThoughts(text);
  let calls: ToolCall[];
  try {
    calls = qwenCalls(said).map(({ name, args }) => exactCall(name, args));
  } catch {
    return { content: spoken(text), calls: [] };
  }
  const before = said.indexOf('<tool_call>');
  return { content: spoken(calls.length > 0 ? said.slice(0, before) : text), calls };
}

export const BFCL_RULES: ConversationRuleSet = {
  stopWords: [STOP],
  quotedStops: true,
  openingStop: 'ignored',
  failedToolEnds: false,
  greeting: null,
  maxTurns: Infinity,
  maxSteps: Infinity,
  maxErrors: Infinity,
  callsPerTurn: Infinity,
  callTurns: STEPS,
  readTurn,
  readCalls,
  passUnknownTools: true,
  emptyTurnEnds: false,
  countsProse: false,
  // A forced end in the last turn is judged like any other.
  requireDone: false,
  customerPrompt: (instruction) => instruction,
};
