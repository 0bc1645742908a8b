/** @file Writes conversations and pairs in the formats in which other programs train on them. */
import type { Note } from '../agent/conversation.ts';
import { asObject } from '../agent/conversation-row.ts';
import { toPythonJson } from '../agent/python-json.ts';
import { isObject } from '../base/json.ts';
import { RowNotes } from '../base/json-rows.ts';
import type { ChatMessage, Conversation } from '../records/conversation.ts';
import type { DatasetRecord } from './dataset-file.ts';
import type { Row } from './row-fields.ts';
import { shareGptRow } from './sharegpt.ts';

/**
 * `chat`: OpenAI's messages, with arguments as texts. `trl`: the same with arguments as objects. `sharegpt`: LLaMA-Factory's. `preference`:
 * TRL's pairs. `mua-rl`: the columns of MUA-RL's dataset. `parquet`: the same as Parquet.
 */
export const DATASET_FORMATS = ['chat', 'trl', 'sharegpt', 'preference', 'mua-rl', 'parquet'] as const;
export type DatasetFormat = (typeof DATASET_FORMATS)[number];

export interface WrittenDataset {
  content: Uint8Array<ArrayBuffer>;
  rows: number;
  /** What the format cannot hold, one sentence each. */
  notes: string[];
}

/** @param records with `preference` only pairs (`pairsOf`) */
export async function writeDatasetAs(format: DatasetFormat, records: readonly DatasetRecord[]): Promise<WrittenDataset> {
  const notes = new RowNotes();
  const rows = records.map((record, i) => ROWS[format](record, i, (line) => notes.add(line, `row ${i + 1}`)));
  let content: Uint8Array<ArrayBuffer>;
  if (format === 'parquet') {
    const { writeParquet } = await import('./parquet.ts');
    content = new Uint8Array(writeParquet(rows));
  } else content = new TextEncoder().encode(rows.map((row) => `${toPythonJson(row)}\n`).join(''));
  return {
    content,
    rows: rows.length,
    notes: [...notes.lines].map(([line, { count, first }]) => `${line} (${count} ×, first in ${first})`),
  };
}

type WriteRow = (record: DatasetRecord, index: number, note: Note) => Row;

const ROWS: Record<DatasetFormat, WriteRow> = {
  chat(record, _, note) {
    const { messages, tools } = conversationOf(record, note);
    return beside(record, { messages: withIds(messages, note).map((own) => withArguments(own, asText)), ...toolsOf(tools) });
  },
  trl(record, _, note) {
    const { messages, tools } = conversationOf(record, note);
    return beside(record, { messages: messages.map((own) => withArguments(own, asObject)), ...toolsOf(tools) });
  },
  sharegpt: (record, _, note) => beside(record, shareGptRow(record.pair ?? record.conversation, note)),
  preference({ pair, columns }) {
    if (!pair) throw new Error('the format preference writes only pairs');
    const side = (messages: readonly ChatMessage[]) => messages.map((own) => withArguments(own, asObject));
    return { prompt: side(pair.prompt), chosen: side(pair.chosen), rejected: side(pair.rejected), ...toolsOf(pair.tools), ...columns };
  },
  'mua-rl': muaRlRow,
  parquet: muaRlRow,
};

/** The written columns, and the other columns of the row. A column of the row with the same name, such as empty `messages`, gives way. */
const beside = ({ columns }: DatasetRecord, written: Row): Row => ({ ...written, ...columns, ...written });

const toolsOf = (tools: object[] | undefined) => tools && { tools };

/** The conversation of a record. A pair has the chosen one. */
function conversationOf(record: DatasetRecord, note: Note): Conversation {
  if (!record.pair) return record.conversation;
  note('the rejected answer is left out');
  const { prompt, chosen, tools } = record.pair;
  return { messages: [...prompt, ...chosen], ...toolsOf(tools) };
}

/** A row of MUA-RL's dataset: two texts, and messages and tools as JSON texts. All tools stand in the field `function` of one object. */
function muaRlRow(record: DatasetRecord, index: number, note: Note): Row {
  const { messages, tools } = conversationOf(record, note);
  const { id, source, scenario, domain, ...others } = record.columns;
  // The ids of our own tasks begin with the domain.
  const named = [id, others.task].find((own) => typeof own === 'string' && own.includes('/')) as string | undefined;
  const from = source ?? scenario ?? domain ?? named?.split('/')[0];
  const lost: Row = { ...others, ...(source !== undefined && { scenario, domain }) };
  const names = Object.keys(lost).filter((name) => lost[name] !== undefined && lost[name] !== null);
  if (names.length > 0)
    note(`columns are left out, as the format has only id, source, messages and tools: ${names.join(', ').slice(0, 400)}`);
  if (id === undefined || id === null) note('a row without id gets its number as id');
  if (from === undefined || from === null) note('a row without source gets the source "unknown"');
  const functions = tools?.map((tool) => {
    const inner = (tool as Row).function;
    return isObject(inner) ? inner : tool;
  });
  return {
    id: textOf(id ?? index + 1),
    source: textOf(from ?? 'unknown'),
    messages: toPythonJson(withIds(messages, note).map((own) => withArguments(own, asText))),
    tools: functions ? toPythonJson({ type: 'function', function: functions }) : null,
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : toPythonJson(value));

type Arguments = Parameters<typeof asObject>[0];
const asText = (given: Arguments): Arguments => (typeof given === 'string' ? given : toPythonJson(given));

function withArguments(message: ChatMessage, change: (given: Arguments) => Arguments): ChatMessage {
  const { tool_calls: calls } = message;
  if (!calls) return message;
  return {
    ...message,
    tool_calls: calls.map((call) => ({ ...call, function: { ...call.function, arguments: change(call.function.arguments) } })),
  };
}

/** OpenAI demands that each call has an id and that each result names the id of its call. */
function withIds(messages: readonly ChatMessage[], note: Note): ChatMessage[] {
  let open: { id: string; name: string }[] = [];
  return messages.map((message, m) => {
    if (message.role === 'assistant') {
      const calls = message.tool_calls?.map((call, c) => ({ ...call, id: call.id ?? `call_${m}_${c}` }));
      open = (calls ?? []).map(({ id, function: { name } }) => ({ id, name }));
      return calls ? { ...message, tool_calls: calls } : message;
    }
    if (message.role !== 'tool') return message;
    const found =
      open.find(({ id }) => id === message.tool_call_id) ??
      (message.tool_call_id === undefined ? (open.find(({ name }) => name === message.name) ?? open[0]) : undefined);
    if (!found) {
      note('a tool message answers no call, which OpenAI refuses');
      return message;
    }
    open = open.filter((call) => call !== found);
    return { ...message, tool_call_id: found.id };
  });
}
