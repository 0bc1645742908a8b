/** @file Reading chat JSONL: one conversation a line, OpenAI-style messages (TRL's conversational format). */
import { z } from 'zod';

const toolCall = z.object({ function: z.object({ name: z.string(), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }) });
const message = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string().nullish().transform((text) => text ?? ''),
  tool_calls: z.array(toolCall).nullish(),
  name: z.string().nullish(),
});
const conversation = z.object({ messages: z.array(message).min(2), tools: z.array(z.unknown()).nullish() });

export type ParsedConversation = z.infer<typeof conversation>;

/**
 * Reads JSONL, or one JSON array; an entry may also hold its messages under `traj`, as tau-bench's results do.
 * @throws Error naming the line (or entry), the field and what was expected
 */
export function parseConversations(text: string): ParsedConversation[] {
  const entries = text.trimStart().startsWith('[') ? arrayEntries(text) : lineEntries(text);
  if (entries.length === 0) throw new Error('the file holds no conversation: expected one JSON object with "messages" a line');
  return entries.map(({ where, value }) => {
    const result = conversation.safeParse(withMessages(value));
    if (result.success) return result.data;
    const issue = result.error.issues[0]!;
    throw new Error(`${where}, field "${issue.path.join('.')}": ${issue.message}`);
  });
}

interface Entry {
  where: string;
  value: unknown;
}

function arrayEntries(text: string): Entry[] {
  const values = parseJson(text, 'the file') as unknown[];
  return values.map((value, i) => ({ where: `entry ${i + 1}`, value }));
}

function lineEntries(text: string): Entry[] {
  const lines = text.split('\n').map((line, i) => ({ line, where: `line ${i + 1}` }));
  return lines.filter(({ line }) => line.trim() !== '').map(({ line, where }) => ({ where, value: parseJson(line, where) }));
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${where} is not JSON: ${(error as Error).message}`);
  }
}

function withMessages(value: unknown): unknown {
  const { messages, traj } = (value ?? {}) as { messages?: unknown; traj?: unknown };
  return messages === undefined && traj !== undefined ? { ...(value as object), messages: traj } : value;
}
