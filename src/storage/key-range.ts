/** @file Ranges of compound keys. */
import { Dexie, type Collection, type Table } from 'dexie';

/**
 * The rows whose key begins with `first`, in key order: all of one run, of one evaluation, of one episode.
 * @param index another compound index than the primary key, e.g. `[run+step]`
 */
export function beginningWith<Row, Key>(table: Table<Row, Key>, first: string, index = ':id'): Collection<Row, Key> {
  return table.where(index).between([first], [first, Dexie.maxKey]);
}
