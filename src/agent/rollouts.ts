/** @file Many episodes at once: concurrency, retries of a failed simulator, and what becomes of the rest. */
import type { Domain, Environments, Task } from '../environments/types.ts';
import type { Sampler } from '../engine/types.ts';
import type { UserSimulator } from '../users/types.ts';
import { hash32 } from '../random.ts';
import { runEpisode } from './episode.ts';
import type { Prefix } from './prefix.ts';
import type { EpisodeRules } from './rules.ts';
import type { EpisodeLimits, Sampling, Tokenizer, Trajectory } from './types.ts';

/** Everything an episode plays with. */
export interface Stage {
  domain: Domain;
  environments: Environments;
  users: UserSimulator;
  sampler: Sampler;
  tokenizer: Tokenizer;
}

export interface RolloutPlan {
  tasks: readonly Task[];
  /** Rollouts a task. */
  n: number;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** Run seed: with the task's place it fixes the user's phrasing (shared by a group) and every sample. */
  seed: number;
  /** Sampler streams are numbered from here; distinct plans of a run use distinct ranges. */
  firstStream: number;
  /** Prefix of group ids, e.g. the step. */
  label: string;
  concurrency?: number;
  /** How often an episode whose simulator failed is played again before it is dropped. */
  maxRetries?: number;
  /** Departures from the rules of the domain's benchmark. */
  rules?: Partial<EpisodeRules>;
  /** A conversation that every rollout goes on from, and the seed of the user who has had it. */
  from?: { prefix: Prefix; userSeed: number };
  signal?: AbortSignal;
  onDone?: (trajectory: Trajectory) => void;
}

export interface Rollouts {
  /** The scored trajectories of each task; a group may be smaller than n when episodes were dropped. */
  groups: Trajectory[][];
  dropped: Trajectory[];
  retried: number;
}

/** Every episode was dropped: the simulated user does not work at all. */
export class NothingScoredError extends Error {
  override name = 'NothingScoredError';
}

/**
 * Plays n episodes of each task. A failure of the simulated user is retried, then dropped and counted; it never
 * becomes a reward of 0. @throws the signal's reason when aborted, NothingScoredError when all were dropped
 */
export async function collectRollouts(stage: Stage, plan: RolloutPlan): Promise<Rollouts> {
  const jobs = plan.tasks.flatMap((task, t) => Array.from({ length: plan.n }, (_, index) => ({ task, t, index })));
  const groups: Trajectory[][] = plan.tasks.map(() => []);
  const dropped: Trajectory[] = [];
  let retried = 0;
  await mapConcurrently(jobs, plan.concurrency ?? jobs.length, async ({ task, t, index }) => {
    const group = `${plan.label}-${t}`;
    for (let attempt = 0; ; attempt++) {
      plan.signal?.throwIfAborted();
      const trajectory = await runEpisode({
        ...stage,
        task,
        limits: plan.limits,
        sampling: plan.sampling,
        ...(plan.rules && { rules: plan.rules }),
        seed: plan.seed,
        ...(plan.from && { prefix: plan.from.prefix }),
        userSeed: plan.from?.userSeed ?? hash32(plan.seed, plan.firstStream, t),
        stream: plan.firstStream + t * plan.n + index,
        group,
        index,
        signal: plan.signal,
      });
      plan.signal?.throwIfAborted();
      if (trajectory.reward !== null) {
        groups[t]!.push(trajectory);
        plan.onDone?.(trajectory);
        return;
      }
      if (attempt >= (plan.maxRetries ?? 2)) {
        dropped.push(trajectory);
        plan.onDone?.(trajectory);
        return;
      }
      retried += 1;
    }
  });
  const [failed] = dropped;
  if (failed && groups.every((group) => group.length === 0)) throw new NothingScoredError(`no episode could be scored: ${failed.error ?? failed.termination}`);
  for (const group of groups) group.sort((a, b) => a.index - b.index);
  return { groups, dropped, retried };
}

/** Runs `work` on every item, at most `limit` at a time; the first failure stops the rest from starting. */
export async function mapConcurrently<T>(items: readonly T[], limit: number, work: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++;
      try {
        await work(items[index]!, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
