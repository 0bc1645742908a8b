/** @file The conversation rules of BFCL Multi Turn, and how a turn of the agent is read. */
import type { ConversationRuleSet } from '../../agent/rules.ts';
import { type ParsedTurn, spoken } from '../../agent/tool-call.ts';
import { IMPORTED_LEVEL } from '../../domains/registry.ts';
import type { Task, ToolCall } from '../../records/task.ts';
import { STOP } from '../../users/types.ts';
import { qwenCalls, splitThoughts, toolsCalls } from './decode.ts';
import { exactCall } from '../../domains/multiturn/tool-call.ts';

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

/** A call with or without the line breaks that the original expects. */
const BLOCK = /<tool_call>\s*([^]*?)\s*<\/tool_call>/g;

/**
 * Reads a turn as BFCL's handler for Qwen does. A turn that cannot be decoded has no calls, so the user speaks next. In the compact form, a
 * call needs no line breaks, because the formats of some models have none.
 */
function readTurn(text: string, { level }: Pick<Task, 'level'>): ParsedTurn {
  const { text: own } = splitThoughts(text);
  const said = level === IMPORTED_LEVEL ? own : own.replace(BLOCK, '<tool_call>\n$1\n</tool_call>');
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
