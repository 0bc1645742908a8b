/** @file Reads and writes datasets as JSONL. Each line is a conversation in TRL's chat format. `mua synthesize` writes such files. */
import { z } from 'zod';
import { readConversation } from '../agent/conversation.ts';
import { InputError, parserReason, shown } from '../base/input-error.ts';
import { PERSONAS } from '../records/conditions.ts';
import { type DatasetConversation, type DatasetConversationRow, STYLES } from '../records/dataset.ts';
import type { Violation } from '../records/task.ts';

class DatasetError extends InputError {
  override name = 'DatasetError';
}

const MAX_CONVERSATIONS = 50_000;
const RULES = ['not_authenticated', 'other_customer', 'unconfirmed_write'] as const satisfies Violation['rule'][];

const natural = z.int().min(0);
/** What a line says about its conversation, next to the messages. Unknown fields are dropped. */
const factsSchema = z.object({
  id: z.string().max(400).optional(),
  demonstrator: z.enum(STYLES).optional(),
  persona: z.enum(PERSONAS).optional(),
  intent: z.string().max(400).optional(),
  reward: z.number().min(0).max(1).optional(),
  writes: natural.optional(),
  unconfirmed_writes: natural.optional(),
  violations: z
    .array(z.object({ rule: z.enum(RULES), call: natural, detail: z.string().max(4000) }))
    .max(1000)
    .optional(),
});

/**
 * Reads JSONL. Empty lines are skipped. If a conversation has no id, its line number is its id.
 * @throws DatasetError or ConversationError that names the line, the field, its value and what was expected
 */
export function readDataset(text: string): DatasetConversation[] {
  const conversations = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [readLine(line, i + 1)]));
  if (conversations.length === 0) throw new DatasetError('the file has no conversation: expected one JSON object with "messages" a line');
  if (conversations.length > MAX_CONVERSATIONS)
    throw new DatasetError(`the file has ${conversations.length} conversations: expected at most ${MAX_CONVERSATIONS}`);
  return conversations;
}

function readLine(line: string, number: number): DatasetConversation {
  const where = `line ${number}`;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new DatasetError(`${where} is not JSON: ${parserReason(error)}`);
  }
  const conversation = readConversation(value, where);
  if (!conversation.messages.some(({ role }) => role === 'assistant'))
    throw new DatasetError(`${where}: messages has no message of role "assistant": expected one to train on`);
  const facts = factsSchema.safeParse(value);
  if (!facts.success) {
    const { path, message } = facts.error.issues[0]!;
    const found = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
    throw new DatasetError(`${where}: ${path.join('.')} is ${shown(found)}: ${message}`);
  }
  const known = Object.fromEntries(Object.entries(facts.data).filter(([, fact]) => fact !== undefined));
  return { id: where, ...known, ...conversation };
}

/** Writes the conversations that are not rejected, as JSONL. */
export function writeDataset(rows: readonly DatasetConversationRow[]): string {
  return rows
    .filter(({ rejected }) => !rejected)
    .map(({ dataset: _, index: __, ...conversation }) => `${JSON.stringify(conversation)}\n`)
    .join('');
}
