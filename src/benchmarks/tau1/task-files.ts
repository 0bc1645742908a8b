/** @file Reads the task files of tau-bench. */
import { z } from 'zod';
import { check } from '../../exchange/import-error.ts';
import type { Files } from '../import/read-files.ts';
import type { ImportedTasks } from '../imported-benchmark.ts';
import type { Tau1Task } from './task.ts';
import { tasksOfSource } from './task-source.ts';

const taskFile = z
  .array(
    z.looseObject({
      index: z.number().int().min(0).optional(),
      user_id: z.string(),
      instruction: z.string(),
      actions: z.array(z.looseObject({ name: z.string(), kwargs: z.record(z.string(), z.unknown()) })),
      outputs: z.array(z.string()),
    }),
  )
  .min(1, 'expected at least one task');

/**
 * Reads one file for each split: `tasks_test.json`, `tasks_train.py`, …. A file `tasks.json` counts as the test split, because most results
 * are results of that split. Of several files of a split, `tasks_<split>` counts before `tasks`, and JSON before Python.
 * @param named the paths of the files in the folder, by name
 */
export async function tau1Tasks(named: ReadonlyMap<string, string>, files: Files): Promise<ImportedTasks<Tau1Task>> {
  const splits = new Map<string, Tau1Task[]>();
  const found = [...named].flatMap(([name, path]) => {
    const [, own, end] = /^tasks(?:_(\w+))?\.(json|py)$/.exec(name) ?? [];
    return end === undefined ? [] : [{ split: own ?? 'test', path, rank: (own === undefined ? 2 : 0) + (end === 'py' ? 1 : 0) }];
  });
  for (const { split, path } of found.sort((a, b) => a.rank - b.rank)) {
    if (splits.has(split)) continue;
    const content = path.endsWith('.py') ? tasksOfSource(path, await files.text(path)) : await files.json(path);
    const tasks = check<Omit<Tau1Task, 'id'>[]>(taskFile, content, path);
    splits.set(
      split,
      tasks.map((task, i) => ({ ...task, id: `${split}/${i}` })),
    );
  }
  return {
    tasks: [...splits.values()].flat(),
    splits: Object.fromEntries([...splits].map(([split, tasks]) => [split, tasks.map(({ id }) => id)])),
    absent: {},
  };
}
