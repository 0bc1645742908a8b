/** @file The conversation rules of ACEBench Agent, and how a turn of the agent is read. */
import type { ConversationRuleSet } from '../../agent/rules.ts';
import { type ParsedTurn, parseTurn, withoutEnd, withoutThoughts } from '../../agent/tool-call.ts';
import { loads } from '../../python/json.ts';
import { Dict } from '../../python/values.ts';
import type { Task, ToolCall } from '../../records/task.ts';
import { qwenBlocks, toolsCalls } from '../bfcl/decode.ts';
import { isForExecution, isReadable } from './decode.ts';
import { FINISH, MOST_MESSAGES } from './inference.ts';
import { type AceTask, exactCall, messageCalls, messageOf } from './task.ts';

/** The calls with the message that upstream's models would write for them. */
function written(calls: readonly { name: string; args: Dict }[]): ToolCall[] {
  const message = messageOf([...calls]);
  return calls.map(({ name, args }, i) => ({ ...exactCall(name, args), message: i === 0 ? message : '' }));
}

/** Reads native calls, which upstream does not know, like the markup of the playground's template. */
function readCalls(calls: readonly { name: string; arguments: string }[]): Omit<ParsedTurn, 'content'> {
  try {
    return { calls: written(toolsCalls(calls)) };
  } catch {
    return { calls: [], error: 'the tool call\'s "arguments" is not a JSON object' };
  }
}

/**
 * Reads a turn as upstream does: calls of Python in brackets. The markup of the playground's template is read too, and is written as
 * upstream's models would write it.
 */
function readTurn(text: string, { benchmark }: Task): ParsedTurn {
  const marked = parseTurn(text, null, Infinity);
  if (marked.error !== undefined) return marked;
  if (marked.calls.length > 0) {
    const exact = qwenBlocks(withoutThoughts(text));
    const calls = marked.calls.map(({ name, arguments: args }, i) => {
      // JSON.parse makes 1 of 1.0, which an order refuses.
      const own = exact.length === marked.calls.length && exact[i] instanceof Dict ? exact[i].get('arguments') : undefined;
      return { name, args: own instanceof Dict ? own : (loads(JSON.stringify(args)) as Dict) };
    });
    return { ...marked, calls: written(calls) };
  }
  const own = withoutThoughts(text);
  // White space counts: upstream cannot decode a space after the last bracket.
  const said = withoutEnd(own === text ? own : own.trimStart());
  const executes = (benchmark as AceTask).kind === 'multi_step' ? isReadable(said) : isForExecution(said);
  const calls = executes ? messageCalls(said) : [];
  return { content: calls.length > 0 ? '' : said, calls };
}

export const ACE_RULES: ConversationRuleSet = {
  stopWords: [FINISH],
  quotedStops: true,
  agentStopWords: [FINISH],
  // Upstream looks for the words from the third message after the opening on.
  stopsAfter: 3,
  openingStop: 'ignored',
  failedToolEnds: false,
  greeting: null,
  maxTurns: Infinity,
  maxSteps: MOST_MESSAGES + 1,
  maxErrors: Infinity,
  callsPerTurn: Infinity,
  readTurn,
  readCalls,
  passUnknownTools: true,
  emptyTurnEnds: false,
  countsProse: false,
  requireDone: false,
  customerPrompt: (instruction) => instruction,
};
