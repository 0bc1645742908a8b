/** @file Ranges of compound keys. */
import { Dexie, type Collection, type Table } from 'dexie';

/**
 * Returns the rows whose compound key begins with `first`, for example all rows of one run. They are in key order.
 * @param index a compound index, e.g. `[run+step]`. Default: the primary key
 */
export function beginningWith<Row, Key>(table: Table<Row, Key>, first: string, index = ':id'): Collection<Row, Key> {
  return table.where(index).between([first], [first, Dexie.maxKey]);
}
