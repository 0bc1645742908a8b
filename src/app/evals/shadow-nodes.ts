/** @file The messages of a shadow as nodes, which the page shows like those of any conversation. */
import { callFields } from '../../base/message-path.ts';
import type { ShadowAct, ShadowConversation, ShadowTurn } from '../../records/shadow.ts';
import type { MessageNode } from '../../records/trajectory.ts';

const node = (id: number, role: MessageNode['role'], text: string, more: Partial<MessageNode> = {}): MessageNode => ({
  id,
  parent: id === 0 ? null : id - 1,
  role,
  text,
  ...more,
  tokens: [],
  mask: [],
  logprobs: [],
});

/** What both agents had heard before the turn. */
export const heardNodes = ({ messages }: ShadowConversation, turn: Pick<ShadowTurn, 'message'>): MessageNode[] =>
  messages
    .filter(({ message }) => message < turn.message)
    .map(({ role, text, calls = [], tool = '', failed = false }, id) =>
      node(id, role, text, {
        ...(role === 'assistant' && { content: text, ...callFields(calls) }),
        ...(role === 'tool' && { toolResult: { name: tool, error: failed, index: id, changes: [], ms: 0 } }),
      }),
    );

/** One turn of an agent. */
export const actNode = ({ content, calls, error }: ShadowAct): MessageNode =>
  node(0, 'assistant', content, { content, ...callFields(calls), ...(error !== undefined && { parseError: error }) });
