/** @file Converts tasks of a benchmark to the form that environments and users need. */
import type { BenchmarkTask } from '../records/benchmark-task.ts';
import type { Task, ToolCall, UserScenario } from '../records/task.ts';
import { runExact } from '../domains/exact/run.ts';
import { initialStateOf } from '../environments/domain.ts';
import { Overlay, type World } from '../environments/overlay.ts';
import type { BenchmarkDefinition, BenchmarkDomain } from './definition.ts';
import { IMPORTED_LEVEL } from '../domains/registry.ts';
import { importedName } from './imported-benchmark.ts';
import { findBenchmark } from './named.ts';

/** Makes a task for the environments from an imported task. Runs its gold actions to find out whether the task changes anything. */
export function storeTask(
  benchmark: BenchmarkDefinition,
  domain: BenchmarkDomain,
  task: BenchmarkTask,
  { split, world, level = IMPORTED_LEVEL }: { split: string; world: World; level?: string },
): Task {
  const name = importedName(benchmark.name, domain.name);
  const actions = benchmark.tasks.gold(task);
  const stored: Task = {
    id: `${name}/${level}/${split}/${task.id}`,
    domain: name,
    level,
    split,
    world: world.id,
    scenario: scenarioOf(benchmark, task),
    actions,
    noop: false,
    benchmark: task,
    ...benchmark.stored?.(task, level),
  };
  if (benchmark.session) return stored;
  const rows = new Overlay(world);
  domain.initialize?.(rows, initialStateOf(stored) ?? {});
  const done = new Overlay(rows);
  for (const action of actions) runExact(domain, done, action);
  return { ...stored, noop: done.changes().length === 0 };
}

function scenarioOf({ name, tasks }: BenchmarkDefinition, task: BenchmarkTask): UserScenario {
  const history = tasks.history?.(task) ?? [];
  return {
    persona: 'on_request',
    identity: {},
    wishes: [],
    instruction: tasks.instruction(task),
    benchmark: name,
    ...(history.length > 0 && { history }),
  };
}

/** A task together with the reader of its benchmark. Null if the task has no criteria of a benchmark. */
function read({ benchmark: task, scenario }: Pick<Task, 'benchmark' | 'scenario'>) {
  const benchmark = findBenchmark(scenario.benchmark);
  return task && benchmark ? { task, tasks: benchmark.tasks } : null;
}

/** The task without the texts that the agent must say. MUA-RL trains on such tasks. */
export function withoutOutputs(task: Task): Task {
  const own = read(task);
  return own ? { ...task, benchmark: own.tasks.withoutOutputs(own.task) } : task;
}

/** The gold actions after each message of the user. */
export function goldTurns(task: Task): readonly (readonly ToolCall[])[] {
  const own = read(task);
  return own?.tasks.goldTurns?.(own.task) ?? [task.actions];
}

/** One line that says what the customer wants. */
export function wantOf(task: Task): string {
  const own = read(task);
  return (own && own.tasks.wants?.(own.task)) || task.scenario.instruction;
}

/** The texts that the agent must tell the customer. */
export function toldBy(task: Task): readonly string[] {
  const own = read(task);
  return own ? own.tasks.outputs(own.task) : [];
}

/** What the benchmark scores in addition to the database. Contains only the criteria that the task has. */
export function criteriaOf(task: Task): Record<string, unknown> {
  const own = read(task);
  const all = own ? own.tasks.criteria(own.task) : {};
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
}
