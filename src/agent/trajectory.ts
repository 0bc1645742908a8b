/** @file Reads a trajectory in three forms: as the path of messages that the model saw, as arrays for training, and as chat messages. */
import type { ChatMessage, Conversation } from '../records/conversation.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { callsOf, path } from '../base/message-path.ts';
import { thoughtsOf, withoutEnd } from './tool-call.ts';

/**
 * The number of the agent's writes: tool calls that changed rows. A call that timed out may have changed rows too. In a conversation of
 * another tool: the calls without an error of the tools that the visitor named.
 */
export const writesOf = ({ foreign, ...trajectory }: Pick<Trajectory, 'nodes' | 'leaf' | 'foreign'>): number =>
  path(trajectory).filter(({ toolResult }) =>
    toolResult && foreign?.writes ? !toolResult.error && foreign.writes.includes(toolResult.name) : (toolResult?.changes.length ?? 0) > 0,
  ).length;

/** Whether it is known which calls wrote: the conversation is ours, its world was replayed, or the visitor named the tools. */
export const knowsWrites = ({ foreign, verdict }: Pick<Trajectory, 'foreign' | 'verdict'>): boolean =>
  !foreign || verdict !== null || foreign.writes !== undefined;

export interface FlatTrajectory {
  tokens: number[];
  /** 1 for sampled tokens, 0 for all others. */
  lossMask: number[];
  /** The sampler's log-probabilities, and 0 where the mask is 0. */
  logprobs: number[];
}

/** The tokens that the model saw and sampled, as three arrays of the same length. */
export function flatten(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>): FlatTrajectory {
  const flat: FlatTrajectory = { tokens: [], lossMask: [], logprobs: [] };
  for (const node of path(trajectory)) {
    for (let t = 0; t < node.tokens.length; t++) {
      flat.tokens.push(node.tokens[t]!);
      flat.lossMask.push(node.mask[t]!);
      flat.logprobs.push(node.logprobs[t] ?? 0);
    }
  }
  return flat;
}

/**
 * Stores numbers under `name` in the nodes of the path.
 * @param values one number for each token of the path, or null where it is unknown
 * @throws if the number of values differs from the number of tokens
 */
export function annotate(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>, name: string, values: ArrayLike<number | null>): void {
  const nodes = path(trajectory);
  const total = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  if (values.length !== total)
    throw new Error(`annotation ${name} has ${values.length} values: expected one for each of the ${total} tokens`);
  let from = 0;
  for (const node of nodes) {
    const own = Array.from({ length: node.tokens.length }, (_, t) => values[from + t] ?? null);
    from += own.length;
    if (own.some((value) => value !== null)) (node.annotations ??= {})[name] = own;
  }
}

/**
 * The conversation as OpenAI-style messages with its tools, for chat JSONL. If the markup of a turn could not be parsed, its
 * raw text is kept. The error that was sent back follows it as a tool message without a call id.
 */
export function toMessages(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>, tools?: readonly ToolSchema[]): Conversation {
  const messages: ChatMessage[] = [];
  let ids: string[] = [];
  for (const node of path(trajectory)) {
    if (node.role === 'template') continue;
    if (node.role === 'assistant') {
      const calls = callsOf(node);
      ids = calls.map((_, i) => node.callIds?.[i] ?? (calls.length > 1 ? `call_${node.id}_${i}` : `call_${node.id}`));
      const reasoning = node.thoughts ?? (node.parseError === undefined ? thoughtsOf(node.text) : '');
      const thoughts = reasoning === '' ? {} : { reasoning_content: reasoning };
      if (calls.length > 0) {
        messages.push({
          role: 'assistant',
          content: node.content ?? '',
          ...thoughts,
          tool_calls: calls.map(({ name, arguments: args }, i) => ({ id: ids[i]!, type: 'function', function: { name, arguments: args } })),
        });
      } else {
        messages.push({
          role: 'assistant',
          content: node.parseError ? withoutEnd(node.text) : (node.content ?? node.text),
          ...thoughts,
        });
      }
    } else if (node.role === 'tool') {
      const { toolResult } = node;
      const callId = ids.length > 1 ? ids.shift() : ids[0];
      messages.push({ role: 'tool', content: node.text, ...(toolResult && { name: toolResult.name, tool_call_id: callId! }) });
    } else {
      messages.push({ role: node.role, content: node.text });
    }
  }
  return tools ? { messages, tools: [...tools] } : { messages };
}
