/** @file Chooses the task of a reset. A generated task is named by its id, an imported task as in `retail:7` or `retail:train/7`. */
import { shown } from '../base/input-error.ts';
import { importedParts, resetName } from '../benchmarks/imported-benchmark.ts';
import { taskSplits } from '../domains/registry.ts';
import type { Conditions } from '../records/conditions.ts';
import { isSplit, type Split, type Task } from '../records/task.ts';
import type { Domain, Environments } from '../environments/types.ts';
import { ID, ID_TEXT } from '../exchange/schema-fields.ts';
import { ProtocolError } from './protocol.ts';

/** The data of a reset. Unknown fields are ignored, because TRL passes whole rows of its dataset. */
export interface ResetData {
  seed?: number;
  episode_id?: string;
  task_id?: string;
  split?: Split;
}

const MAX_SEED = 0xffffffff;

const invalid = (field: string, value: unknown, expected: string) =>
  new ProtocolError('VALIDATION_ERROR', `${field} is ${shown(value)}: expected ${expected}`);

function readSplit(field: string, value: unknown): Split | undefined {
  // Other libraries call the held-out tasks `test`.
  const split = value === 'test' ? 'heldout' : value;
  if (split === undefined || isSplit(split as string)) return split as Split | undefined;
  throw invalid(field, value, '"train", "heldout", "unseen", "attacks" or "test"');
}

/** @throws ProtocolError naming the field */
export function readReset(data: Record<string, unknown>): ResetData {
  const { seed, episode_id, task_id, split } = data;
  const wrong = (field: string, value: unknown, expected: string) => invalid(`reset.${field}`, value, expected);
  const text = (field: string, value: unknown): string | undefined => {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' || value === '' || value.length > 2000) throw wrong(field, value, 'a text of 1 to 2,000 characters');
    return value;
  };
  if (seed !== undefined && seed !== null && !(Number.isInteger(seed) && (seed as number) >= 0 && (seed as number) <= MAX_SEED))
    throw wrong('seed', seed, `a whole number from 0 to ${MAX_SEED}`);
  const part = readSplit('reset.split', split ?? undefined);
  const id = text('episode_id', episode_id);
  // The id becomes a key of stored conversations.
  if (id !== undefined && !ID.test(id)) throw wrong('episode_id', id, ID_TEXT);
  return {
    ...(typeof seed === 'number' && { seed }),
    ...(id !== undefined && { episode_id: id }),
    ...(text('task_id', task_id) !== undefined && { task_id: task_id as string }),
    ...(part !== undefined && { split: part }),
  };
}

/** Which tasks to list: the part of a split from number `from` on. */
interface TaskList {
  split: Split;
  from: number;
  count: number;
}

/** A longer answer would keep the server from its episodes. */
const MOST_LISTED = 1000;

/** The parameters of `GET /tasks`. @throws ProtocolError naming the parameter */
function readTaskList(parameters: URLSearchParams): TaskList {
  const whole = (name: string, fallback: number, least: number, most: number): number => {
    const text = parameters.get(name);
    const value = text === null ? fallback : /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw invalid(`tasks.${name}`, text, `a whole number from ${least} to ${most}`);
  };
  const split = readSplit('tasks.split', parameters.get('split') ?? undefined) ?? 'train';
  return { split, from: whole('from', 0, 0, 999_999_999), count: whole('count', 100, 1, MOST_LISTED) };
}

/** Gives out the tasks of one domain. */
export class TaskSource {
  readonly #environments: Environments;
  readonly #domain: Domain;
  readonly #conditions: Record<Split, Conditions | undefined>;
  readonly #seed: number;
  /** Split → tasks of an imported benchmark. */
  readonly #imported = new Map<string, Promise<Task[]>>();
  #next = 0;

  /** @param seed the seed of the tasks that are generated when a reset names no task */
  constructor(
    environments: Environments,
    domain: Domain,
    { seed, conditions }: { seed: number; conditions: Record<Split, Conditions | undefined> },
  ) {
    this.#environments = environments;
    this.#domain = domain;
    this.#conditions = conditions;
    this.#seed = seed;
  }

