/** @file A task of tau2-bench, and its reader. */
import type { EvaluationCriteria, InitialState } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { TaskReader } from '../definition.ts';

export interface Tau2Task {
  id: string;
  description?: Json;
  user_scenario: { persona?: string | null; instructions: Json };
  ticket?: string | null;
  initial_state?: InitialState | null;
  evaluation_criteria?: EvaluationCriteria | null;
}

export const tau2TaskReader: TaskReader<Tau2Task> = {
  gold: ({ evaluation_criteria }) =>
    (evaluation_criteria?.actions ?? []).map(({ name, arguments: args, requestor }) => ({
      name,
      arguments: args,
      ...(requestor && { requestor }),
    })),
  instruction: ({ user_scenario: { persona, instructions } }) => [persona, inWords(instructions)].filter(Boolean).join('\n\n'),
  wants({ user_scenario: { instructions } }) {
    const reason =
      instructions !== null && typeof instructions === 'object' && !Array.isArray(instructions)
        ? instructions.reason_for_call
        : instructions;
    return typeof reason === 'string' ? reason : null;
  },
  history: ({ initial_state }) => initial_state?.message_history ?? [],
  outputs: ({ evaluation_criteria }) => evaluation_criteria?.communicate_info ?? [],
  withoutOutputs: (task) =>
    task.evaluation_criteria ? { ...task, evaluation_criteria: { ...task.evaluation_criteria, communicate_info: [] } } : task,
  criteria({ evaluation_criteria }) {
    const { actions: _, ...rest } = evaluation_criteria ?? {};
    return rest as Record<string, Json>;
  },
};

/** Converts the instructions to one text. They are already a text, or an object whose fields are texts. */
function inWords(instructions: Json): string {
  if (typeof instructions === 'string') return instructions;
  const fields = Object.entries((instructions ?? {}) as Record<string, Json>).filter(
    ([name, value]) => value !== null && name !== 'domain',
  );
  return fields
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}
