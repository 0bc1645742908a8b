/** @file An evaluation: its request, its settings, its report and its stored row. */
import type { Conditions } from './conditions.ts';
import type { ConversationRules, EpisodeLimits } from './episode.ts';
import type { ModelRef } from './model.ts';
import type { Violation } from './task.ts';
import type { TerminationReason } from './trajectory.ts';
import type { CustomerFaultKind, UserConfig } from './user.ts';

/** All settings except the weights. Evaluations with equal settings play the same tasks with the same seeds, so their trials pair. */
export interface EvaluationSettings {
  domain: string;
  level: string;
  split: 'train' | 'heldout';
  tasks: number;
  trials: number;
  temperature: number;
  top_p: number;
  top_k: number;
  seed: number;
  /** Absent: the default conditions of the level. */
  conditions?: Conditions;
  limits: EpisodeLimits;
  conversation_rules: ConversationRules;
  /** The first of the sampler's streams. The users' seeds depend on it too. */
  first_stream: number;
  /** Stored without the API key. */
  user: UserConfig;
}

export interface EvaluationRequest {
  model: ModelRef;
  settings: EvaluationSettings;
}

/** One trial as lists and pairings show it. The whole trajectory is stored under the evaluation's id and this id. */
export interface TrialResult {
  id: string;
  task: string;
  /** Index of the trial among the trials of its task. */
  index: number;
  intent: string;
  /** Null if not scored. */
  reward: number | null;
  termination: TerminationReason;
  turns: number;
  tokens: number;
  violations: Violation['rule'][];
  /** The number of the agent's tool calls that changed rows. */
  writes: number;
  /** The kinds of the customer's faults, one entry for each fault. */
  faults: CustomerFaultKind[];
  /** A model made a part of the audit of the customer. */
  judged?: true;
  /** A fault can have cost the agent its reward (`isRewardDenied`). */
  denied?: true;
}

export interface EvaluationReport {
  tasks: number;
  trials: number;
  /** pass^k for k = 1…trials, with a 95 % bootstrap interval over tasks. */
  pass_hat: (Interval & { k: number })[];
  /** Task completion rate: the verdict's `progress`, as the mean over tasks of the mean over trials. */
  tcr: Interval;
  /** Tasks whose gold changes no row. Doing nothing passes them. */
  noop_tasks: number;
  /** Trials without a score, because the simulated user failed. */
  unscored: number;
  terminations: Record<string, number>;
  /** How often each rule was broken; null: the domain is not audited. */
  violations: Record<string, number> | null;
  /**
   * The share of writes with the customer's yes, with a 95 % bootstrap interval over tasks. null: the domain is not audited, or
   * nothing was written.
   */
  confirmed_writes: Interval | null;
  tool_calls: Record<string, number>;
  turns_mean: number;
  by_intent: Record<string, { tasks: number; pass_hat_1: number }>;
  seconds: number;
}

/** An estimate with its 95 % interval. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}

export interface EvaluationRow {
  id: string;
  createdAt: number;
  /** The run that the weights belong to. Empty for weights of no run. */
  run: string;
  model: ModelRef;
  /** The name of the weights, e.g. `nano-retail` or `brisk-otter@40`. */
  name: string;
  settings: EvaluationSettings;
  report: EvaluationReport;
  results: TrialResult[];
  /** True for an evaluation of the recorded run. It is not stored in this browser. */
  recorded?: boolean;
}
