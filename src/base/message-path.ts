/** @file Lists the messages of a trajectory in order, and finds the call that each tool result answers. */
import type { ToolCall } from '../records/task.ts';
import type { MessageNode, Trajectory } from '../records/trajectory.ts';

/** The nodes from the root to the leaf. @throws if a node is missing or is its own ancestor */
export function path({ nodes, leaf }: Pick<Trajectory, 'nodes' | 'leaf'>): MessageNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found: MessageNode[] = [];
  for (let id: number | null = leaf; id !== null;) {
    const node = byId.get(id);
    if (!node) throw new Error(`trajectory node ${id} is missing: expected every parent of leaf ${leaf} among its nodes`);
    if (found.length > nodes.length) throw new Error(`trajectory node ${id} is its own ancestor`);
    found.push(node);
    id = node.parent;
  }
  return found.reverse();
}

/**
 * The number that the page shows for each message of a path, by the message's id. The system prompt is 0. The messages of the chat
 * template have no number.
 */
export function messageNumbers(nodes: readonly MessageNode[]): Map<number, number> {
  const messages = nodes.filter(({ role }) => role !== 'template');
  const first = messages[0]?.role === 'system' ? 0 : 1;
  return new Map(messages.map(({ id }, i) => [id, first + i]));
}

/** The tool calls of a message, in order. */
export const callsOf = ({ toolCall, toolCalls }: Pick<MessageNode, 'toolCall' | 'toolCalls'>): readonly ToolCall[] =>
  toolCalls ?? (toolCall ? [toolCall] : []);

/** The fields of a message with these calls. */
export const callFields = (calls: readonly ToolCall[]): Pick<MessageNode, 'toolCall' | 'toolCalls'> => ({
  ...(calls[0] && { toolCall: calls[0] }),
  ...(calls.length > 1 && { toolCalls: [...calls] }),
});

export interface Answer {
  call: ToolCall;
  /** The id of the message with the call. */
  asked: number;
  result: NonNullable<MessageNode['toolResult']>;
  text: string;
}

/** The answered calls of a path: id of the message with the result → call and result. A turn's results are in the order of its calls. */
export function answersOf(nodes: readonly MessageNode[]): Map<number, Answer> {
  const answers = new Map<number, Answer>();
  let calls: ToolCall[] = [];
  let asked = 0;
  for (const node of nodes) {
    const { id, role, text, toolResult: result } = node;
    if (role === 'assistant') {
      calls = [...callsOf(node)];
      asked = id;
    }
    const call = result && (calls.length > 1 ? calls.shift() : calls[0]);
    if (call) answers.set(id, { call, asked, result, text });
  }
  return answers;
}
