/** @file The log of an episode's tool calls: each entry holds the hash of the entry before it, so that a changed log is found. */
import { canonicalJson } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';
import type { RowChange } from '../records/task.ts';
import type { Task } from '../records/task.ts';
import type { ToolCall } from '../records/task.ts';

/** One tool call of an episode. `hash` is the SHA-256 of the canonical JSON of all other fields, with `previous`. */
export interface LogEntry {
  episode: string;
  index: number;
  call: ToolCall;
  text: string;
  error: boolean;
  /** Rows that the call changed, before and after the call. A new order of keys is a change too. */
  changes: RowChange[];
  /** Hash of the entry before; of the task's id and world for the first. */
  previous: string;
  hash: string;
}

/** The hash a log begins with. */
export function firstHash(task: Task): string {
  return sha256(canonicalJson({ task: task.id, world: task.world }));
}

export function entryHash(entry: Omit<LogEntry, 'hash' | 'episode'>): string {
  const { index, call, text, error, changes, previous } = entry;
  return sha256(canonicalJson({ index, call, text, error, changes, previous }));
}

/** Index of the first entry that was changed, is out of order or does not follow from the entry before; −1 if all entries are right. */
export function brokenLink(task: Task, log: readonly LogEntry[]): number {
  let previous = firstHash(task);
  for (const [i, entry] of log.entries()) {
    if (entry.index !== i || entry.previous !== previous || entry.hash !== entryHash(entry)) return i;
    previous = entry.hash;
  }
  return -1;
}
