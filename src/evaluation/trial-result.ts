/** @file A short summary of an episode, for lists and paired comparisons. */
import { isObject } from '../base/json.ts';
import { writesOf } from '../agent/trajectory.ts';
import { callsOf } from '../base/message-path.ts';
import { auditOf } from '../domains/customer-audit.ts';
import { languageOf } from '../domains/languages.ts';
import { isAudited } from '../domains/registry.ts';
import { TIMEOUT } from '../environments/faults.ts';
import type { Json } from '../records/json.ts';
import type { TrialResult } from '../records/evaluation.ts';
import { isForeign, type Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { usageOf } from '../users/account.ts';
import { hearable } from '../users/hearable.ts';
import { isRewardDenied } from './customer-quality.ts';

/**
 * A short text for the wishes of a task, for example `cancel+return` or `cancel (impossible)`. For a generated task without wishes, what
 * its customer reports, or the kind of an attack. For a task of another tool, its name.
 */
export function intentOf(task: Task): string {
  if (isForeign(task)) return task.id;
  const { intent } = (task.benchmark ?? {}) as { intent?: Json };
  if (typeof intent === 'string') return intent;
  const attack = task.scenario.facts?.attack;
  if (isObject(attack) && typeof attack.kind === 'string') return attack.kind;
  return task.scenario.wishes.map((wish) => (wish.impossible ? `${wish.intent} (impossible)` : wish.intent)).join('+');
}

/**
 * The key of the task's customer: the world and the facts that name the customer. Only some tasks of a customer state the email, so it
 * counts only if there is no other fact. Tasks of tau-bench v1 have a `user_id`. A task without such facts has a customer of its own.
 */
export function customerOf({ id, world, scenario, benchmark }: Task): string {
  const { user_id } = (benchmark ?? {}) as { user_id?: string };
  if (user_id !== undefined) return JSON.stringify([world, user_id]);
  const { email: _, ...others } = scenario.identity;
  const facts = Object.values(Object.keys(others).length > 0 ? others : scenario.identity);
  return facts.length > 0 ? JSON.stringify([world, ...facts]) : id;
}

/** What the model of an agent behind a server used in a trial. Null for other agents. */
export const agentUsage = ({ agentRequests = [] }: Pick<Trajectory, 'agentRequests'>) => usageOf(agentRequests);

/** Summarises a trial, with the audit of its customer. */
export function resultOf(trajectory: Trajectory): TrialResult {
  const { faults, judged } = auditOf(trajectory);
  const agent = agentUsage(trajectory);
  return {
    ...outcomeOf(trajectory),
    ...(agent && { agent }),
    customer: customerOf(trajectory.task),
    ...timeoutsOf(trajectory),
    ...offeredOf(trajectory),
    faults: faults.map(({ kind }) => kind),
    ...(judged && { judged: true }),
    ...(isRewardDenied(trajectory, faults) && { denied: true }),
  };
}

/** The part of the summary that a trial and a rollout of training have in common. */
export function outcomeOf(
  trajectory: Trajectory,
): Omit<TrialResult, 'customer' | 'agent' | 'timeouts' | 'offered' | 'faults' | 'judged' | 'denied' | 'card'> {
  const { id, task, index, reward, termination, turns, nodes, violations } = trajectory;
  const tokens = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  return {
    id,
    task: task.id,
    index,
    intent: intentOf(task),
    reward,
    termination,
    turns,
    tokens,
    violations: violations.map(({ rule }) => rule),
    writes: writesOf(trajectory),
  };
}

/** Counts the timeouts, and those after which the agent's next turn was a call. */
function timeoutsOf({ nodes }: Pick<Trajectory, 'nodes'>): Pick<TrialResult, 'timeouts'> {
  let [met, again] = [0, 0];
  for (const [i, { role, text }] of nodes.entries()) {
    if (role !== 'tool' || text !== TIMEOUT) continue;
    const next = nodes.slice(i + 1).find((node) => node.role === 'assistant');
    met += 1;
    again += Number(next !== undefined && callsOf(next).length > 0);
  }
  return met > 0 ? { timeouts: { met, again } } : {};
}

/** The share of timeouts after which the agent called again. Null if no call met a timeout. */
export function calledAgainShare(results: readonly TrialResult[]): number | null {
  const sum = (key: 'met' | 'again') => results.reduce((total, { timeouts }) => total + (timeouts?.[key] ?? 0), 0);
  return sum('met') === 0 ? null : sum('again') / sum('met');
}

function offeredOf({ task, nodes }: Trajectory): Pick<TrialResult, 'offered'> {
  const language = languageOf(task.domain);
  if (!language || task.scenario.persona !== 'reserved') return {};
  const heard = nodes.filter(({ role }) => role === 'assistant').map(({ text }) => language.listen(hearable(text)));
  return { offered: heard.some(({ claims, open }) => claims !== '' && open) };
}

/** The share of reserved customers whom the agent asked for more after a request. Null if no customer is reserved. */
export function offeredShare(results: readonly TrialResult[]): number | null {
  const reserved = results.filter(({ offered }) => offered !== undefined);
  return reserved.length === 0 ? null : reserved.filter(({ offered }) => offered).length / reserved.length;
}

/** The share of writes to which the customer said yes. Null if there are no writes, or if the domain has no audit. */
export function confirmedShare(results: readonly TrialResult[]): number | null {
  if (!results.every(({ task }) => isAudited(task.split('/')[0]!))) return null;
  const { confirmed, of } = confirmedWrites(results);
  return of === 0 ? null : confirmed / of;
}

/** `confirmed` is the number of writes to which the customer said yes. `of` is the number of all writes. */
export function confirmedWrites(results: readonly Pick<TrialResult, 'writes' | 'violations'>[]): { confirmed: number; of: number } {
  const of = results.reduce((sum, { writes }) => sum + writes, 0);
  const unasked = results.flatMap(({ violations }) => violations).filter((rule) => rule === 'unconfirmed_write').length;
  return { confirmed: of - unasked, of };
}
