/** @file How much the conversations of a set differ from each other. */
import { recordedEvents } from '../agent/recorded-events.ts';
import type { ChatMessage } from '../records/conversation.ts';
import { nearDuplicates } from './near-duplicates.ts';
import { recordedMessage } from './recorded-message.ts';
import type { GradedRow } from './types.ts';
import { eachRun, masked, runsOf, wordsOf } from '../base/words.ts';

export interface Diversity {
  rows: number;
  /** Different first messages of the customer, with names and numbers masked. */
  openers: number;
  /** Different texts of the agent, masked. */
  agent_texts: number;
  /** Different sequences of called tools, and the entropy of their distribution in bits. */
  sequences: number;
  sequence_entropy: number;
  /** The share of different runs of three words among all, by speaker. Null: there are none. */
  distinct_3: { customer: number | null; agent: number | null };
  /** The share of rows whose masked runs of four words are more than 80 % (Jaccard) those of an earlier row. */
  near_duplicates: number;
  /** The tools that a row offers, and those of them that some row calls. */
  tools: { offered: number; called: number; never: string[] };
  /** Means of a row. A turn is a message of the customer. */
  calls: number;
  turns: number;
  /** The share of rows in which a call failed. */
  failed_calls: number;
}

/** @returns null without rows */
export function diversityOf(rows: readonly GradedRow[]): Diversity | null {
  if (rows.length === 0) return null;
  const texts = (row: GradedRow, ...roles: ChatMessage['role'][]) =>
    row.messages.filter(({ role }) => roles.includes(role)).map(({ content }) => content);
  const calls = rows.map(({ messages }) => messages.flatMap(({ tool_calls: made = [] }) => made.map((call) => call.function.name)));
  const sequences = counts(calls.map((names) => names.join(' ')));
  const offered = new Set(rows.flatMap(({ tools = [] }) => tools.flatMap((tool) => nameOf(tool) ?? [])));
  const called = new Set(calls.flat());
  const runs = rows.map((row) => runsOf([masked(texts(row, 'user', 'assistant', 'tool').join(' '))], 4));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / rows.length;
  return {
    rows: rows.length,
    openers: new Set(rows.map((row) => masked(texts(row, 'user')[0] ?? ''))).size,
    agent_texts: new Set(rows.flatMap((row) => texts(row, 'assistant')).filter((text) => text.trim() !== '').map(masked)).size, // prettier-ignore
    sequences: sequences.size,
    sequence_entropy: entropy([...sequences.values()], rows.length),
    distinct_3: {
      customer: distinct(rows.flatMap((row) => texts(row, 'user'))),
      agent: distinct(rows.flatMap((row) => texts(row, 'assistant'))),
    },
    near_duplicates: nearDuplicates(runs).length / rows.length,
    tools: {
      offered: offered.size,
      called: [...offered].filter((name) => called.has(name)).length,
      never: [...offered].filter((name) => !called.has(name)).sort(),
    },
    calls: mean(calls.map(({ length }) => length)),
    turns: mean(rows.map((row) => texts(row, 'user').length)),
    failed_calls: mean(rows.map((row) => Number(hasFailedCall(row)))),
  };
}

const hasFailedCall = ({ messages }: GradedRow): boolean =>
  recordedEvents(messages.map(recordedMessage), () => false).events.some((event) => event.kind === 'tool' && event.result.error);

/** The share of different runs among all runs of three words. */
function distinct(texts: readonly string[]): number | null {
  let all = 0;
  for (const text of texts) eachRun(wordsOf(text), 3, () => (all += 1));
  return all === 0 ? null : runsOf(texts, 3).size / all;
}

export function counts<T>(values: readonly T[]): Map<T, number> {
  const found = new Map<T, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return found;
}

/** In bits. */
const entropy = (numbers: readonly number[], of: number): number =>
  numbers.reduce((sum, number) => sum - (number / of) * Math.log2(number / of), 0);

function nameOf(tool: object): string | null {
  const { name } = (tool as { function?: { name?: unknown } }).function ?? (tool as { name?: unknown });
  return typeof name === 'string' ? name : null;
}