  /**
   * Returns the task of a reset, and the seed of its customer. If the reset names no task, its seed chooses one. If it has no seed, it gets
   * the next number as its seed.
   * @throws ProtocolError for an unknown task
   */
  async choose({ seed, task_id, split = 'train' }: ResetData): Promise<{ task: Task; seed: number }> {
    this.#check('reset', split);
    const number = seed ?? this.#next++;
    const task = task_id === undefined ? await this.#numbered(split, number) : await this.#named(task_id);
    return { task, seed: number };
  }

  /** The HTTP status and the answer of `GET /tasks`. */
  async listed(parameters: URLSearchParams): Promise<[status: number, body: object]> {
    try {
      return [200, await this.#list(readTaskList(parameters))];
    } catch (error) {
      return [error instanceof ProtocolError ? 400 : 500, { error: (error as Error).message }];
    }
  }

  /** The ids of tasks, as resets name them. `of`: how many the split has; null if they are generated, which has no end. */
  async #list({ split, from, count }: TaskList): Promise<{ split: Split; of: number | null; tasks: string[] }> {
    this.#check('tasks', split);
    if (this.#domain.finite) {
      const all = await this.#all(split);
      return { split, of: all.length, tasks: all.slice(from, from + count).map(resetName) };
    }
    const tasks = await this.#generated(split, this.#seed, from, count);
    return { split, of: null, tasks: tasks.map(resetName) };
  }

  #check(what: string, split: Split): void {
    const splits = taskSplits(this.#domain.name, this.#domain.level);
    if (!splits.includes(split))
      throw new ProtocolError('VALIDATION_ERROR', `${what}.split is "${split}": expected ${splits.join(' or ')}`);
  }

  async #numbered(split: Split, number: number): Promise<Task> {
    if (!this.#domain.finite) return (await this.#generated(split, this.#seed, number, 1))[0]!;
    const tasks = await this.#all(split);
    if (tasks.length === 0) throw new ProtocolError('VALIDATION_ERROR', `reset.split is "${split}": the data has no such tasks`);
    return tasks[number % tasks.length]!;
  }

  async #named(id: string): Promise<Task> {
    const { name, level, finite } = this.#domain;
    if (finite) {
      const own = importedParts(name)!.domain;
      const match = /^([a-z_]+):(.+)$/.exec(id);
      if (match?.[1] !== own) throw unknownTask(id, `"${own}:ID", such as "${own}:0"`);
      const [task] = await this.#query({ split: 'heldout', select: { ids: [match[2]!] } }).catch((error: Error) => {
        throw new ProtocolError('VALIDATION_ERROR', `reset.task_id is ${shown(id)}: ${error.message}`);
      });
      return task!;
    }
    const match = new RegExp(`^${name}/${level}/([a-z]+)/(\\d{1,10})(?:~[^/]*)?/(\\d{1,9})$`).exec(id);
    const split = match?.[1];
    if (!match || !isSplit(split)) throw unknownTask(id, `the id of a generated task, such as "${name}/${level}/train/1/0"`);
    const task = (await this.#generated(split, Number(match[2]), Number(match[3]), 1))[0]!;
    if (task.id !== id) throw unknownTask(id, `"${task.id}", as the customers of this server have other conditions`);
    return task;
  }

  #generated(split: Split, seed: number, from: number, count: number): Promise<Task[]> {
    const conditions = this.#conditions[split];
    return this.#query({ split, seed, from, count, ...(conditions && { conditions }) });
  }

  #all(split: Split): Promise<Task[]> {
    const known = this.#imported.get(split) ?? this.#query({ split });
    this.#imported.set(split, known);
    return known;
  }

  #query(query: Partial<Parameters<Environments['tasks']>[0]> & { split: Split }): Promise<Task[]> {
    const { name, level } = this.#domain;
    return this.#environments.tasks({ domain: name, level, seed: 0, count: Number.MAX_SAFE_INTEGER, ...query });
  }
}

const unknownTask = (id: string, expected: string) => invalid('reset.task_id', id, expected);
