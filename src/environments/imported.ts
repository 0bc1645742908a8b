/** @file A benchmark's domain on imported data: its exact tools, database, tasks and policy. */
import type { BenchmarkTask, ImportedBenchmark } from './benchmark-task.ts';
import { initialStateOf, type DomainDefinition } from './domain.ts';
import type { Benchmark, ExactDomain } from './exact.ts';
import { exactDomain, exactDomainNames } from './exact-domains.ts';
import { runExact } from './exact-run.ts';
import { Overlay, World } from './overlay.ts';
import type { Json, Task, TaskQuery, ToolCall, UserScenario } from './types.ts';

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
    async domain(level) {
      const { imported: { policy } } = await load(benchmark, domain);
      // tau2-bench's handover is a tool like any other: after it the user ends the conversation.
      const terminalTools = benchmark === 'tau1' ? ['transfer_to_human_agents'] : [];
      return { name, level, policy, tools: [...exact.tools], terminalTools, benchmark, userTools: [...exact.userTools] };
    },
    async tasks({ split, count, from = 0 }) {
      const { id, imported: { tables, tasks, splits } } = await load(benchmark, domain);
      const found = SPLITS[split].find((wanted) => Object.hasOwn(splits, wanted));
      const ids = new Set(found === undefined ? [] : splits[found]);
      const world = new World(id, tables);
      return tasks.filter((task) => ids.has(task.id)).slice(from, from + count).map((task) => storeTask(exact, task, { split, world }));
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
