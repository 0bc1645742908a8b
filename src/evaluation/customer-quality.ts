/** @file Measures how often simulated customers do something wrong, and how often this may have cost the agent its reward. */
import { customerName } from '../base/customer-name.ts';
import { path } from '../base/message-path.ts';
import { equalJson } from '../base/json.ts';
import { wilson } from '../base/wilson.ts';
import type { Interval, TrialResult } from '../records/evaluation.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { CustomerFault, CustomerFaultKind, UserConfig } from '../records/user.ts';

export interface CustomerQuality {
  /** The number of audited conversations. */
  episodes: number;
  /** The number of audited conversations in which a model judged what rules cannot check. */
  judged: number;
  /** The number of conversations with at least one mistake of the customer. */
  faulty: number;
  /** `faulty / episodes` with Wilson's 95 % interval. Null if there are no conversations. */
  rate: Interval | null;
  /** The number of conversations with each kind of mistake. */
  kinds: Partial<Record<CustomerFaultKind, number>>;
  /** The number of conversations with reward 0. */
  wrong: number;
  /** The number of conversations with reward 0 in which the customer makes a mistake before the decisive event. */
  denied: number;
  /** `denied / wrong` with Wilson's 95 % interval. Null if no conversation has reward 0. */
  deniedRate: Interval | null;
}

/** The results of the audit of one conversation. */
type Audited = Pick<TrialResult, 'reward' | 'judged' | 'denied'> & Partial<Pick<TrialResult, 'faults'>>;

/** Computes the quality of the customers in these conversations. */
export function customerQuality(conversations: readonly Audited[]): CustomerQuality {
  // Skip conversations without an audit, because they show nothing about their customer.
  const results = conversations.flatMap(({ faults, ...rest }) => (faults ? [{ ...rest, faults }] : []));
  const faulty = results.filter(({ faults }) => faults.length > 0);
  const wrong = results.filter(({ reward }) => reward === 0);
  const denied = wrong.filter((result) => result.denied).length;
  const kinds: CustomerQuality['kinds'] = {};
  for (const kind of faulty.flatMap(({ faults }) => [...new Set(faults)])) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return {
    episodes: results.length,
    judged: results.filter(({ judged }) => judged).length,
    faulty: faulty.length,
    rate: share(faulty.length, results.length),
    kinds,
    wrong: wrong.length,
    denied,
    deniedRate: share(denied, wrong.length),
  };
}

function share(count: number, of: number): Interval | null {
  const interval = wilson(count, of);
  return interval && { value: count / of, ...interval };
}

/** The quality of each simulator. The simulators are in the order of their first conversations. */
export function qualityBySimulator(
  rows: readonly { settings: { user: UserConfig }; results: readonly Audited[] }[],
): { simulator: string; quality: CustomerQuality }[] {
  const results = new Map<string, Audited[]>();
  for (const row of rows) {
    const { user } = row.settings;
    const simulator = user.mode === 'scripted' ? 'Scripted customer' : customerName(user);
    results.set(simulator, [...(results.get(simulator) ?? []), ...row.results]);
  }
  return [...results]
    .map(([simulator, own]) => ({ simulator, quality: customerQuality(own) }))
    .filter(({ quality }) => quality.episodes > 0);
}

/**
 * Whether a mistake of the customer may have cost the agent its reward. This is so if the reward is 0 and a mistake is not
 * later than the decisive event. The decisive event is the first call whose change is still wrong at the end. If no call made
 * such a change, a change is missing, and the decisive event is the end of the conversation.
 */
export function isRewardDenied(
  trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'reward' | 'verdict'>,
  faults: readonly CustomerFault[],
): boolean {
  const { reward, verdict } = trajectory;
  if (reward !== 0 || faults.length === 0) return false;
  const { changes = [], goal = [] } = verdict ?? {};
  const wrong = changes.filter(
    ({ table, key, after }) => !goal.some((row) => row.table === table && row.key === key && equalJson(row.after, after)),
  );
  if (wrong.length === 0) return true;
  const call = Math.min(...wrong.map((change) => change.call));
  const messages = path(trajectory);
  const decisive = messages.findIndex(({ toolResult }) => toolResult?.index === call);
  return decisive < 0 || faults.some(({ message }) => messages.findIndex(({ id }) => id === message) < decisive);
}
