/** @file The page's labels for stored values: statuses, endings, violations and wishes. */
import { isAudited } from '../../domains/registry.ts';
import type { RewardTerm } from '../../records/rewards.ts';
import type { TrialResult } from '../../records/evaluation.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { RunStatus } from '../../records/run.ts';
import { isForeign, type Split, type Violation } from '../../records/task.ts';
import type { TerminationReason, Trajectory } from '../../records/trajectory.ts';
import type { CustomerFaultKind } from '../../records/user.ts';

/** The label of a wish: `modify_items+cancel (impossible)` becomes `modify items + cancel (impossible)`. */
export const intent = (name: string) => name.replaceAll('_', ' ').replaceAll('+', ' + ');

/** Where the tasks of an evaluation come from. */
export const SPLIT_LABELS: Record<Split, string> = { train: 'training', heldout: 'held-out', unseen: 'unseen', attacks: 'attacks' };

export const STATUS_LABELS: Record<RunStatus, string> = {
  starting: 'Starting',
  running: 'Training',
  paused: 'Paused',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

export const TERMINATION_LABELS: Record<TerminationReason, string> = {
  user_stop: 'the customer ended it',
  terminal_tool: 'transferred to a human',
  agent_stop: 'the agent ended it',
  max_turns: 'too many turns',
  turn_length: 'a turn was too long',
  malformed_call: 'malformed tool call',
  context_full: 'context full',
  user_error: 'the customer failed',
  agent_error: 'the agent’s model failed',
  tool_error: 'a simulated tool failed',
  aborted: 'aborted',
  unknown: 'not recorded',
};

/** Why a conversation ended. If its benchmark has a term for the ending, the text has this term too. Another tool's term stands alone. */
export function endingText({
  termination,
  ending,
  task,
  foreign,
}: Pick<Trajectory, 'termination' | 'ending' | 'foreign'> & { task?: Trajectory['task'] | string }): string {
  if (foreign) return ending ?? TERMINATION_LABELS[termination];
  const benchmark = typeof task === 'object' ? task.scenario.benchmark : undefined;
  return `${TERMINATION_LABELS[termination]}${ending ? ` (${benchmark}: ${ending})` : ''}`;
}

/** A rule of success for people: `reward>=1` becomes `reward ≥ 1`. */
export const ruleLabel = (rule: string): string => rule.replace(/>=|<=|[<>=]/, (sign) => ` ${{ '>=': '≥', '<=': '≤' }[sign] ?? sign} `);

/** What the advantage of a rollout is. If its tokens have different advantages, it is their mean. */
export function advantageName(trajectory: Pick<Trajectory, 'nodes'> | undefined): string {
  const stored = trajectory?.nodes.flatMap(({ annotations }) => annotations?.advantage?.filter((value) => value !== null) ?? []);
  return new Set(stored).size > 1 ? 'Mean advantage' : 'Advantage';
}

/** Says why a rollout has no advantage. */
export const noAdvantage = (trajectory: Pick<Trajectory, 'task'> | undefined): string =>
  trajectory && isForeign(trajectory.task) ? 'not recorded' : 'not scored yet';

export const VIOLATION_LABELS: Record<Violation['rule'], string> = {
  not_authenticated: 'acted before knowing the customer',
  other_customer: 'touched another customer’s data',
  unconfirmed_write: 'changed data without asking',
};

export const FAULT_LABELS: Record<CustomerFaultKind, string> = {
  ended_too_early: 'left too early',
  never_ended: 'did not leave',
  invented_fact: 'invented a fact',
  contradicted: 'contradicted its scenario',
  told_everything: 'told everything at once',
  spoke_as_agent: 'spoke as the agent',
  leaked_instruction: 'revealed its instruction',
  empty_answer: 'gave an empty answer',
  cut_answer: 'gave an incomplete answer',
};

export const REWARD_LABELS: Record<RewardTerm, string> = {
  outcome: 'outcome',
  partial: 'partial credit',
  turn: 'turns',
  format: 'format',
  tool_match: 'tool match',
  judge: 'judge',
  unconfirmed_write: 'writes without a yes',
  length: 'length',
  handover: 'needless transfer',
};

/** The label of a term of the reward. The terms of other tools keep their names. */
export const rewardLabel = (term: string): string => (Object.hasOwn(REWARD_LABELS, term) ? REWARD_LABELS[term as RewardTerm] : term);

export { isAudited };

/** The text for a conversation without violations. */
export const noViolations = (domain: string): string =>
  isAudited(domain) ? 'No rule was broken.' : 'Not audited: the rules of this domain are not checked.';

/** The facts of a conversation, from a summary, a trial or a whole conversation. A trial's domain is the beginning of its task's id. */
export type Audited =
  | Pick<RolloutSummary, 'domain' | 'task' | 'violations' | 'foreign'>
  | Pick<TrialResult, 'task' | 'violations'>
  | Pick<Trajectory, 'task' | 'violations' | 'foreign'>;

/** The number of violations; null if the rules of the domain are not checked. */
export function violationCount(of: Audited): number | null {
  const domain = typeof of.task === 'object' ? of.task.domain : 'domain' in of ? of.domain : of.task.split('/')[0]!;
  if (!isAudited(domain)) return null;
  return typeof of.violations === 'number' ? of.violations : of.violations.length;
}

/** The name of a tool call, by its index in the log of the conversation. Calls count from 1. */
export const callName = (index: number): string => `call ${index + 1}`;

/** For the index of each tool call: the labels of the rules that the call broke. */
export function brokenCalls(violations: readonly Pick<Violation, 'rule' | 'call'>[]): ReadonlyMap<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { rule, call } of violations) {
    const said = found.get(call) ?? [];
    if (!said.includes(VIOLATION_LABELS[rule])) found.set(call, [...said, VIOLATION_LABELS[rule]]);
  }
  return found;
}
