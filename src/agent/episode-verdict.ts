/** @file The verdict at the end of an episode. The environment gives it, with the help of judgements by the user's model. */
import { unjudgedAssertions } from '../environments/unjudged.ts';
import type { Environments } from '../environments/types.ts';
import type { Verdict } from '../records/task.ts';
import type { MessageNode } from '../records/trajectory.ts';
import type { CustomerJudgement } from '../records/user.ts';
import { judgeCustomer } from '../users/audit-judge.ts';
import type { Utterance } from '../users/types.ts';
import type { EpisodeLog } from './episode-log.ts';
import { withoutEnd } from './tool-call.ts';
import { checkAbort, Unscored } from './unscored.ts';
import type { UserOptions } from './user-turn.ts';

/**
 * Gets the verdict of an episode. The user's model judges the assertions that need a reader of the conversation (tau2-bench's
 * NL_ASSERTION).
 * @param handle the environment's id of the episode
 * @param proper whether the user or a terminal tool ended the episode; other endings need no judge
 * @throws Unscored if the user's model fails
 */
export async function verifyEpisode(
  { environments, signal, users }: Pick<UserOptions, 'signal' | 'users'> & { environments: Environments },
  handle: string,
  log: EpisodeLog,
  nodes: readonly MessageNode[],
  proper: boolean,
): Promise<Verdict> {
  const verdict = await environments.verify(handle, log.said);
  const open = unjudgedAssertions(verdict.reward_info);
  if (open.length === 0 || !users.judge || !proper) return verdict;
  const met = await log
    .time('user', () => users.judge!(open, conversationOf(nodes), signal))
    .catch((cause: unknown) => {
      checkAbort(signal);
      throw Unscored.after(cause, 'user_error');
    });
  return met ? environments.verify(handle, log.said, met) : verdict;
}

/** The mistakes of the customer that the user's model finds. Null if no model judges. */
export const judgeEpisodeCustomer = (
  { signal, task, users }: Pick<UserOptions, 'signal' | 'task' | 'users'>,
  log: EpisodeLog,
  nodes: readonly MessageNode[],
): Promise<CustomerJudgement | null> => log.time('user', () => judgeCustomer(users, task.scenario, conversationOf(nodes), signal));

/** The conversation in the form that a judge reads. */
const conversationOf = (nodes: readonly MessageNode[]): Utterance[] =>
  nodes.flatMap(({ role, text }) => (role === 'system' || role === 'template' ? [] : [{ role, text: withoutEnd(text) }]));
