/** @file Converts conversations and pairs from one format to another. The command line and the page write the same bytes. */
import { isNearMiss, type Note } from '../agent/conversation.ts';
import { InputError } from '../base/input-error.ts';
import type { JsonRow } from '../base/json-rows.ts';
import { type DatasetRecord, readRecords } from './dataset-file.ts';
import { pairsOf } from './pairs.ts';
import { type DatasetFormat, type WrittenDataset, writeDatasetAs } from './write-dataset.ts';

/**
 * @param note is told of what could not be read, and of what the format cannot hold
 * @throws InputError if no row can be read, or if no pair can be made
 */
export async function convertDataset(rows: readonly JsonRow[], format: DatasetFormat, note: Note): Promise<Omit<WrittenDataset, 'notes'>> {
  const read = readRecords(rows, note);
  const {
    content,
    rows: count,
    notes,
  } = await writeDatasetAs(format, format === 'preference' ? pairs(read, note) : labelled(read, format, note));
  for (const line of notes) note(line);
  return { content, rows: count };
}

function pairs(read: readonly DatasetRecord[], note: Note): DatasetRecord[] {
  const { records, notes } = pairsOf(read);
  if (records.length === 0)
    throw new InputError(
      `no pair can be made: expected rows with chosen and rejected, near-misses with their successes, or conversations of one task with reward 1 and below 1; ${notes.join('; ') || 'all have reward 1'}`,
    );
  for (const line of notes) note(line);
  return records;
}

/** Without its label a near-miss looks like a good conversation, so a format that drops columns does not get it. */
function labelled(read: readonly DatasetRecord[], format: DatasetFormat, note: Note): DatasetRecord[] {
  const kept = read.filter(({ columns }) => !isNearMiss(columns));
  if (format !== 'mua-rl' && format !== 'parquet') {
    if (kept.length < read.length)
      note(
        `${read.length - kept.length} of ${read.length} conversations are near-misses, with their label in the column near_miss: leave them out before you train with another program`,
      );
    return [...read];
  }
  if (kept.length === 0)
    throw new InputError('all conversations are near-misses: expected good ones, as the format has no column for the label');
  if (kept.length < read.length)
    note(`near-misses are left out (${read.length - kept.length} of ${read.length}), as the format has no column for their label`);
  return kept;
}
