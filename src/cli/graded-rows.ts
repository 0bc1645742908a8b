/** @file Reads the rows and the reviews of `mua grade` and `mua data-card`. */
import { isObject } from '../base/json.ts';
import { type JsonRow, readJsonFile } from '../base/json-rows.ts';
import { readReviews } from '../exchange/review-schema.ts';
import type { Conversation } from '../records/conversation.ts';
import type { Review } from '../records/grades.ts';
import { rowSha256 } from '../synthesis/row-hash.ts';
import { UsageError } from './errors.ts';
import { unreadable } from './files.ts';

/** The rows of JSON lines or of one list. @throws UsageError if a row is not JSON, or if there is none */
export function jsonLines(file: string, text: string): JsonRow[] {
  const { rows, whole } = readJsonFile(text);
  const broken = rows.find(({ problem }) => problem !== undefined);
  if (broken) throw new UsageError(`${file}: ${broken.where}: ${broken.problem}: expected an object with messages`);
  if (rows.length === 0) throw new UsageError(`${file}: it has no row: expected an object with messages in each line`);
  // The text of a file with one line is the text of its row.
  const isLine = isObject(whole) && !text.trim().includes('\n');
  return isLine ? rows.map((row) => ({ ...row, text: text.replace(/^\uFEFF/, '') })) : rows;
}

/** Names the file in the errors of `read`. @throws UsageError */
export function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = unreadable(file, error as Error);
    throw new UsageError(message.startsWith(file) ? message : `${file}: ${message}`);
  }
}

/**
 * @param files the texts by path
 * @param rows the conversations
 * @throws UsageError if a file is wrong, or has no review of these conversations
 */
export function readReviewFiles(files: Record<string, string>, rows: readonly Conversation[]): Review[] {
  const all = Object.entries(files);
  if (all.length === 0) return [];
  const known = new Set(rows.map(rowSha256));
  return all.flatMap(([path, text]) => {
    const own = inFile(path, () => readReviews(path, text));
    const fit = own.filter(({ sha256 }) => known.has(sha256));
    if (fit.length === 0) throw new UsageError(`${path}: none of its ${own.length} reviews is of a conversation of this file`);
    return fit;
  });
}
