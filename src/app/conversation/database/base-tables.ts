/** @file The database rows at the start of an episode. The worlds worker reads them table by table. */
import type { Task } from '../../../records/task.ts';
import { worldOf } from '../../branches/play-origin.ts';
import { askWorlds } from '../../clients/worlds-client.ts';
import type { BaseTables } from './moment.ts';

/** The rows of a task's world, without the initial state that the task adds. Of a large table, only the first rows are read. */
export function baseOf({ id }: Pick<Task, 'id'>): BaseTables {
  const ref = worldOf(id);
  return {
    tables: async () => (await askWorlds((browser) => browser.info(ref))).tables.map(({ name, count }) => ({ name, count })),
    rows: (table, most) => askWorlds((browser) => browser.wholeRows(ref, table, most)),
  };
}
