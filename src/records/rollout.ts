/** @file A rollout. */
import type { ForeignFacts } from './foreign.ts';
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
  /** The same as `ending` and `foreign` of `Trajectory`, for a rollout of another tool. */
  ending?: string;
  foreign?: ForeignFacts;
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
