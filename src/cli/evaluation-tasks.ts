/** @file Which tasks an evaluation plays: generated tasks, or tasks of a benchmark. And its settings. */
import { stat } from 'node:fs/promises';
import { IMPORTED_LEVEL, taskSplits, usualLevel } from '../domains/registry.ts';
import { isSplit, type Split } from '../records/task.ts';
import type { EvaluateOptions } from '../trainer/messages.ts';
import { readNumber, readPairs } from './args.ts';
import { type BenchmarkData, findPlaceData } from './benchmark-data.ts';
import { DEFAULT_DOMAIN } from './commands/shared.ts';
import { UsageError } from './errors.ts';
import { readTaskIds } from './inputs.ts';
import { checkLevel } from './world.ts';

/** The flags that say which tasks to play. */
type Asked = Parameters<typeof findPlaceData>[0] & {
  split?: string | undefined;
  tasks?: string | undefined;
};

const isSplitOf = (domain: string, level: string, name: string | undefined): name is Split =>
  isSplit(name) && taskSplits(domain, level).includes(name);
/** The number of generated tasks of an evaluation by default. */
export const TASKS = 200;

/**
 * Reads which tasks to run: generated tasks, or tasks of the benchmark in --data. The splits and ids of a benchmark are
 * checked later, during the work.
 */
export async function readTasks({ domain: wanted, rules, data, level, split, tasks }: Asked): Promise<{
  place: Pick<EvaluateOptions, 'domain' | 'level' | 'split' | 'select' | 'tasks'>;
  benchmark?: BenchmarkData;
}> {
  const benchmark = await findPlaceData({ domain: wanted, rules, data, level });
  const domain = benchmark?.domain ?? wanted ?? DEFAULT_DOMAIN;
  if (!benchmark) {
    checkLevel(domain, level);
    const at = level ?? usualLevel(domain)!;
    if (split !== undefined && !isSplitOf(domain, at, split))
      throw new UsageError(`--split is "${split}": expected ${taskSplits(domain, at).join(' or ')}`);
    const count = tasks === undefined ? TASKS : readNumber('--tasks', tasks, { type: 'integer', min: 1 });
    return { place: { domain, level: at, split: split ?? 'heldout', tasks: count } };
  }
  const place = { domain: `${rules}-${domain}`, level: level ?? IMPORTED_LEVEL, split: 'heldout' as const, tasks: Number.MAX_SAFE_INTEGER };
  if (tasks === undefined || /^[-+]?[\d.]+$/.test(tasks)) {
    const count = tasks === undefined ? place.tasks : readNumber('--tasks', tasks, { type: 'integer', min: 1 });
    return {
      place: {
        ...place,
        tasks: count,
        ...(isSplitOf(place.domain, place.level, split) ? { split } : split !== undefined && { select: { split } }),
      },
      benchmark,
    };
  }
  if (split !== undefined) throw new UsageError(`--split is "${split}": --tasks already names a file or split`);
  // A word without a dot or slash is a split, even if a file has this name. A folder named "test", for example, is common.
  if (!/[/\\.]/.test(tasks)) return { place: { ...place, select: { split: tasks } }, benchmark };
  if (!(await stat(tasks).catch(() => null))?.isFile()) throw new UsageError(`--tasks is "${tasks}": there is no such file`);
  return { place: { ...place, select: { ids: await readTaskIds(tasks) } }, benchmark };
}

/** The settings of `--set` for an evaluation. @throws UsageError if a flag of its own sets one of them */
export function evaluationSettings(pairs: readonly string[]): Record<string, string> {
  const settings = readPairs('set', pairs);
  const taken = ['domain', 'level', 'seed', 'temperature', 'val_split'].find((name) => Object.hasOwn(settings, name));
  if (taken) throw new UsageError(`--set has "${taken}": expected --${taken.replace('val_', '')} instead`);
  return settings;
}
