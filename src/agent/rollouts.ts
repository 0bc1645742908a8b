/**
 * @file Plays many episodes at once. If the user simulator, the server of the agent or a simulated tool fails in an episode, the episode is
 * retried, and dropped after too many retries.
 */
import type { EpisodeLimits, Sampling } from '../records/episode.ts';
import type { Task } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserRequest } from '../records/user.ts';
import type { Domain, Environments } from '../environments/types.ts';
import type { Sampler } from '../engine/types.ts';
import type { UserSimulator } from '../users/types.ts';
import { breather } from '../base/macrotask.ts';
import { hash32 } from '../base/random.ts';
import { runEpisode } from './episode.ts';
import type { LiveEpisode } from './live.ts';
import type { Player } from './players.ts';
import type { StartAgent } from './server/agents.ts';
import type { Prefix } from './prefix.ts';
import type { EpisodeRules } from './rules.ts';
import type { Tokenizer } from './types.ts';

/** What all episodes of a step or an evaluation share. */
export interface Stage {
  domain: Domain;
  environments: Environments;
  users: UserSimulator;
  /** Absent if a model behind a server plays the agent. */
  sampler?: Sampler;
  /** Begins the agent's side of each episode, if a model behind a server plays the agent. */
  agents?: StartAgent;
  tokenizer: Tokenizer;
  rules: EpisodeRules;
  /** Whether a simulated tool that failed fails again in the same episode, so that a retry is no use. Default: false. */
  toolFaultsRepeat?: boolean;
}

export interface RolloutPlan {
  tasks: readonly Task[];
  /** Domain name → the domain with its rules, if tasks are of other domains than the stage's. */
  places?: ReadonlyMap<string, Pick<Stage, 'domain' | 'rules'>> | undefined;
  /** The number of rollouts of each task. */
  n: number;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** Seed of the run. The seed and the task's index determine every sample and the user's phrasing. */
  seed: number;
  /** True: each rollout of a task draws its customer's seed anew. Absent: the rollouts of a task share it. */
  newCustomers?: true;
  /** The first sampler stream. The plans of a run use different ranges of streams. */
  firstStream: number;
  /** Prefix of group ids, for example the step. */
  label: string;
  /** The version of the agent's weights, for the audit log. */
  weights?: string;
  /** The number of the first group. Default: 0. */
  firstGroup?: number;
  concurrency?: number;
  /** How often an episode without a score is retried before it is dropped. Default: 2. */
  maxRetries?: number | undefined;
  /** The conversation that every rollout continues, and the seed of its user. */
  from?: { prefix: Prefix; userSeed: number };
  /** Makes the player of an episode from its seed and its task. Default: the model plays alone. */
  player?: ((seed: number, task: Task) => Player) | undefined;
  signal?: AbortSignal;
  onDone?: (trajectory: Trajectory) => void;
  /** Trajectories of this plan that were scored earlier. They are not played again. */
  done?: readonly Trajectory[] | undefined;
  /** Gets each episode when it starts. An episode that is retried starts again. */
  onStart?: ((episode: LiveEpisode) => void) | undefined;
}

export interface Rollouts {
  /** The scored trajectories of each task. A group has fewer than n trajectories if episodes were dropped. */
  groups: Trajectory[][];
  dropped: Trajectory[];
  retried: number;
}

/** Thrown if every episode of a task set was dropped, because the simulated user or the agent's server failed each time. */
export class NothingScoredError extends Error {
  override name = 'NothingScoredError';
}

/**
 * Plays n episodes of each task. If the simulated user, the agent's server or a simulated tool fails, the episode is retried. If this happens too often,
 * the episode is dropped and counted. Such a failure never gives a reward of 0.
 * @throws the signal's reason if aborted, NothingScoredError if all episodes were dropped
 */
export async function collectRollouts(stage: Stage, plan: RolloutPlan): Promise<Rollouts> {
  const jobs = plan.tasks.flatMap((task, t) => Array.from({ length: plan.n }, (_, index) => ({ task, t, index })));
  const groups: Trajectory[][] = plan.tasks.map(() => []);
  const dropped: Trajectory[] = [];
  let retried = 0;
  const done = new Map(plan.done?.map((trajectory) => [`${trajectory.group} ${trajectory.index}`, trajectory]));
  await mapConcurrently(jobs, plan.concurrency ?? jobs.length, async ({ task, t, index }) => {
    const group = `${plan.label}-${(plan.firstGroup ?? 0) + t}`;
    const earlier = done.get(`${group} ${index}`);
    if (earlier) return void groups[t]!.push(earlier);
    let agentRequests: UserRequest[] = [];
    for (let attempt = 0; ; attempt++) {
      plan.signal?.throwIfAborted();
      const trajectory = await runEpisode({
        ...stage,
        ...plan.places?.get(task.domain),
        task,
        limits: plan.limits,
        sampling: plan.sampling,
        seed: plan.seed,
        weights: plan.weights,
        ...(plan.from && { prefix: plan.from.prefix }),
        userSeed: plan.from?.userSeed ?? hash32(plan.seed, plan.firstStream, t, ...(plan.newCustomers ? [index] : [])),
        stream: plan.firstStream + t * plan.n + index,
        group,
        index,
        player: plan.player?.(hash32(plan.seed, plan.firstStream, t, index), task),
        signal: plan.signal,
        onStart: plan.onStart,
      });
      plan.signal?.throwIfAborted();
      // The agent's server was also paid for the attempts before.
      agentRequests = [...agentRequests, ...(trajectory.agentRequests ?? [])];
      if (agentRequests.length > 0) trajectory.agentRequests = agentRequests;
      if (trajectory.reward !== null) {
        groups[t]!.push(trajectory);
        plan.onDone?.(trajectory);
        return;
      }
      const repeats = stage.toolFaultsRepeat && trajectory.termination === 'tool_error';
      if (repeats || attempt >= (plan.maxRetries ?? 2)) {
        dropped.push(trajectory);
        plan.onDone?.(trajectory);
        return;
      }
      retried += 1;
    }
  });
  const [failed] = dropped;
  if (failed && groups.every((group) => group.length === 0))
    throw new NothingScoredError(`no episode could be scored: ${failed.error ?? failed.termination}`);
  for (const group of groups) group.sort((a, b) => a.index - b.index);
  return { groups, dropped, retried };
}

/** Runs `work` on every item, at most `limit` at a time. After the first failure no further item starts. */
export async function mapConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const breathe = breather();
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++;
      try {
        await work(items[index]!, index);
        await breathe();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
