/** @file tau2-bench's criteria that the final state and the calls decide: assertions about the environment, actions to be made. */
import type { EnvAssertion, Tau2Action, Tau2Task } from './benchmark-task.ts';
import type { Played } from './domain.ts';
import type { ExactCall, ExactDomain } from './exact.ts';
import { equalJson } from './json.ts';
import type { Rows } from './overlay.ts';
import type { Verdict } from './types.ts';

/**
 * Quirks: the requestor is not compared, and without `compare_args` the arguments of the call made are looked at, not those
 * of the gold action: an argument too many fails, one too few passes. No arguments to compare always match.
 */
export function actionMatches({ name, arguments: gold, compare_args }: Tau2Action, call: ExactCall): boolean {
  if (name !== call.name) return false;
  const compared = compare_args ?? Object.keys(call.arguments);
  return compared.every((key) => equalJson(Object.hasOwn(gold, key) ? gold[key] : undefined, Object.hasOwn(call.arguments, key) ? call.arguments[key] : undefined));
}

/** @throws where the assertion can't be evaluated */
export function assertionHolds(domain: ExactDomain, rows: Rows, { env_type, func_name, arguments: args, assert_value = true }: EnvAssertion): boolean {
  return domain.assertion(rows, env_type, func_name, args) === assert_value;
}

/** Scores by what a task's `reward_basis` names of ENV_ASSERTION and ACTION. */
export function judgeByCriteria(domain: ExactDomain, { evaluation_criteria }: Pick<Tau2Task, 'evaluation_criteria'>, { rows, calls }: Pick<Played, 'rows' | 'calls'>): Pick<Verdict, 'reward' | 'progress'> {
  const { reward_basis = [], env_assertions, actions } = evaluation_criteria ?? {};
  const asserted = reward_basis.includes('ENV_ASSERTION') ? (env_assertions ?? []) : [];
  const demanded = reward_basis.includes('ACTION') ? (actions ?? []) : [];
  const checks = [
    ...asserted.map((assertion) => assertionHolds(domain, rows, assertion)),
    ...demanded.map((action) => calls.some(({ call }) => actionMatches(action, call))),
  ];
  const met = checks.filter(Boolean).length;
  return { reward: met === checks.length ? 1 : 0, progress: checks.length ? met / checks.length : 1 };
}
