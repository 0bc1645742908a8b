/** @file The rows an episode began with, read a table at a time from the worker of the worlds. */
import type { Task } from '../../environments/types.ts';
import { worldOf } from '../logic/play-origin.ts';
import { askWorlds } from '../worlds/connect.ts';
import type { BaseTables } from './moment.ts';

/** Rows before the task's own initial state; of a large table only the first. */
export function baseOf({ id }: Pick<Task, 'id'>): BaseTables {
  const ref = worldOf(id);
  return {
    tables: async () => (await askWorlds((browser) => browser.info(ref))).tables.map(({ name, count }) => ({ name, count })),
    rows: (table, most) => askWorlds((browser) => browser.wholeRows(ref, table, most)),
  };
}
