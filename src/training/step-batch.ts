/**
 * @file Plays the rollouts of a training step and chooses the groups for the update. `filter_groups` is DAPO's dynamic
 * sampling (arXiv 2503.14476 §3.2; verl's DAPO recipe, `dapo_ray_trainer.py`).
 */
import type { LiveEpisode } from '../agent/live.ts';
import { collectRollouts, NothingScoredError, type Rollouts, type Stage } from '../agent/rollouts.ts';
import { totalReward } from '../base/total-reward.ts';
import type { Conversation } from '../records/conversation.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { isFaulty } from './behaviour-metrics.ts';
import { EVALUATION_STREAM } from './presets.ts';
import { isTurnLevel } from './advantages.ts';
import { type Judge, judgeGroups } from './judge.ts';
import { storeRewards } from './rewards.ts';
import { turnsOf } from './turn-rewards.ts';
import { trainingTasks } from './training-tasks.ts';

/** The distance between the sampler streams of two consecutive generation batches of a step. */
const STREAM_STRIDE = 2 ** 22;

export interface StepHooks {
  signal?: AbortSignal;
  /** Called between the phases of a step. A paused run waits here. */
  gate?: () => Promise<void>;
  onPhase?: (phase: 'rollout' | 'score' | 'update', done: number, total: number) => void;
  /** Gets each rollout when it starts. */
  onEpisode?: (episode: LiveEpisode) => void;
  onRollout?: (trajectory: Trajectory) => void;
  /** The conversations to train on, at least one; only for `algorithm: 'sft'`. If absent, the demonstrators play new conversations. */
  dataset?: readonly Conversation[];
  /** The judge, which the reward `reward.judge` needs. */
  judge?: Judge;
}

export type Group = readonly Trajectory[];

type Estimator = Pick<GrpoConfig, 'adv_estimator'>;

/**
 * Whether the rewards in a group differ. With a turn-level estimator, the rewards of turns count too: equal sums can come from
 * different turns. Only a mixed group has a policy gradient from its rewards.
 */
export function isMixed(group: Group, settings: Estimator): boolean {
  const rewards = group.map((rollout) => {
    const turns = isTurnLevel(settings) ? turnsOf(rollout) : [];
    // Turns without a reward at the end make no difference.
    return [totalReward(rollout), ...turns.map(({ reward }) => reward)].join().replace(/(,0)+$/, '');
  });
  return new Set(rewards).size > 1;
}

export interface StepRollouts extends Rollouts {
  /** How many batches of `train_batch_size` tasks were played. */
  genBatches: number;
  /** How many groups were dropped because the judge failed. */
  unjudged: number;
}

/**
 * Plays the tasks of step `step` (from 1). With `filter_groups`, it plays further batches of tasks until `train_batch_size`
 * groups are mixed, but at most `filter_groups.max_num_gen_batches` batches (0: no limit). If `user_faults` is `drop`,
 * episodes in which the customer makes a mistake are moved to `dropped`.
 */
export async function sampleStep(stage: Stage, config: GrpoConfig, step: number, hooks: StepHooks): Promise<StepRollouts> {
  const { train_batch_size, n, seed } = config;
  const limit = config['filter_groups.max_num_gen_batches'] || Infinity;
  const all: StepRollouts = { groups: [], dropped: [], retried: 0, genBatches: 0, unjudged: 0 };
  const isJudged = config['reward.judge'] > 0;
  let done = 0;
  do {
    const tasks = await trainingTasks(stage, config, step, all.genBatches);
    const total = done + tasks.length * n;
    hooks.onPhase?.('rollout', done, total);
    const played = await collectRollouts(stage, {
      tasks,
      n,
      limits: config,
      sampling: config,
      seed,
      firstStream: (step * train_batch_size * n + all.genBatches * STREAM_STRIDE) % EVALUATION_STREAM,
      label: `${step}`,
      weights: `step ${step - 1}`,
      firstGroup: all.genBatches * train_batch_size,
      signal: hooks.signal,
      onStart: hooks.onEpisode,
      onDone: (trajectory) => {
        if (!isJudged) storeRewards(trajectory, config);
        hooks.onPhase?.('rollout', ++done, total);
        hooks.onRollout?.(trajectory);
      },
    });
    const left = config.user_faults === 'drop' ? withoutFaulty(played) : played;
    const { groups, dropped, unjudged } = isJudged ? await judged(left, stage, config, hooks) : { ...left, unjudged: 0 };
    all.unjudged += unjudged;
    all.groups.push(...groups);
    all.dropped.push(...dropped);
    all.retried += played.retried;
    all.genBatches += 1;
  } while (
    config.filter_groups &&
    all.genBatches < limit &&
    all.groups.filter((group) => isMixed(group, config)).length < train_batch_size
  );
  return all;
}

/** Lets the judge compare the answers of each group, and stores their rewards. @throws NothingScoredError if it fails in all groups */
async function judged(rollouts: Pick<Rollouts, 'groups' | 'dropped'>, { users }: Stage, config: GrpoConfig, { judge, signal }: StepHooks) {
  if (!judge) throw new Error('reward.judge is above 0: expected a judge');
  const result = await judgeGroups(rollouts, users, judge, config, signal);
  for (const trajectory of result.groups.flat()) storeRewards(trajectory, config);
  if (result.groups.every((group) => group.length === 0)) throw new NothingScoredError(result.dropped.at(-1)!.error);
  return result;
}

/** Moves the rollouts in which the customer makes a mistake to `dropped`. @throws NothingScoredError if no rollout is left */
function withoutFaulty({ groups, dropped }: Rollouts): Pick<Rollouts, 'groups' | 'dropped'> {
  const faulty = new Set(groups.flat().filter(isFaulty));
  const left = groups.map((group) => group.filter((rollout) => !faulty.has(rollout)));
  if (left.every((group) => group.length === 0))
    throw new NothingScoredError('no episode is left to train on: in each of them the customer makes a fault (user_faults is drop)');
  return { groups: left, dropped: [...dropped, ...faulty] };
}

/**
 * The `size` groups over which the loss is averaged, in sampling order. Other groups are chosen only if there are too few
 * mixed groups. The update does not train on a group that is not mixed, but the group still counts in the average. For
 * example, if one group of eight is mixed, its weight is 1/8. (verl stops with an error if there are too few mixed groups.)
 */
export function chooseGroups<G extends Group>(groups: readonly G[], size: number, settings: Estimator): G[] {
  const mixed = new Set(groups.filter((group) => isMixed(group, settings)));
  const chosen = new Set([...mixed, ...groups.filter((group) => !mixed.has(group))].slice(0, size));
  return groups.filter((group) => chosen.has(group));
}
