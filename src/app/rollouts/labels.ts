/** @file The labels of filters and of their values. An unknown value is shown as it is. */
import { intent, TERMINATION_LABELS, VIOLATION_LABELS } from '../labels/labels.ts';
import type { Facet } from '../run-data/rollout-filter.ts';

export const FACET_TITLES: Record<Facet, string> = {
  reward: 'Outcome',
  end: 'Ended',
  violation: 'Violation',
  tool: 'Tool used',
  intent: 'Wish',
  domain: 'Domain',
  column: 'Column',
};

/** The titles for a run that another tool recorded. */
export const FOREIGN_FACET_TITLES: Record<Facet, string> = { ...FACET_TITLES, reward: 'Success', intent: 'Task' };

const REWARDS: Record<string, string> = { '1': 'correct', '0': 'wrong', null: 'not scored' };
const FOREIGN_REWARDS: Record<string, string> = { '1': 'success', '0': 'no success', null: 'success not known' };

/** @param foreign true if another tool recorded the run */
export function valueLabel(facet: Facet, value: string, foreign = false): string {
  const labels: Record<string, string> =
    { reward: foreign ? FOREIGN_REWARDS : REWARDS, end: TERMINATION_LABELS, violation: VIOLATION_LABELS }[facet as string] ?? {};
  if (Object.hasOwn(labels, value)) return labels[value]!;
  return facet === 'intent' && !foreign ? intent(value) || 'no wish named' : value;
}
