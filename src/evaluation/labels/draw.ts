/** @file Which conversations of an evaluation a person labels. */
import { apportion } from '../../base/apportion.ts';
import { groupBy } from '../../base/group-by.ts';
import { permutation } from '../../base/random.ts';
import type { TrialResult } from '../../records/evaluation.ts';

/** How many conversations are drawn. */
export const DRAWN = 100;

/** Endings of conversations that failed for technical reasons. */
const FAILED: readonly TrialResult['termination'][] = ['user_error', 'agent_error', 'tool_error', 'aborted'];

/**
 * The ids of conversations, in a random order that depends on the seed only. Each outcome has the same share as in the evaluation, so
 * that the draw says how often the judge agrees in the evaluation. Conversations that failed for technical reasons are left out.
 */
export function draw(results: readonly TrialResult[], seed: number, count = DRAWN): string[] {
  const all = results.filter(({ termination }) => !FAILED.includes(termination));
  const shuffled = permutation(all.length, seed, 0).map((i) => all[i]!);
  const groups = [...groupBy(shuffled, ({ reward }) => reward)].sort(([a], [b]) => Number(a ?? -1) - Number(b ?? -1));
  const sizes = apportion(
    groups.map(([, own]) => own.length),
    count,
  );
  const chosen = new Set(groups.flatMap(([, own], i) => own.slice(0, sizes[i])));
  return shuffled.filter((result) => chosen.has(result)).map(({ id }) => id);
}
