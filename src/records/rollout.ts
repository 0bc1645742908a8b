/** @file A rollout. */
import type { RewardTerms } from './rewards.ts';
import type { Violation } from './task.ts';
import type { Trajectory } from './trajectory.ts';

/** The summary of one rollout, for lists. The whole trajectory is stored under the same id. */
export interface RolloutSummary {
  id: string;
  group: string;
  index: number;
  step: number;
  task: string;
  intent: string;
  reward: number | null;
  /** The same as `rewards` of `Trajectory`. */
  rewards?: RewardTerms;
  advantage: number | null;
  termination: Trajectory['termination'];
  turns: number;
  tokens: number;
  violations: number;
  writes: number;
  domain: string;
  /** Each violated rule is listed once. */
  rules: Violation['rule'][];
  /** Each called tool is listed once. */
  tools: string[];
}
