/** @file Reads datasets, such as `mua synthesize` writes them, and gives their rows to write. */
import { z } from 'zod';
import { isNearMiss, type Note, readConversation, readEachRow } from '../agent/conversation.ts';
import { InputError, shown } from '../base/input-error.ts';
import type { JsonRow } from '../base/json-rows.ts';
import { PERSONAS } from '../records/conditions.ts';
import { type DatasetConversation, type DatasetConversationRow, STYLES } from '../records/dataset.ts';
import { NEAR_MISSES } from '../records/scenario.ts';
import type { Violation } from '../records/task.ts';
import { gradesSchema, nearMissSchema } from '../synthesis/grades-schema.ts';

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
  grades: gradesSchema.optional(),
});

/** Conversations, and notes on rows and columns that were left out. */
export interface ReadDataset {
  conversations: DatasetConversation[];
  notes: string[];
}

/** As `readDataset`, with its notes. */
export function readNotedDataset(file: Parameters<typeof readDataset>[0]): ReadDataset {
  const notes: string[] = [];
  return { conversations: readDataset(file, (line) => notes.push(line)), notes };
}

/**
 * Reads the rows of a file, or a text with JSONL or one JSON list. If a conversation has no id, its place in the file is its id. Rows that
 * cannot be read are left out: `note` counts them.
 * @throws DatasetError or ConversationError with the reasons if no row can be read
 */
export function readDataset(file: string | readonly JsonRow[], note: Note = () => {}): DatasetConversation[] {
  const conversations = readEachRow(file, readRow, note);
  if (conversations.length > MAX_CONVERSATIONS)
    throw new DatasetError(`the file has ${conversations.length} conversations: expected at most ${MAX_CONVERSATIONS}`);
  return conversations;
}

function readRow(value: unknown, where: string, note: Note): DatasetConversation {
  const conversation = readConversation(value, where, { note });
  if (!conversation.messages.some(({ role }) => role === 'assistant'))
    throw new DatasetError(`${where}: messages has no message of role "assistant": expected one to train on`);
  return {
    id: where,
    ...factsOf(value as Record<string, unknown>, note),
    ...nearMissOf(value as Record<string, unknown>, where),
    ...conversation,
  };
}

/** The label of a near-miss. A label that cannot be read makes the row unreadable, because training must not take it for a success. */
function nearMissOf(row: Record<string, unknown>, where: string): Pick<DatasetConversation, 'near_miss'> {
  if (!isNearMiss(row)) return {};
  const label = nearMissSchema.safeParse(row.near_miss);
  if (label.success) return { near_miss: label.data };
  throw new DatasetError(
    `${where}: near_miss is ${shown(row.near_miss)}: expected kind (one of ${NEAR_MISSES.join(', ')}), first_wrong (the index of a message) and of (an id)`,
  );
}

/** The facts that the row has. Columns of the same name with another meaning are left out, and noted. */
function factsOf(row: Record<string, unknown>, note: Note): Partial<DatasetConversation> {
  const facts: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(factsSchema.shape)) {
    const value = row[name];
    if (value === undefined || value === null || Number.isNaN(value)) continue;
    const own = typeof value === 'boolean' && name === 'reward' ? Number(value) : name === 'id' && isNumber(value) ? String(value) : value;
    const fact = schema.safeParse(own);
    if (fact.success) facts[name] = fact.data;
    else note(`column ${name} has another form and is left out`);
  }
  return facts;
}

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint';

/** The rows of the conversations that are not rejected. */
export const keptRows = (rows: readonly DatasetConversationRow[]): JsonRow[] =>
  rows.filter(({ rejected }) => !rejected).map(({ dataset: _, index, ...value }) => ({ where: `conversation ${index + 1}`, value }));
