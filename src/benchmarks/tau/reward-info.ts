/** @file The rewards of both benchmarks in the format of tau2-bench's `reward_info`, and the share of a task's criteria that are met. */
import type { Judgement } from '../../environments/domain.ts';
import type { RewardInfo, RewardType } from '../../records/benchmark-task.ts';
import type { Tau1Reward } from '../tau1/reward.ts';
import { DEFAULT_BASIS, type Tau2Reward } from '../tau2/reward.ts';
import type { Tau2Task } from '../tau2/task.ts';

const unless = <T>(list: readonly T[]): T[] | null => (list.length ? [...list] : null);
const communicated = (info: string, met: boolean) => ({
  info,
  met,
  justification: met ? 'found in what the agent said' : 'not found in what the agent said',
});

export function tau2RewardInfo(task: Tau2Task, scored: Tau2Reward): RewardInfo {
  const { db_match, env_assertions, action_checks, communicate_checks, nl_assertions, breakdown } = scored;
  const judged = nl_assertions.filter(({ met }) => met !== null);
  const unjudged = nl_assertions.filter(({ met }) => met === null).map(({ assertion }) => assertion);
  const parts = Object.entries(breakdown) as [RewardType, number | null][];
  return {
    // An assertion that was not judged counts as met.
    reward: scored.reward === 0 ? 0 : 1,
    db_check: { db_match, db_reward: Number(db_match) },
    env_assertions: unless(env_assertions.map(({ assertion, met }) => ({ env_assertion: assertion, met, reward: Number(met) }))),
    action_checks: unless(action_checks.map(({ action, match }) => ({ action, action_match: match, action_reward: Number(match) }))),
    nl_assertions: unless(judged.map(({ assertion, met }) => ({ nl_assertion: assertion, met: met === true, justification: 'judged' }))),
    communicate_checks: unless(communicate_checks.map(({ info, met }) => communicated(info, met))),
    reward_basis: [...(task.evaluation_criteria?.reward_basis ?? DEFAULT_BASIS)],
    reward_breakdown: Object.fromEntries(parts.filter(([, value]) => value !== null)),
    info: unjudged.length ? { unjudged_nl_assertions: unjudged } : null,
  };
}

export function tau1RewardInfo({ reward, r_actions, outputs }: Tau1Reward): RewardInfo {
  const said = Object.entries(outputs ?? {});
  return {
    reward,
    db_check: { db_match: r_actions, db_reward: Number(r_actions) },
    env_assertions: null,
    action_checks: null,
    nl_assertions: null,
    communicate_checks: unless(said.map(([info, met]) => communicated(info, met))),
    reward_basis: ['DB', 'COMMUNICATE'],
    reward_breakdown: { DB: Number(r_actions), COMMUNICATE: Number(said.every(([, met]) => met)) },
    info: null,
  };
}

/** Makes the judgement of an episode from its `reward_info`. */
export const judgementOf = (reward_info: RewardInfo): Judgement => ({
  reward: reward_info.reward === 0 ? 0 : 1,
  progress: shareOfCriteria(reward_info),
  reward_info,
});

/**
 * The share of the checks that are met, among the components of the reward basis. The database counts as one check. 1 if there
 * are no checks.
 */
export function shareOfCriteria({
  db_check,
  env_assertions,
  action_checks,
  communicate_checks,
  nl_assertions,
  reward_basis,
}: RewardInfo): number {
  const checks: Record<RewardType, boolean[]> = {
    DB: db_check ? [db_check.db_match] : [],
    ENV_ASSERTION: (env_assertions ?? []).map(({ met }) => met),
    ACTION: (action_checks ?? []).map(({ action_match }) => action_match),
    COMMUNICATE: (communicate_checks ?? []).map(({ met }) => met),
    NL_ASSERTION: (nl_assertions ?? []).map(({ met }) => met),
  };
  const counted = reward_basis.flatMap((type) => checks[type]);
  return counted.length ? counted.filter(Boolean).length / counted.length : 1;
}
