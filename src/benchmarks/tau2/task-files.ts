/** @file Reads the task files of tau2-bench. The schemas only check the files: fields that are in no schema are kept. */
import { z } from 'zod';
import { REWARD_TYPES } from '../../records/benchmark-task.ts';
import { check, ImportError } from '../../exchange/import-error.ts';
import type { Files } from '../import/read-files.ts';
import { environmentCall, initialStateSchema } from '../initial-state.ts';
import type { ImportedTasks } from '../imported-benchmark.ts';
import type { Tau2Task } from './task.ts';
import { checkTasks } from './version.ts';

const json = z.record(z.string(), z.unknown());
const requestor = z.enum(['assistant', 'user']);

const task = z.looseObject({
  id: z.string().min(1),
  user_scenario: z.looseObject({ persona: z.string().nullish(), instructions: z.union([z.string(), json]) }),
  ticket: z.string().nullish(),
  initial_state: initialStateSchema.nullish(),
  evaluation_criteria: z
    .looseObject({
      actions: z
        .array(
          z.looseObject({
            name: z.string(),
            arguments: json,
            requestor: requestor.optional(),
            compare_args: z.array(z.string()).nullish(),
          }),
        )
        .nullish(),
      env_assertions: z.array(environmentCall.extend({ assert_value: z.boolean().optional() })).nullish(),
      communicate_info: z.array(z.string()).nullish(),
      nl_assertions: z.array(z.string()).nullish(),
      reward_basis: z.array(z.enum(REWARD_TYPES)).optional(),
    })
    .nullish(),
});
const taskFile = z.array(task).min(1, 'expected at least one task');
const splitFile = z.record(z.string(), z.array(z.string()));

/**
 * Reads `tasks.json`, and the smaller and larger task sets if they exist. `split_tasks.json` selects tasks from all of them.
 * @param named the paths of the files in the folder, by name
 */
export async function tau2Tasks(named: ReadonlyMap<string, string>, files: Files): Promise<ImportedTasks<Tau2Task>> {
  const tasks = new Map<string, Tau2Task>();
  for (const name of ['tasks.json', 'tasks_small.json', 'tasks_full.json']) {
    const path = named.get(name);
    if (path === undefined) continue;
    const seen = new Set<string>();
    const value = await files.json(path);
    checkTasks(path, value);
    check<Tau2Task[]>(taskFile, value, path).forEach((task, i) => {
      if (seen.has(task.id)) throw new ImportError(path, `[${i}].id`, `'${task.id}' is the id of an earlier task`);
      seen.add(task.id);
      if (!tasks.has(task.id)) tasks.set(task.id, task);
    });
  }
  const splitPath = named.get('split_tasks.json');
  const listed =
    splitPath === undefined
      ? { base: [...tasks.keys()] }
      : check<Record<string, string[]>>(splitFile, await files.json(splitPath), splitPath);
  const splits = Object.entries(listed).map(([split, ids]): [string, string[]] => [split, ids.filter((id) => tasks.has(id))]);
  const absent = splits.flatMap(([split, ids]): [string, number][] =>
    ids.length < listed[split]!.length ? [[split, listed[split]!.length - ids.length]] : [],
  );
  return { tasks: [...tasks.values()], splits: Object.fromEntries(splits), absent: Object.fromEntries(absent) };
}
