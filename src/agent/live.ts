/** @file What a viewer sees of an episode while it is played. The viewer only reads the episode and changes nothing. */
import type { ToolCall } from '../records/task.ts';
import type { MessageNode, UserCall } from '../records/trajectory.ts';
import { callsOf } from '../base/message-path.ts';
import { TOOL_CALL_START } from './chat-template.ts';
import { spoken, withoutThoughts } from './tool-call.ts';

/** Something that the agent or the customer said or did. */
export interface LiveAct {
  /** Stays the same while more of the act is sampled. */
  id: string;
  by: 'agent' | 'customer';
  text: string;
  call?: ToolCall;
  /** Present if the call was answered: whether the call failed, and how many rows it wrote. */
  result?: { error: boolean; wrote: number };
  /** The reason why the markup of the call could not be read. */
  problem?: string;
  /** Present while the act is being sampled. For a tool call, `markup` is the part that is sampled so far. */
  open?: { markup: string };
}

/** What can be seen of an episode, from its start to its end. */
export interface LiveEpisode {
  readonly group: string;
  readonly index: number;
  /** Grows with every token and every call. While it is unchanged, the acts are unchanged. */
  readonly size: number;
  /** Returns the last `last` acts. The first `from` messages are skipped (default 0). */
  acts(last: number, from?: number): LiveAct[];
}

/** An episode that is played here or by another engine, with its messages. */
export interface PlayedEpisode extends LiveEpisode {
  /** All messages so far. The system message comes first. */
  readonly nodes: readonly MessageNode[];
  readonly userCalls: readonly UserCall[];
  /** The number of tool results and user replies so far. */
  readonly turns: number;
}

/** An upper bound on the mean number of messages in an act: two of the template, the turn, and the tool's answer. */
const MESSAGES_PER_ACT = 4;

/**
 * The last acts of a conversation. `sampled` is the text that is sampled so far in the agent's current turn; empty between
 * turns. The first `from` messages are skipped.
 */
export function liveActs(
  nodes: readonly MessageNode[],
  userCalls: readonly UserCall[],
  sampled: string,
  last: number,
  from = 0,
): LiveAct[] {
  const acts: LiveAct[] = [];
  let unanswered: LiveAct[] = [];
  let start = Math.max(from, nodes.length - MESSAGES_PER_ACT * last);
  // To show the results of a turn with several calls, the turn itself is also needed.
  while (start > from && (nodes[start]?.role === 'tool' || nodes[start]?.role === 'template')) start -= 1;
  for (const node of nodes.slice(start)) {
    const { id, role, text, content, toolResult, parseError } = node;
    if (role === 'user') acts.push({ id: `${id}`, by: 'customer', text });
    if (role === 'assistant') {
      const [call, ...more] = callsOf(node);
      const turn: LiveAct = { id: `${id}`, by: 'agent', text: content ?? spoken(text), ...(call && { call }) };
      if (parseError !== undefined) turn.problem = parseError;
      unanswered = [turn, ...more.map((other, i): LiveAct => ({ id: `${id} call ${i + 1}`, by: 'agent', text: '', call: other }))];
      acts.push(...unanswered);
    }
    const asking = toolResult && unanswered.shift();
    if (asking?.call) asking.result = { error: toolResult!.error, wrote: toolResult!.changes.length };
    for (const [i, { call, error, changes }] of userCalls.filter(({ after }) => after === id).entries())
      acts.push({ id: `${id} call ${i}`, by: 'customer', text: '', call, result: { error, wrote: changes.length } });
  }
  if (sampled !== '') acts.push(openAct(nodes.length, sampled));
  return acts.slice(-last);
}

function openAct(id: number, sampled: string): LiveAct {
  // The last token can end in the middle of a character.
  const text = withoutThoughts(sampled.replace(/\uFFFD+$/, ''));
  const start = text.indexOf(TOOL_CALL_START);
  const [said, markup] = start < 0 ? [text, ''] : [text.slice(0, start), text.slice(start + TOOL_CALL_START.length).trim()];
  return { id: `${id}`, by: 'agent', text: spoken(said), open: { markup } };
}
