/** @file The lines of a slope chart: tasks with the same success before and after share one line. */
import type { Pair } from '../../evaluation/paired.ts';

export interface Slope {
  /** Share of the task's paired trials that succeeded, from 0 to 1. */
  before: number;
  after: number;
  tasks: number;
}

/** The lines of the chart. Lines with few tasks come last, so that they are drawn over the wide lines. */
export function slopesOf(pairs: readonly Pair[]): Slope[] {
  const tasks = new Map<string, Pair[]>();
  for (const pair of pairs) tasks.set(pair.task, [...(tasks.get(pair.task) ?? []), pair]);
  const slopes = new Map<string, Slope>();
  for (const trials of tasks.values()) {
    const share = (side: 'before' | 'after') => trials.filter((trial) => trial[side].reward === 1).length / trials.length;
    const [before, after] = [share('before'), share('after')];
    const key = `${before} ${after}`;
    slopes.set(key, { before, after, tasks: (slopes.get(key)?.tasks ?? 0) + 1 });
  }
  return [...slopes.values()].sort((a, b) => b.tasks - a.tasks);
}
