/** @file Figures of a scorecard: shares with intervals over customers, and means. */
import { groupBy } from '../base/group-by.ts';
import type { TrialResult } from '../records/evaluation.ts';
import type { Figure, Measured, TrialCard } from '../records/scorecard.ts';
import { type Cluster, shareInterval } from './intervals.ts';
import { mean } from './pass-hat.ts';

/** A trial that was stored with its card. */
export type CardedTrial = TrialResult & { card: TrialCard };

export const NOTHING = 'No conversation was played to its end.';

type OfCustomer = Pick<TrialResult, 'customer' | 'task'>;

/** The share Σ sum / Σ of with its interval over customers. Null without parts. @param unit what `of` counts */
export function shareWithin<T extends OfCustomer>(trials: readonly T[], unit: string, parts: (trial: T) => Cluster): Measured | null {
  const total = (own: readonly T[]) =>
    own.map(parts).reduce<Cluster>((all, { sum, of }) => ({ sum: all.sum + sum, of: all.of + of }), { sum: 0, of: 0 });
  const customers = [...groupBy(trials, ({ customer, task }) => customer ?? task).values()];
  const interval = shareInterval(customers.map(total));
  const { sum: count, of } = total(trials);
  return interval && { ...interval, count, of, unit };
}

/** The share of the trials for which `is` holds. */
export const shareOf = <T extends OfCustomer>(trials: readonly T[], unit: string, is: (trial: T) => boolean): Figure =>
  shareWithin(trials, unit, (trial) => ({ sum: Number(is(trial)), of: 1 })) ?? { na: NOTHING };

/** The mean over conversations, with the total. */
export function meanOf<T>(conversations: readonly T[], number: (one: T) => number): Figure {
  const values = conversations.map(number);
  const count = values.reduce((sum, value) => sum + value, 0);
  return values.length > 0 ? { value: mean(values), count, of: values.length, unit: 'conversations' } : { na: NOTHING };
}
