/** @file A domain of an imported benchmark: its tools, database, tasks and policy. */
import { InputError } from '../base/input-error.ts';
import type { BenchmarkTask } from '../records/benchmark-task.ts';
import { type DomainDefinition, initialStateOf } from '../environments/domain.ts';
import { World } from '../environments/overlay.ts';
import type { TaskQuery } from '../environments/types.ts';
import type { BenchmarkDefinition, BenchmarkDomain } from './definition.ts';
import { BENCHMARKS } from './index.ts';
import { importedLevels } from '../domains/registry.ts';
import { type ImportedBenchmark, importedName, type LoadBenchmark } from './imported-benchmark.ts';
import { benchmarkJudge } from './judge.ts';
import { storeTask } from './tasks.ts';

/** All domains that can be imported. */
export const importedDomains = (load: LoadBenchmark): DomainDefinition[] =>
  BENCHMARKS.flatMap((benchmark) => benchmark.domains.map((domain) => importedDomain(benchmark, domain, load)));

/** Makes the domain. Its name is that of `importedName`. */
export function importedDomain(benchmark: BenchmarkDefinition, domain: BenchmarkDomain, load: LoadBenchmark): DomainDefinition {
  const name = importedName(benchmark.name, domain.name);
  const loaded = () => load(benchmark.name, domain.name);
  const common = {
    name,
    levels: importedLevels(name),
    selects: true as const,
    async domain(level: string) {
      const { id, imported } = await loaded();
      return {
        name,
        level,
        data: id,
        policy: imported.policy,
        tools: [...domain.tools],
        terminalTools: [...benchmark.terminalTools],
        benchmark: benchmark.name,
        finite: true as const,
        userTools: [...(domain.userTools ?? [])],
      };
    },
    async tasks({ level, split, select, count, from = 0 }: TaskQuery) {
      const { id, imported } = await loaded();
      const world = new World(id, imported.tables);
      const own = benchmark.splits[split === 'train' ? 'train' : 'heldout'].find((wanted) => Object.hasOwn(imported.splits, wanted));
      const tasks = select ? selectTasks(benchmark, imported, select) : tasksOfSplit(imported, own);
      const label = select && 'split' in select ? select.split : split;
      return tasks.slice(from, from + count).map((task) => storeTask(benchmark, domain, task, { split: label, world, level }));
    },
  };
  if (benchmark.session)
    return {
      ...common,
      promises: { replays: true },
      start: async (task) => benchmark.session!((await loaded()).imported, task),
    };
  return {
    ...common,
    version: 1,
    imported: true,
    async world(world) {
      const { id, imported } = await loaded();
      if (world !== id) throw new Error(`world: '${world}' is no longer imported; it is '${id}' now`);
      return imported.tables;
    },
    initialize: (rows, task) => domain.initialize?.(rows, initialStateOf(task) ?? {}),
    execute: (rows, call) => domain.execute(rows, call),
    judge: benchmarkJudge(benchmark, domain.name),
  };
}

function tasksOfSplit({ tasks, splits }: ImportedBenchmark, split: string | undefined): BenchmarkTask[] {
  const ids = new Set(split === undefined ? [] : splits[split]);
  return tasks.filter((task) => ids.has(task.id));
}

/** @throws {InputError} that names the existing splits, or an existing id */
function selectTasks(
  benchmark: BenchmarkDefinition,
  imported: ImportedBenchmark,
  select: NonNullable<TaskQuery['select']>,
): BenchmarkTask[] {
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
    const task = byId.get(id) ?? benchmark.tasks.find?.(tasks, id);
    if (!task)
      throw new InputError(`task ids: '${id}' is not among the ${tasks.length} ${domain} tasks of the data, such as '${tasks[0]!.id}'`);
    return task;
  });
}
