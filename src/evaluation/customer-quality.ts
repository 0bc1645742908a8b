/** @file How often simulated customers do something wrong, and how often that can have cost the agent its reward. */
import { customerName } from '../base/customer-name.ts';
import { path } from '../base/message-path.ts';
import { equalJson } from '../base/json.ts';
import { wilson } from '../base/wilson.ts';
import type { Interval, TrialResult } from '../records/evaluation.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { CustomerFault, CustomerFaultKind, UserConfig } from '../records/user.ts';

export interface CustomerQuality {
  /** Audited conversations. */
  episodes: number;
  /** Audited conversations in which a model judged what rules cannot check. */
  judged: number;
  /** Conversations with at least one fault. */
  faulty: number;
  /** `faulty / episodes` with Wilson's 95 % interval. Null without conversations. */
  rate: Interval | null;
  /** The number of conversations with each fault. */
  kinds: Partial<Record<CustomerFaultKind, number>>;
  /** Conversations with reward 0. */
  wrong: number;
  /** Conversations with reward 0 and a fault before their decisive event. */
  denied: number;
  /** `denied / wrong` with Wilson's 95 % interval. Null if no conversation has reward 0. */
  deniedRate: Interval | null;
}

/** What the audit says about one conversation. */
type Audited = Pick<TrialResult, 'reward' | 'judged' | 'denied'> & Partial<Pick<TrialResult, 'faults'>>;

/** The quality of the customers of these conversations. */
export function customerQuality(conversations: readonly Audited[]): CustomerQuality {
  // A conversation without an audit says nothing of its customer.
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

/** The quality of each simulator, in the order of its first conversation. */
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
 * Whether a fault of the customer can have cost the agent its reward: the reward is 0, and a fault is not later than the decisive
 * event. That is the first call whose change is wrong in the end; without such a change something is missing, and the end decides.
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
