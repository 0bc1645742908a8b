/**
 * @file tau2-bench's criteria ENV_ASSERTION and ACTION: assertions about the final state, and actions that the agent or the
 * user must call.
 */
import type { ToolCall } from '../../records/task.ts';
import type { BenchmarkTask, EnvAssertion, EvaluationCriteria, GoldAction } from '../../records/benchmark-task.ts';
import type { Judgement, Played } from '../../environments/domain.ts';
import type { ExactDomain } from './types.ts';
import { equalJson } from '../../base/json.ts';
import type { Rows } from '../../environments/overlay.ts';

/**
 * Whether a call is the gold action. Quirks: the requestor is not compared. Without `compare_args`, the arguments of the call
 * are compared, not those of the gold action: an additional argument in the call is a mismatch, a missing argument is not. If
 * there are no arguments to compare, the call matches.
 */
export function actionMatches({ name, arguments: gold, compare_args }: GoldAction, call: ToolCall): boolean {
  if (name !== call.name) return false;
  const compared = compare_args ?? Object.keys(call.arguments);
  return compared.every((key) =>
    equalJson(Object.hasOwn(gold, key) ? gold[key] : undefined, Object.hasOwn(call.arguments, key) ? call.arguments[key] : undefined),
  );
}

/** @throws if the assertion cannot be evaluated */
export function assertionHolds(
  domain: ExactDomain,
  rows: Rows,
  { env_type, func_name, arguments: args, assert_value = true }: EnvAssertion,
): boolean {
  return domain.assertion(rows, env_type, func_name, args) === assert_value;
}

/** Scores the criteria ENV_ASSERTION and ACTION, if the task's `reward_basis` contains them. */
export function judgeByCriteria(
  domain: ExactDomain,
  { evaluation_criteria }: BenchmarkTask & { evaluation_criteria?: EvaluationCriteria | null },
  { rows, calls }: Pick<Played, 'rows' | 'calls'>,
): Judgement {
  const { reward_basis = [], env_assertions, actions } = evaluation_criteria ?? {};
  const asserted = (env_assertions ?? []).map((assertion) => ({ env_assertion: assertion, met: assertionHolds(domain, rows, assertion) }));
  const demanded = (actions ?? []).map((action) => ({ action, action_match: calls.some(({ call }) => actionMatches(action, call)) }));
  const parts = { ENV_ASSERTION: asserted.map(({ met }) => met), ACTION: demanded.map(({ action_match }) => action_match) };
  const counted = (['ENV_ASSERTION', 'ACTION'] as const).filter((type) => reward_basis.includes(type));
  const checks = counted.flatMap((type) => parts[type]);
  const met = checks.filter(Boolean).length;
  const reward = met === checks.length ? 1 : 0;
  return {
    reward,
    progress: checks.length ? met / checks.length : 1,
    reward_info: {
      reward,
      db_check: null,
      env_assertions: asserted.map((check) => ({ ...check, reward: Number(check.met) })),
      action_checks: demanded.map((check) => ({ ...check, action_reward: Number(check.action_match) })),
      nl_assertions: null,
      communicate_checks: null,
      reward_basis,
      reward_breakdown: Object.fromEntries(counted.map((type) => [type, Number(parts[type].every(Boolean))])),
      info: null,
    },
  };
}
