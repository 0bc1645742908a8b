/** @file Reads files of conversations and of pairs, in JSON Lines, JSON or Parquet. */
import { type Note, readConversation, readEachRow } from '../agent/conversation.ts';
import { isPreference, messageColumns } from '../agent/conversation-row.ts';
import { readPreference } from '../agent/preference.ts';
import { toPythonJson } from '../agent/python-json.ts';
import { isObject } from '../base/json.ts';
import { type JsonRow, readJsonFile } from '../base/json-rows.ts';
import type { Conversation, Preference } from '../records/conversation.ts';
import { isParquet, readParquet } from './parquet.ts';
import type { Row } from './row-fields.ts';

/** A conversation or a pair of a file. `columns` has the other columns of its row. */
export type DatasetRecord = { columns: Row } & ({ conversation: Conversation; pair?: undefined } | { pair: Preference });

/** @throws ImportError if it is Parquet that cannot be read */
export const rowsOfFile = async (file: string, bytes: Uint8Array): Promise<JsonRow[]> =>
  isParquet(bytes) ? (await readParquet(bytes, file)).map((value, i) => ({ where: `row ${i + 1}`, value })) : readJsonFile(bytes).rows;

/** The rows of a file as JSON Lines. Text stays as it is. @throws as `rowsOfFile` */
export const jsonlOf = async (file: string, bytes: Uint8Array): Promise<string> =>
  isParquet(bytes) ? (await readParquet(bytes, file)).map((row) => `${toPythonJson(row)}\n`).join('') : new TextDecoder().decode(bytes);

/** Reads conversations and pairs. Rows that cannot be read are left out, and noted. @throws InputError if none can be read */
export const readRecords = (rows: readonly JsonRow[], note: Note): DatasetRecord[] =>
  readEachRow(
    rows,
    (value, where, own) => {
      const pair = isObject(value) && isPreference(value);
      const record = pair
        ? { pair: readPreference(value, where, { note: own }) }
        : { conversation: readConversation(value, where, { note: own }) };
      const used = messageColumns(value as Row);
      return { ...record, columns: Object.fromEntries(Object.entries(value as Row).filter(([name]) => !used.includes(name))) };
    },
    note,
  );
