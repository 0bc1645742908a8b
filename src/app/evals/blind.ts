/** @file A conversation as a person labels it: only what was said and called. */
import type { MessageNode, Trajectory } from '../../records/trajectory.ts';

/** The messages without tokens, thoughts and marks of who wrote them. Nothing of a reward, a verdict or a model is left. */
export const blindNodes = ({ nodes }: Pick<Trajectory, 'nodes'>): MessageNode[] =>
  nodes.map(({ id, parent, role, text, content, toolCall, toolCalls, toolResult, parseError }) => ({
    id,
    parent,
    role,
    text,
    ...(content !== undefined && { content }),
    ...(toolCall && { toolCall }),
    ...(toolCalls && { toolCalls }),
    ...(toolResult && { toolResult }),
    ...(parseError !== undefined && { parseError }),
    tokens: [],
    mask: [],
    logprobs: [],
  }));
