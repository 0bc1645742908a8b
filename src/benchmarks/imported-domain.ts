/** @file The domain of an imported benchmark: its tools, database, tasks and policy. */
import { InputError } from '../base/input-error.ts';
import type { Benchmark, BenchmarkTask } from '../records/benchmark-task.ts';
import { initialStateOf, type DomainDefinition } from '../environments/domain.ts';
import type { ExactDomain } from '../domains/exact/types.ts';
import { exactDomain, exactDomainNames } from './exact-domains.ts';
import { World } from '../environments/overlay.ts';
import type { TaskQuery } from '../environments/types.ts';
import { IMPORTED_LEVEL, type ImportedBenchmark, importedName, type LoadBenchmark } from './imported-benchmark.ts';
import { storeTask } from './tasks.ts';

const SPLITS: Record<TaskQuery['split'], readonly string[]> = { train: ['train'], heldout: ['test', 'base'] };

/** How to load imports, and how to score their episodes. */
export interface Benchmarks {
  load: LoadBenchmark;
  /** The benchmark's own reward. */
  judge(benchmark: Benchmark, domain: ExactDomain['name']): NonNullable<DomainDefinition['judge']>;
}

/** All domains that can be imported. */
export function importedDomains({ load, judge }: Benchmarks): DomainDefinition[] {
  return (['tau1', 'tau2'] as const).flatMap((benchmark) =>
    exactDomainNames(benchmark).map((domain) => importedDomain(benchmark, domain, load, judge(benchmark, domain))),
  );
}

/** Registers under `importedName`. */
export function importedDomain(
  benchmark: Benchmark,
  domain: ExactDomain['name'],
  load: LoadBenchmark,
  judge: NonNullable<DomainDefinition['judge']>,
): DomainDefinition {
  const exact = exactDomain(domain, benchmark);
  const name = importedName(benchmark, domain);
  return {
    name,
    levels: [IMPORTED_LEVEL],
    version: 1,
    imported: true,
    selects: true,
    async domain(level) {
      const {
        id,
        imported: { policy },
      } = await load(benchmark, domain);
      // In tau2-bench a transfer does not end the conversation; the user ends it afterwards.
      const terminalTools = benchmark === 'tau1' ? ['transfer_to_human_agents'] : [];
      return {
        name,
        level,
        data: id,
        policy,
        tools: [...exact.tools],
        terminalTools,
        benchmark,
        finite: true,
        userTools: [...exact.userTools],
      };
    },
    async tasks({ split, select, count, from = 0 }) {
      const { id, imported } = await load(benchmark, domain);
      const world = new World(id, imported.tables);
      const tasks = select
        ? selectTasks(imported, select)
        : tasksOfSplit(
            imported,
            SPLITS[split].find((wanted) => Object.hasOwn(imported.splits, wanted)),
          );
      const label = select && 'split' in select ? select.split : split;
      return tasks.slice(from, from + count).map((task) => storeTask(exact, task, { split: label, world }));
    },
    async world(world) {
      const {
        id,
        imported: { tables },
      } = await load(benchmark, domain);
      if (world !== id) throw new Error(`world: '${world}' is no longer imported; it is '${id}' now`);
      return tables;
    },
    initialize: (rows, task) => exact.initialize(rows, initialStateOf(task) ?? {}),
    execute: (rows, call) => exact.execute(rows, call),
    judge,
  };
}

function tasksOfSplit({ tasks, splits }: ImportedBenchmark, split: string | undefined): BenchmarkTask[] {
  const ids = new Set(split === undefined ? [] : splits[split]);
  return tasks.filter((task) => ids.has(task.id));
}

/** @throws {InputError} naming the splits or an id that exist */
function selectTasks(imported: ImportedBenchmark, select: NonNullable<TaskQuery['select']>): BenchmarkTask[] {
  const { domain, tasks, splits, absent } = imported;
  if ('split' in select) {
    const { split } = select;
    if (!Object.hasOwn(splits, split))
      throw new InputError(
        `split: the ${domain} data has no '${split}'; it has ${Object.entries(splits)
          .map(([name, ids]) => `${name} (${ids.length})`)
          .join(', ')}`,
      );
    if (!splits[split]!.length) throw new InputError(`split: none of the ${absent[split]} tasks of '${split}' is in the ${domain} data`);
    return tasksOfSplit(imported, split);
  }
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return [...new Set(select.ids)].map((id) => {
    // tau-bench numbers the tasks within a split. A number alone means a task of the test split.
    const task = byId.get(id) ?? (imported.benchmark === 'tau1' ? byId.get(`test/${id}`) : undefined);
    if (!task)
      throw new InputError(`task ids: '${id}' is not among the ${tasks.length} ${domain} tasks of the data, such as '${tasks[0]!.id}'`);
    return task;
  });
}
