/** @file Opens a world: the tables and tasks of a generated domain or of an import. */
import { type DomainDefinition, hasSessions, type TableDomain } from '../environments/domain.ts';
import { GENERATED, IMPORTED_LEVEL, taskSplits } from '../domains/registry.ts';
import { World, type WorldTables } from '../environments/overlay.ts';
import type { ImportedBenchmark } from '../benchmarks/imported-benchmark.ts';
import { benchmarkDomain, benchmarkNamed, findBenchmark } from '../benchmarks/named.ts';
import { storeTask } from '../benchmarks/tasks.ts';
import { isSplit, type Split, type Task } from '../records/task.ts';
import { isConditionsCode, readConditionsCode } from '../environments/conditions.ts';
import type { GeneratedWorld, WorldRef } from './types.ts';

/** A generated domain whose worlds can be opened by number. */
export interface GeneratedDomain {
  definition: TableDomain;
  title: string;
  tasksPerWorld: number;
  worldId(level: string, world: GeneratedWorld): string;
}

/** The wanted domains whose generated worlds have numbers. Calling this loads their code. */
export const generatedDomains = async (wanted: (name: string) => boolean = () => true): Promise<GeneratedDomain[]> =>
  (
    await Promise.all(GENERATED.filter(({ name }) => wanted(name)).map(async ({ title, world }) => ({ title, definition: await world!() })))
  ).flatMap(({ title, definition }) =>
    hasSessions(definition) || !definition.worlds
      ? []
      : [{ definition, title, tasksPerWorld: definition.worlds.tasks, worldId: definition.worlds.id }],
  );

/** The domains whose state is in an MCP server, with the tables from which the server begins. */
export async function hostedDomains(wanted: (name: string) => boolean): Promise<GeneratedDomain[]> {
  const modules = GENERATED.filter(({ name, scenario }) => scenario && wanted(name));
  const read = await Promise.all(modules.map(async ({ title, scenario }) => ({ title, own: await scenario!() })));
  const hosted = read.filter(({ own }) => own.scenario.host);
  if (hosted.length === 0) return [];
  const { tableDomain } = await import('../scenarios/table-domain.ts');
  return hosted.map(({ title, own }) => {
    const definition = tableDomain(own);
    return { title, definition, tasksPerWorld: definition.worlds!.tasks, worldId: definition.worlds!.id };
  });
}

/** The world that is opened if none is chosen. */
export const FIRST: GeneratedWorld = { split: 'train', seed: 1, number: 0 };

/** An open world. */
export interface Opened {
  definition: DomainDefinition;
  level: string;
  title: string;
  tables: WorldTables;
  /** Null for an import. */
  generated: GeneratedWorld | null;
  splits: { name: string; tasks: number }[];
  /** The tasks in the order of the list. They are created on the first call. */
  tasks(): Promise<Task[]>;
  splitsOf(task: Task): string[];
}

export const titleOf = (benchmark: string, domain: string) =>
  `${domain.charAt(0).toUpperCase()}${domain.slice(1)}, ${findBenchmark(benchmark)?.title ?? benchmark}`;

/** The world that `ref` chooses. This is the world of its task. If it names no task, it is the world with its split, seed and number. */
export function generatedWorld(
  { definition, tasksPerWorld }: GeneratedDomain,
  level: string,
  { split, seed, number, task }: WorldRef,
): GeneratedWorld {
  const [name, taskLevel, taskSplit, seedAndCode = '', index, ...rest] = task.split('/');
  const [taskSeed, code = ''] = seedAndCode.split('~');
  const isOwn = (one: string | undefined): one is Split => isSplit(one) && taskSplits(definition.name, level).includes(one);
  const whole = (text: string | undefined) => text !== undefined && /^\d{1,10}$/.test(text);
  if (name === definition.name && taskLevel === level && isOwn(taskSplit) && whole(taskSeed) && whole(index) && !rest.length) {
    const at = { split: taskSplit, seed: Number(taskSeed), number: Math.floor(Number(index) / tasksPerWorld) } as const;
    return isConditionsCode(code) ? { ...at, conditions: readConditionsCode(code) } : at;
  }
  return { split: isOwn(split) ? split : FIRST.split, seed: seed ?? FIRST.seed, number: number ?? FIRST.number };
}

export async function openGenerated(
  { definition, title, tasksPerWorld, worldId: idOf }: GeneratedDomain,
  level: string,
  generated: GeneratedWorld,
): Promise<Opened> {
  const { split, seed, number, conditions } = generated;
  let tasks: Promise<Task[]> | undefined;
  return {
    definition,
    level,
    generated,
    title: `${title}, ${level}`,
    tables: await definition.world(idOf(level, generated)),
    splits: taskSplits(definition.name, level).map((name) => ({ name, tasks: tasksPerWorld })),
    tasks: () =>
      (tasks ??= Promise.resolve(
        definition.tasks({ domain: definition.name, level, split, seed, count: tasksPerWorld, from: number * tasksPerWorld, conditions }),
      )),
    splitsOf: (task) => [task.split],
  };
}

export function openImported(
  definition: DomainDefinition,
  { benchmark, domain, tables, tasks, splits }: ImportedBenchmark,
  id: string,
): Opened {
  const members = Object.entries(splits).map(([name, ids]) => [name, new Set(ids)] as const);
  const splitsOf = (task: string) => members.filter(([, ids]) => ids.has(task)).map(([name]) => name);
  let made: Promise<Task[]> | undefined;
  const make = async () => {
    const rules = benchmarkNamed(benchmark);
    const { train, heldout } = rules.splits;
    const world = new World(id, tables);
    return tasks.map((task) => {
      const of = splitsOf(task.id);
      const isOf = (names: readonly string[]) => of.some((name) => names.includes(name));
      const split = isOf(train) ? 'train' : isOf(heldout) || !of.length ? 'heldout' : of[0]!;
      return storeTask(rules, benchmarkDomain(benchmark, domain), task, { split, world });
    });
  };
  return {
    definition,
    tables,
    title: titleOf(benchmark, domain),
    level: IMPORTED_LEVEL,
    generated: null,
    splits: members.map(([name, ids]) => ({ name, tasks: ids.size })),
    tasks: () => (made ??= make()),
    splitsOf: (task) => splitsOf(task.benchmark!.id),
  };
}
