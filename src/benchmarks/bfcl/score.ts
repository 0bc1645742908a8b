/** @file The score of BFCL Multi Turn. */
import type { BenchmarkScore, ScoredGroups } from '../definition.ts';
import { CATEGORIES } from './source-files.ts';

/** The plain mean of the accuracies of the four categories. Null if a category was not played. */
export function multiTurn(groups: ScoredGroups): BenchmarkScore | null {
  const accuracies = CATEGORIES.flatMap((category) => (groups[category] ? [groups[category].pass_hat_1] : []));
  if (accuracies.length < CATEGORIES.length) return null;
  return { name: 'Multi Turn', value: accuracies.reduce((sum, value) => sum + value, 0) / accuracies.length };
}
