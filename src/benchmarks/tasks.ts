/** @file Tasks of a benchmark in the form of the environments and the users. */
import type { Benchmark, BenchmarkTask } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { Task, ToolCall, UserScenario } from '../records/task.ts';
import { initialStateOf } from '../environments/domain.ts';
import { runExact } from '../domains/exact/run.ts';
import type { ExactDomain } from '../domains/exact/types.ts';
import { Overlay, type World } from '../environments/overlay.ts';
import { IMPORTED_LEVEL, importedName } from './imported-benchmark.ts';

/** An imported task in the form of the environments. Runs the gold actions to find out whether the task changes anything. */
export function storeTask(exact: ExactDomain, task: BenchmarkTask, { split, world }: { split: string; world: World }): Task {
  const domain = importedName(exact.benchmark, exact.name);
  const actions = goldOf(task);
  const stored: Task = {
    id: `${domain}/${IMPORTED_LEVEL}/${split}/${task.id}`,
    domain,
    level: IMPORTED_LEVEL,
    split,
    world: world.id,
    scenario: scenarioOf(exact.benchmark, task),
    actions,
    noop: false,
    benchmark: task,
  };
  const rows = new Overlay(world);
  exact.initialize(rows, initialStateOf(stored) ?? {});
  const done = new Overlay(rows);
  for (const action of actions) runExact(exact, done, action);
  return { ...stored, noop: done.changes().length === 0 };
}

function goldOf(task: BenchmarkTask): ToolCall[] {
  if ('instruction' in task) return task.actions.map(({ name, kwargs }) => ({ name, arguments: kwargs }));
  return (task.evaluation_criteria?.actions ?? []).map(({ name, arguments: args, requestor }) => ({
    name,
    arguments: args,
    ...(requestor && { requestor }),
  }));
}

function scenarioOf(benchmark: Benchmark, task: BenchmarkTask): UserScenario {
  const instruction =
    'instruction' in task
      ? task.instruction
      : [task.user_scenario.persona, inWords(task.user_scenario.instructions)].filter(Boolean).join('\n\n');
  const history = 'initial_state' in task ? task.initial_state?.message_history : null;
  return { persona: 'on_request', identity: {}, wishes: [], instruction, benchmark, ...(history?.length && { history }) };
}

/** tau2's instructions as one text. They are a text already, or fields with texts. */
function inWords(instructions: Json): string {
  if (typeof instructions === 'string') return instructions;
  const fields = Object.entries((instructions ?? {}) as Record<string, Json>).filter(
    ([name, value]) => value !== null && name !== 'domain',
  );
  return fields
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

/** The task without texts that the agent must say. MUA-RL trains on such tasks. */
export function withoutOutputs<T extends { benchmark?: BenchmarkTask }>(task: T): T {
  const { benchmark } = task;
  if (!benchmark) return task;
  if ('instruction' in benchmark) return { ...task, benchmark: { ...benchmark, outputs: [] } };
  const { evaluation_criteria } = benchmark;
  return evaluation_criteria
    ? { ...task, benchmark: { ...benchmark, evaluation_criteria: { ...evaluation_criteria, communicate_info: [] } } }
    : task;
}
