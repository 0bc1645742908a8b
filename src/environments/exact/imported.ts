/** @file A benchmark's domain on imported data: its exact tools, database, tasks and policy. */
import type { BenchmarkTask, ImportedBenchmark } from './benchmark-task.ts';
import { initialStateOf, type DomainDefinition } from '../domain.ts';
import type { Benchmark, ExactDomain } from './types.ts';
import { exactDomain, exactDomainNames } from './domains.ts';
import { runExact } from './run.ts';
import { Overlay, World } from '../overlay.ts';
import type { Json, Task, TaskQuery, ToolCall, UserScenario } from '../types.ts';

/** An import as a storage gives it back. `id` names its content, and the world that it is. */
export interface LoadedBenchmark {
  id: string;
  imported: ImportedBenchmark;
}

/** Asked at every start of an episode. @throws when nothing of the kind was imported */
export type LoadBenchmark = (benchmark: Benchmark, domain: ExactDomain['name']) => Promise<LoadedBenchmark>;

/** Imported tasks have no levels of their own. */
export const IMPORTED_LEVEL = 'full';

const SPLITS: Record<TaskQuery['split'], readonly string[]> = { train: ['train'], heldout: ['test', 'base'] };

/** A split or an id that the imported data does not have. */
class TaskSelectionError extends Error {
  override name = 'InputError';
}

/** The name under which an imported domain is registered. */
export const importedName = (benchmark: Benchmark, domain: ExactDomain['name']) => `${benchmark}-${domain}`;

/** Where imports come from, and how their episodes are scored: by the benchmark's own reward. */
export interface Benchmarks {
  load: LoadBenchmark;
  judge(benchmark: Benchmark, domain: ExactDomain['name']): NonNullable<DomainDefinition['judge']>;
}

/** All that can be imported. */
export function importedDomains({ load, judge }: Benchmarks): DomainDefinition[] {
  return (['tau1', 'tau2'] as const).flatMap((benchmark) => exactDomainNames(benchmark).map((domain) => importedDomain(benchmark, domain, load, judge(benchmark, domain))));
}

/** Registers under `importedName`. */
export function importedDomain(benchmark: Benchmark, domain: ExactDomain['name'], load: LoadBenchmark, judge: NonNullable<DomainDefinition['judge']>): DomainDefinition {
  const exact = exactDomain(domain, benchmark);
  const name = importedName(benchmark, domain);
  return {
    name,
    levels: [IMPORTED_LEVEL],
    version: 1,
    imported: true,
    selects: true,
    async domain(level) {
      const { imported: { policy } } = await load(benchmark, domain);
      // tau2-bench's handover is a tool like any other: after it the user ends the conversation.
      const terminalTools = benchmark === 'tau1' ? ['transfer_to_human_agents'] : [];
      return { name, level, policy, tools: [...exact.tools], terminalTools, benchmark, finite: true, userTools: [...exact.userTools] };
    },
    async tasks({ split, select, count, from = 0 }) {
      const { id, imported } = await load(benchmark, domain);
      const world = new World(id, imported.tables);
      const tasks = select ? selectTasks(imported, select) : tasksOfSplit(imported, SPLITS[split].find((wanted) => Object.hasOwn(imported.splits, wanted)));
      const label = select && 'split' in select ? select.split : split;
      return tasks.slice(from, from + count).map((task) => storeTask(exact, task, { split: label, world }));
    },
    async world(world) {
      const { id, imported: { tables } } = await load(benchmark, domain);
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

/** @throws {TaskSelectionError} naming what there is */
function selectTasks(imported: ImportedBenchmark, select: NonNullable<TaskQuery['select']>): BenchmarkTask[] {
  const { domain, tasks, splits, absent } = imported;
  if ('split' in select) {
    const { split } = select;
    if (!Object.hasOwn(splits, split)) throw new TaskSelectionError(`split: the ${domain} data has no '${split}'; it has ${Object.entries(splits).map(([name, ids]) => `${name} (${ids.length})`).join(', ')}`);
    if (!splits[split]!.length) throw new TaskSelectionError(`split: none of the ${absent[split]} tasks of '${split}' is in the ${domain} data`);
    return tasksOfSplit(imported, split);
  }
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return [...new Set(select.ids)].map((id) => {
    // tau-bench numbers the tasks of a split: a bare number is one of the test split.
    const task = byId.get(id) ?? (imported.benchmark === 'tau1' ? byId.get(`test/${id}`) : undefined);
    if (!task) throw new TaskSelectionError(`task ids: '${id}' is not among the ${tasks.length} ${domain} tasks of the data, such as '${tasks[0]!.id}'`);
    return task;
  });
}

/** An imported task as the store and the users take it. */
export function storeTask(exact: ExactDomain, task: BenchmarkTask, { split, world }: { split: string; world: World }): Task {
  const domain = importedName(exact.benchmark, exact.name);
  const actions = goldOf(task);
  const stored: Task = {
    id: `${domain}/${IMPORTED_LEVEL}/${split}/${task.id}`, domain, level: IMPORTED_LEVEL, split, world: world.id,
    scenario: scenarioOf(exact.benchmark, task), actions, noop: false, benchmark: task,
  };
  const rows = new Overlay(world);
  exact.initialize(rows, initialStateOf(stored) ?? {});
  const done = new Overlay(rows);
  for (const action of actions) runExact(exact, done, action);
  return { ...stored, noop: done.changes().length === 0 };
}

function goldOf(task: BenchmarkTask): ToolCall[] {
  if ('instruction' in task) return task.actions.map(({ name, kwargs }) => ({ name, arguments: kwargs }));
  return (task.evaluation_criteria?.actions ?? []).map(({ name, arguments: args, requestor }) => ({ name, arguments: args, ...(requestor && { requestor }) }));
}

function scenarioOf(benchmark: Benchmark, task: BenchmarkTask): UserScenario {
  const instruction = 'instruction' in task ? task.instruction : [task.user_scenario.persona, inWords(task.user_scenario.instructions)].filter(Boolean).join('\n\n');
  const history = 'initial_state' in task ? task.initial_state?.message_history : null;
  return { persona: 'on_request', identity: {}, wishes: [], instruction, benchmark, ...(history?.length && { history }) };
}

/** tau2's instructions are a text or fields with texts. */
function inWords(instructions: Json): string {
  if (typeof instructions === 'string') return instructions;
  const fields = Object.entries((instructions ?? {}) as Record<string, Json>).filter(([name, value]) => value !== null && name !== 'domain');
  return fields.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join('\n');
}
