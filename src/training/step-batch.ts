/**
 * @file The rollouts of a training step, and the groups among them that the update takes. `filter_groups` is DAPO's dynamic
 * sampling (arXiv 2503.14476 §3.2; verl's DAPO recipe, `dapo_ray_trainer.py`).
 */
import type { LiveEpisode } from '../agent/live.ts';
import { collectRollouts, NothingScoredError, type Rollouts, type Stage } from '../agent/rollouts.ts';
import { totalReward } from '../agent/trajectory.ts';
import type { Conversation } from '../records/conversation.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { isFaulty } from './behaviour-metrics.ts';
import { EVALUATION_STREAM } from './presets.ts';
import { storeRewards } from './rewards.ts';
import { trainingTasks } from './training-tasks.ts';

/** Sampler streams of a step's next generation batch lie this far above those of the batch before. */
const STREAM_STRIDE = 2 ** 22;

export interface StepHooks {
  signal?: AbortSignal;
  /** Called between the phases of a step. A paused run waits here. */
  gate?: () => Promise<void>;
  onPhase?: (phase: 'rollout' | 'score' | 'update', done: number, total: number) => void;
  /** Gets each rollout as it starts. */
  onEpisode?: (episode: LiveEpisode) => void;
  onRollout?: (trajectory: Trajectory) => void;
  /** Only with `algorithm: 'sft'`: the conversations to train on, at least one. Absent: new conversations of the demonstrators. */
  dataset?: readonly Conversation[];
}

export type Group = readonly Trajectory[];

/** Whether the rewards of a group differ. Only such a group has a policy gradient. */
export const isMixed = (group: Group): boolean => group.some((rollout) => totalReward(rollout) !== totalReward(group[0]!));

export interface StepRollouts extends Rollouts {
  /** How many batches of `train_batch_size` tasks were played. */
  genBatches: number;
}

/**
 * Plays the tasks of step `step` (from 1). With `filter_groups`, further batches of tasks follow until `train_batch_size`
 * groups are mixed, at most `filter_groups.max_num_gen_batches` batches in all (0: no limit). With `user_faults` drop, episodes
 * with a faulty customer are among the dropped ones.
 */
export async function sampleStep(stage: Stage, config: GrpoConfig, step: number, hooks: StepHooks): Promise<StepRollouts> {
  const { train_batch_size, n, seed } = config;
  const limit = config['filter_groups.max_num_gen_batches'] || Infinity;
  const all: StepRollouts = { groups: [], dropped: [], retried: 0, genBatches: 0 };
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
        storeRewards(trajectory, config);
        hooks.onPhase?.('rollout', ++done, total);
        hooks.onRollout?.(trajectory);
      },
    });
    const { groups, dropped } = config.user_faults === 'drop' ? withoutFaulty(played) : played;
    all.groups.push(...groups);
    all.dropped.push(...dropped);
    all.retried += played.retried;
    all.genBatches += 1;
  } while (config.filter_groups && all.genBatches < limit && all.groups.filter(isMixed).length < train_batch_size);
  return all;
}

/** The rollouts with those dropped in which the customer makes a fault. @throws NothingScoredError if no rollout is left */
function withoutFaulty({ groups, dropped }: Rollouts): Pick<Rollouts, 'groups' | 'dropped'> {
  const faulty = new Set(groups.flat().filter(isFaulty));
  const left = groups.map((group) => group.filter((rollout) => !faulty.has(rollout)));
  if (left.every((group) => group.length === 0))
    throw new NothingScoredError('no episode is left to train on: in each of them the customer makes a fault (user_faults is drop)');
  return { groups: left, dropped: [...dropped, ...faulty] };
}

/**
 * The `size` groups that the loss is averaged over, in sampling order: mixed groups first, the others where mixed groups are
 * too few. An unmixed group is left out of the update but still counts in the average, so that one mixed group of eight
 * weighs an eighth. (verl stops with an error where mixed groups are too few.)
 */
export function chooseGroups<G extends Group>(groups: readonly G[], size: number): G[] {
  const chosen = new Set([...groups.filter(isMixed), ...groups.filter((group) => !isMixed(group))].slice(0, size));
  return groups.filter((group) => chosen.has(group));
}
