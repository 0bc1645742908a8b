/** @file tau2-bench's criteria that the final state and the calls decide: assertions about the environment, actions to be made. */
import type { Tau2Task } from './benchmark-task.ts';
import type { Played } from './domain.ts';
import type { ExactDomain } from './exact.ts';
import { equalJson } from './json.ts';
import type { Verdict } from './types.ts';

/** Scores by what a task's `reward_basis` names of ENV_ASSERTION and ACTION. */
export function judgeByCriteria(domain: ExactDomain, { evaluation_criteria }: Pick<Tau2Task, 'evaluation_criteria'>, { rows, calls }: Pick<Played, 'rows' | 'calls'>): Pick<Verdict, 'reward' | 'progress'> {
  const { reward_basis = [], env_assertions, actions } = evaluation_criteria ?? {};
  const asserted = reward_basis.includes('ENV_ASSERTION') ? (env_assertions ?? []) : [];
  const demanded = reward_basis.includes('ACTION') ? (actions ?? []) : [];
  const checks = [
    ...asserted.map(({ env_type, func_name, arguments: args, assert_value = true }) => domain.assertion(rows, env_type, func_name, args) === assert_value),
    // Quirk: without `compare_args` it is the arguments of the call made that are compared.
    ...demanded.map(({ name, arguments: gold, compare_args }) => calls.some(({ call }) => call.name === name && (compare_args ?? Object.keys(call.arguments)).every((key) => equalJson(gold[key], call.arguments[key])))),
  ];
  const met = checks.filter(Boolean).length;
  return { reward: met === checks.length ? 1 : 0, progress: checks.length ? met / checks.length : 1 };
}
