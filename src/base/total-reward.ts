/** @file The rewards of a trajectory, also of those that other tools recorded. */
import type { Trajectory } from '../records/trajectory.ts';

type Scored = Pick<Trajectory, 'reward' | 'rewards' | 'foreign'>;

/** The reward for training: the sum of the stored terms, or the recorded reward, or the outcome. 0 if the trajectory is not scored. */
export const totalReward = ({ reward, rewards, foreign }: Scored): number =>
  rewards ? Object.values(rewards).reduce((sum, value) => sum + value, 0) : (foreign?.reward ?? reward ?? 0);

/** The reward as it was recorded: the outcome, or the reward of another tool on its own scale. */
export const recordedReward = ({ reward, foreign }: Omit<Scored, 'rewards'>): number | null => (foreign ? foreign.reward : reward);

export const isScored = (of: Omit<Scored, 'rewards'>): boolean => recordedReward(of) !== null;
