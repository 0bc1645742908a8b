/** @file Describes a conversation as moves: for each turn of the agent, one word for its act and one line of text. */
import { TERMINATION_LABELS, brokenCalls } from '../../labels/labels.ts';
import { callsOf, path } from '../../../base/message-path.ts';
import type { ForeignFacts } from '../../../records/foreign.ts';
import type { MessageNode, Trajectory } from '../../../records/trajectory.ts';
import { canonicalJson } from '../../../base/json.ts';

export const ACTS = ['ask', 'call', 'look-up', 'write', 'confirm', 'answer', 'stop', 'error'] as const;
export type Act = (typeof ACTS)[number];

export const ACT_MEANINGS: Record<Act, string> = {
  ask: 'asks the customer for something',
  call: 'a tool call; the file of another tool does not say whether it changed rows',
  'look-up': 'a tool call that changed no rows',
  write: 'a tool call that changed rows',
  confirm: 'asks for a yes before a write',
  answer: 'a message without a question',
  stop: 'a proper end of the conversation',
  error: 'a failed or malformed call, or an end because of a limit',
};

export interface Turn {
  /** The id of the message to open. */
  node: number;
  act: Act;
  /** The name of the tool, or why the conversation ended; '' for a message without a call. */
  label: string;
  /** A key to compare moves. Moves with the same act are equal; calls need the same tool and arguments too. The wording does not count. */
  move: string;
  /** The rules that the call of this turn broke. */
  broken: readonly string[];
  /** The agent's message and the answers before the agent's next message. Empty for an end without a message. */
  nodes: MessageNode[];
}

export interface Turns {
  /** The messages before the agent's first turn. */
  opening: MessageNode[];
  turns: Turn[];
}

/** @throws if the graph is broken */
export function turnsOf(
  trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'termination' | 'violations' | 'foreign'> & Partial<Pick<Trajectory, 'verdict'>>,
): Turns {
  const { termination } = trajectory;
  const broken = brokenCalls(trajectory.violations);
  const messages = path(trajectory).filter(({ role }) => role !== 'template');
  const opening: MessageNode[] = [];
  const parts: MessageNode[][] = [];
  for (const node of messages) {
    if (node.role === 'assistant') parts.push([node]);
    else (parts.at(-1) ?? opening).push(node);
  }
  let ended = false;
  const turns = parts.map((nodes, i): Turn => {
    const ending = i === parts.length - 1 ? endingOf(nodes, termination) : null;
    ended ||= ending !== null;
    const [node] = nodes as [MessageNode];
    const { act, label } = ending ?? actOf(nodes, trajectory.verdict ? undefined : trajectory.foreign);
    const calls = callsOf(node).map(({ name, arguments: args }) => `${name} ${canonicalJson(args)}`);
    return {
      node: node.id,
      act,
      label,
      move: `${act} ${calls.length > 0 ? calls.join(' ') : label}`,
      broken: nodes.flatMap(({ toolResult }) => (toolResult && broken.get(toolResult.index)) ?? []),
      nodes,
    };
  });
  // Files of other tools often do not say how a conversation ended.
  if (!ended && termination !== 'unknown') {
    const act = ['user_stop', 'terminal_tool', 'agent_stop'].includes(termination) ? 'stop' : 'error';
    turns.push({
      node: messages.at(-1)?.id ?? trajectory.leaf,
      act,
      label: TERMINATION_LABELS[termination],
      move: `${act} ${termination}`,
      broken: [],
      nodes: [],
    });
  }
  return { opening, turns };
}

/** The act and the label of the last turn if it ends the conversation by a transfer to a human or a message that was cut off; else null. */
function endingOf(nodes: readonly MessageNode[], termination: Trajectory['termination']): Pick<Turn, 'act' | 'label'> | null {
  const { toolCall } = nodes[0]!;
  if (termination === 'terminal_tool' && toolCall) return { act: 'stop', label: toolCall.name };
  const cut = nodes.length === 1 && (termination === 'turn_length' || termination === 'context_full' || termination === 'malformed_call');
  return cut ? { act: 'error', label: TERMINATION_LABELS[termination] } : null;
}

function actOf([node, ...back]: readonly MessageNode[], foreign: ForeignFacts | undefined): Pick<Turn, 'act' | 'label'> {
  const { toolCall, parseError } = node!;
  if (parseError !== undefined) return { act: 'error', label: TERMINATION_LABELS.malformed_call };
  if (toolCall) {
    const result = back.find(({ toolResult }) => toolResult)?.toolResult;
    const writes = foreign ? foreign.writes?.includes(toolCall.name) : (result?.changes.length ?? 0) > 0;
    return { act: result?.error ? 'error' : writes === undefined ? 'call' : writes ? 'write' : 'look-up', label: toolCall.name };
  }
  const said = (node!.content ?? node!.text).trim();
  return said === '' ? { act: 'error', label: 'said nothing' } : { act: speechAct(said), label: '' };
}

/** Matches offers of more help at the end of an answer. They do not count as questions. */
const COURTESY = /[^.!?]*\b(anything else|something else|(can|may) i (help|assist)|(be of|further) (help|assistance))\b[^.!?]*\?/g;
const CONFIRM =
  /\byes or no\b|\byes\/no\b|\breply (with )?yes\b|\bconfirm\b(?! your\b)|\b(shall|should) i\b|\bmay i (add|cancel|change|exchange|modify|proceed|refund|return|update)\b|\b(want|like) me to\b|\bproceed\b|\bgo ahead\b|\bis (that|this|everything|it) (right|correct|ok|okay)\b/;
const REQUEST =
  /\bplease (provide|tell|share|give|send|let me know|enter|state|confirm|verify|reply)\b|\b(i need|i will need|i'll need) your\b/;

/** Classifies a message of the agent by its words: does it ask for a confirmation, ask for something else, or only answer? */
export function speechAct(text: string): 'ask' | 'confirm' | 'answer' {
  const said = text.toLowerCase().replaceAll('’', "'").replace(COURTESY, '');
  if (!said.includes('?') && !REQUEST.test(said)) return 'answer';
  return CONFIRM.test(said) ? 'confirm' : 'ask';
}
