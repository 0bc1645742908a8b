/** @file The conditions of the reliability card: the same tasks with other words, with faults of tools, or with another layout. */
import { reworderOf } from '../domains/registry.ts';
import type { Domain, Environments } from '../environments/types.ts';
import type { Perturbation } from '../records/reliability.ts';
import { type Task, type ToolSchema, toolsOf } from '../records/task.ts';
import { relaidPrompt } from './relaid-prompt.ts';
import { reversedFields } from './reversed-fields.ts';

/** Between a task's id and the name of its condition. Ids of generated tasks do not have it. */
const MARK = '~';

/** The id of the task under plain conditions. */
export const plainTask = (id: string): string => id.split(MARK)[0]!;

/** About a fifth of the calls, as in arXiv 2602.16666: every tenth fails at once, and every fifth of calls 0, 2, 4, … times out. */
const FAULTS = { outages: 0.1, stale_reads: 0, timeouts: 0.2 };

/**
 * The tasks under another condition. Each keeps its customer, wishes and goal. Its id is marked, because tasks with equal ids are equal.
 * Null if the condition changes none of the tasks, for example if no prompt can be laid out otherwise.
 * @throws if the domain has no other words for its customers
 */
export async function perturbed(kind: Perturbation, tasks: readonly Task[], domain: Domain): Promise<Task[] | null> {
  const change = await changeOf(kind, domain);
  const changed = tasks.map((task, i) => ({ ...change(task, i), id: task.id + MARK + kind }));
  const prompt = (task: Task) => JSON.stringify([toolsOf(task, domain), task.policy ?? domain.policy]);
  if (kind === 'prompt' && changed.every((task, i) => prompt(task) === prompt(tasks[i]!))) return null;
  return changed;
}

async function changeOf(kind: Perturbation, domain: Domain): Promise<(task: Task, index: number) => Task> {
  const [tools, policy] = [(task: Task) => toolsOf(task, domain), (task: Task) => task.policy ?? domain.policy];
  switch (kind) {
    case 'customers': {
      const reworded = await reworderOf(domain.name);
      if (!reworded) throw new Error(`the customers of ${domain.name} have no other words`);
      return (task) => ({ ...task, scenario: reworded(task.scenario) });
    }
    case 'faults':
      return (task) => ({ ...task, faults: FAULTS });
    case 'environment':
      return (task) => ({ ...task, tools: tools(task).map(reversedParameters).reverse() });
    case 'prompt':
      return (task, index) => ({ ...task, ...relaidPrompt({ policy: policy(task), tools: tools(task) }, index) });
  }
}

function reversedParameters({ function: { parameters, ...rest }, ...tool }: ToolSchema): ToolSchema {
  const properties = Object.fromEntries(Object.entries(parameters.properties).reverse());
  return { ...tool, function: { ...rest, parameters: { ...parameters, properties } } };
}

/** The environments of a condition. In `environment`, the fields of JSON objects in results are in reverse order. */
export function perturbedWorld(kind: Perturbation | undefined, environments: Environments): Environments {
  if (kind !== 'environment') return environments;
  return {
    // The environments may be those of another worker, whose methods cannot be copied.
    domain: (...given) => environments.domain(...given),
    tasks: (...given) => environments.tasks(...given),
    start: (...given) => environments.start(...given),
    turn: async (...given) => (await environments.turn?.(...given)) ?? null,
    verify: (...given) => environments.verify(...given),
    close: (...given) => environments.close(...given),
    call: async (...given) => {
      const result = await environments.call(...given);
      return { ...result, text: reversedFields(result.text) };
    },
  };
}
