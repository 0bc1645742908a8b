/**
 * @file The order in which training and evaluation take generated tasks. Neighbouring tasks share a world and its few customers, and
 * one customer can be hard for a small model, so tasks are taken from several worlds.
 */
import { breather } from '../base/macrotask.ts';
import type { Task } from '../records/task.ts';
import type { Domain, Environments, TaskQuery } from './types.ts';

/** A world of a generated domain has at most this many tasks. */
const TASKS = 64;
const WORLDS = 8;
const BLOCK = WORLDS * TASKS;
/** Larger than TASKS, so that no two held-out tasks share a world. A prime, so that tasks that repeat a pattern are not all alike. */
const STRIDE = 67;
/** So many tasks are asked for at once. */
const TOGETHER = 16;

/** The index of the task at `place` of the training: blocks of WORLDS × TASKS tasks, in the order 0, TASKS, 2 · TASKS, …, 1, …. */
export function trainingIndex(place: number): number {
  const at = place % BLOCK;
  return place - at + (at % WORLDS) * TASKS + Math.floor(at / WORLDS);
}

/** The inverse of `trainingIndex`: the place in the training of the task with this index. */
export function trainingPlace(index: number): number {
  const at = index % BLOCK;
  return index - at + (at % TASKS) * WORLDS + Math.floor(at / TASKS);
}

/**
 * The tasks of an evaluation. Tasks of `heldout` and `unseen` are each from another world: numbers 0, STRIDE, 2 · STRIDE, …. Tasks of `train` are those that
 * a training plays first. Of a finite set, such as a benchmark, they are the first `count` tasks.
 */
export async function evaluationTasks(
  { domain, environments }: { domain: Pick<Domain, 'finite'>; environments: Pick<Environments, 'tasks'> },
  query: Omit<TaskQuery, 'from'>,
): Promise<Task[]> {
  if (domain.finite) return environments.tasks(query);
  const index = query.split === 'train' ? trainingIndex : (place: number) => STRIDE * place;
  const breathe = breather();
  const tasks: Task[] = [];
  for (let done = 0; done < query.count; done += TOGETHER) {
    const places = Array.from({ length: Math.min(TOGETHER, query.count - done) }, (_, i) => done + i);
    tasks.push(...(await Promise.all(places.map((place) => environments.tasks({ ...query, from: index(place), count: 1 })))).flat());
    await breathe();
  }
  return tasks;
}
