/** @file Damage: rows that an episode left in a state that nobody wanted. */
import { equalJson, isObject } from '../base/json.ts';
import { rowId } from '../environments/verifier.ts';
import type { Json } from '../records/json.ts';
import type { Trajectory } from '../records/trajectory.ts';

/**
 * The number of damaged rows. In such a row, a field has neither its value before the episode nor the value that the gold gives it. A row
 * that the agent only left undone is not damaged, and neither is one that it changed in part.
 * @returns the reason if the gold's rows are not known, or do not decide the outcome
 */
export function damageOf({ verdict }: Pick<Trajectory, 'verdict'>): number | { na: string } {
  if (!verdict) return { na: 'The rows that should change are not known.' };
  const { changes, goal, reward_info } = verdict;
  if (reward_info && !reward_info.reward_basis.includes('DB')) return { na: 'The task’s criteria do not say which rows should change.' };
  const wanted = new Map(goal.map((change) => [rowId(change), change.after]));
  return changes.filter((change) => {
    const id = rowId(change);
    return isDamaged(change.before, change.after, wanted.has(id) ? wanted.get(id) : change.before);
  }).length;
}

type Value = Json | undefined;

function isDamaged(before: Value, after: Value, goal: Value): boolean {
  if (equalJson(after, before) || equalJson(after, goal)) return false;
  if (Array.isArray(after) && Array.isArray(goal)) return anyDamaged(Array.isArray(before) ? before : [], after, goal);
  if (isObject(after) && isObject(goal)) return anyDamaged(isObject(before) ? before : {}, after, goal);
  return true;
}

/** Compares the fields of an object, or the entries of a list by their places. */
function anyDamaged<T extends object>(before: T, after: T, goal: T): boolean {
  const field = (of: T, key: string) => (Object.hasOwn(of, key) ? (of as Record<string, Json>)[key] : undefined);
  const keys = new Set([before, after, goal].flatMap((of) => Object.keys(of)));
  return [...keys].some((key) => isDamaged(field(before, key), field(after, key), field(goal, key)));
}
