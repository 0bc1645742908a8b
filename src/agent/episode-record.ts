/** @file The record of an episode that has ended. */
import type { Verdict } from '../records/task.ts';
import type { TerminationReason, Trajectory } from '../records/trajectory.ts';
import type { CustomerJudgement, UserRequest } from '../records/user.ts';
import { copiedArguments } from './copied.ts';
import type { TurnOptions } from './agent-turn.ts';
import type { EpisodeLog } from './episode-log.ts';
import type { Prefix } from './prefix.ts';
import { isProper } from './rules.ts';
import type { Transcript } from './transcript.ts';
import type { UserOptions } from './user-turn.ts';

export interface Outcome {
  termination: TerminationReason;
  /** Null if the episode is not scored. */
  verdict: Verdict | null;
  customerJudgement: CustomerJudgement | null;
  /** Why the episode is not scored. */
  error: string | undefined;
}

interface Given extends UserOptions, Pick<TurnOptions, 'limits' | 'seed'> {
  group: string;
  index: number;
  prefix?: Prefix;
}

interface Played {
  transcript: Transcript;
  log: EpisodeLog;
  audit: Trajectory['audit'];
  userRequests: readonly UserRequest[];
  agentRequests: readonly UserRequest[];
}

export async function recordOf(
  { domain, task, group, index, seed, userSeed, limits, rules, prefix }: Given,
  { transcript, log, audit, userRequests, agentRequests }: Played,
  { termination, verdict, customerJudgement, error }: Outcome,
): Promise<Trajectory> {
  const { userCalls, turns, toolCalls, parseErrors, seconds, tooManyErrors } = log;
  const asked = [...(prefix?.userRequests ?? []), ...userRequests];
  return {
    id: `${group}-${index}`,
    task,
    group,
    index,
    seed,
    ...(userSeed !== undefined && { userSeed }),
    nodes: transcript.nodes,
    leaf: transcript.leaf,
    termination,
    ...(rules.ending && { ending: rules.ending(termination, tooManyErrors) }),
    ...(userCalls.length > 0 && { userCalls }),
    ...(customerJudgement && { customerJudgement }),
    ...(asked.length > 0 && { userRequests: asked }),
    ...(agentRequests.length > 0 && { agentRequests: [...agentRequests] }),
    turns,
    reward: verdict && ((limits.require_done || rules.requireDone) && !isProper(termination) ? 0 : verdict.reward),
    verdict,
    violations: await log.violations([...domain.tools, ...transcript.laterTools]),
    toolCalls,
    parseErrors,
    copied: copiedArguments(transcript.nodes, domain.tools),
    seconds,
    ...(audit && { audit }),
    ...(error !== undefined && { error }),
  };
}
