/** @file Which tool calls broke a rule of the policy. */
import type { Violation } from '../../environments/types.ts';
import { VIOLATION_LABELS } from './format.ts';

/** What is said of each call that broke a rule, by the call's index. */
export function brokenCalls(violations: readonly Pick<Violation, 'rule' | 'call'>[]): ReadonlyMap<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { rule, call } of violations) {
    const said = found.get(call) ?? [];
    if (!said.includes(VIOLATION_LABELS[rule])) found.set(call, [...said, VIOLATION_LABELS[rule]]);
  }
  return found;
}
