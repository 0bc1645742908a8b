/** @file The rows an episode began with, read a table at a time from the worker of the worlds. */
import type { Task } from '../../environments/types.ts';
import { worldName } from '../logic/play-origin.ts';
import { askWorlds } from '../worlds/connect.ts';
import type { WorldRef } from '../worlds/types.ts';
import type { BaseTables } from './moment.ts';

/** Rows before the task's own initial state; of a large table only the first. */
export function baseOf({ id }: Pick<Task, 'id'>): BaseTables {
  const ref: WorldRef = { name: worldName(id), split: '', seed: null, number: null, task: id };
  return {
    tables: async () => (await askWorlds((browser) => browser.info(ref))).tables.map(({ name, count }) => ({ name, count })),
    rows: async (table, most) => {
      const keys = (await askWorlds((browser) => browser.rows(ref, table, '', 0, most))).map(({ key }) => key);
      return Promise.all(keys.map(async (key) => [key, (await askWorlds((browser) => browser.row(ref, table, key))) ?? null] as const));
    },
  };
}
