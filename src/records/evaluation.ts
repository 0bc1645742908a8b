/** @file An evaluation: its request, its settings, its report and its stored row. */
import type { Conditions } from './conditions.ts';
import { STYLES } from './dataset.ts';
import type { ConversationRules, EpisodeLimits } from './episode.ts';
import type { ForeignRun } from './foreign.ts';
import type { AgentServer, AgentUsage, TabAgent } from './agent-server.ts';
import type { ModelRef } from './model.ts';
import type { TrialCard } from './scorecard.ts';
import type { Split, Violation } from './task.ts';
import type { TerminationReason } from './trajectory.ts';
import type { CustomerFaultKind, UserConfig } from './user.ts';

/**
 * Who plays the agent in an evaluation: the model; the model with a guard (a rule that asks for a yes before a write); with two guards (the
 * second one calls a tool again after a timeout); or a demonstrator without a model.
 */
export const AGENTS = ['model', 'guard', 'two_guards', ...STYLES] as const;
export type AgentName = (typeof AGENTS)[number];

/**
 * All settings of an evaluation except the weights. Evaluations with equal settings play the same tasks with the same seeds, so their
 * trials can be compared in pairs.
 */
export interface EvaluationSettings {
  domain: string;
  level: string;
  split: Split;
  tasks: number;
  trials: number;
  temperature: number;
  top_p: number;
  top_k: number;
  seed: number;
  /**
   * How tasks and customers are drawn. 2: each held-out task is from another world, and each trial of a task draws its customer's seed
   * anew. Absent, as in earlier versions: neighbouring tasks, and one seed of the customer for all trials of a task.
   */
  protocol?: 2;
  /** Absent: the default conditions of the level. */
  conditions?: Conditions;
  limits: EpisodeLimits;
  conversation_rules: ConversationRules;
  /** The number of the sampler's first random stream. The users' seeds depend on it too. */
  first_stream: number;
  /** The simulated customer. Its API key is not stored. */
  user: UserConfig;
  /** Absent: the model. */
  agent?: AgentName;
  /** Whether the report also has `next_call`. */
  next_call?: true;
}

/**
 * Whose conversations an evaluation has: those of weights, of a model behind a server, whose API key is not stored, or of a model of
 * transformers.js in the tab.
 */
export type EvaluatedModel = ModelRef | ({ kind: 'server' } & AgentServer) | ({ kind: 'tab' } & TabAgent);

export interface EvaluationRequest {
  model: EvaluatedModel;
  settings: EvaluationSettings;
}

/** The summary of one trial, for lists and paired comparisons. The trajectory is stored under the evaluation's id and the trial's id. */
export interface TrialResult {
  id: string;
  task: string;
  /** The key of the task's customer (`customerOf`). Absent in evaluations of earlier versions. */
  customer?: string;
  /** Index of the trial among the trials of its task. */
  index: number;
  intent: string;
  /** 1 or 0. Null if the trial was not scored. */
  reward: number | null;
  termination: TerminationReason;
  turns: number;
  tokens: number;
  /** What a model behind a server used. Its conversations have no tokens of their own. */
  agent?: AgentUsage;
  violations: Violation['rule'][];
  /** The number of the agent's tool calls that changed rows. */
  writes: number;
  /** How many calls met a timeout, and after how many of them the agent's next act was a call. Absent: no call met a timeout. */
  timeouts?: { met: number; again: number };
  /** Whether the agent asked a reserved customer for more after a request. Absent: the customer is not reserved. */
  offered?: boolean;
  /** The kinds of the customer's faults, one entry for each fault. */
  faults: CustomerFaultKind[];
  /** True if a language model took part in the audit of the customer. */
  judged?: true;
  /** True if a fault of the customer may have cost the agent its reward (`isRewardDenied`). */
  denied?: true;
  /** What the scorecard needs. Absent in evaluations of earlier versions. */
  card?: TrialCard;
}

export interface EvaluationReport {
  /** The name of the results, if the model was shown something else than the original benchmark shows. Then they are no official figures. */
  derived?: string;
  tasks: number;
  trials: number;
  /** pass^k for k = 1…trials, with a 95 % interval (`shareInterval`). A k above 1 that no task has as scored trials is left out. */
  pass_hat: (Interval & { k: number })[];
  /** Task completion rate: the verdict's `progress`, first averaged over the trials of each task, then over tasks. */
  tcr: Interval;
  /** The score of the way to the result, where the world has one (`ProcessMeasures`), as `tcr` is averaged. */
  process?: Interval;
  /** The number of the user's turns before the first one that failed, where each turn is checked. */
  turns_before_failure?: Interval;
  /** What the model called next after each part of the right conversation. Only if the evaluation measured it. */
  next_call?: NextCallReport;
  /** The benchmark's own number, such as the mean over its categories. Absent if the results are derived. */
  score?: { name: string; value: number };
  /** Number of tasks whose gold changes no row. An agent passes them by doing nothing. */
  noop_tasks: number;
  /** Number of trials without a score, because the simulated user or the server of the agent failed. */
  unscored: number;
  /** Why the first of these trials has no score. Absent in earlier versions. */
  unscored_reason?: string;
  /** What the model of an agent behind a server used, in trials without a score too. Absent for other agents. */
  agent?: AgentUsage;
  terminations: Record<string, number>;
  /** How often each rule was broken. Null if the domain is not audited. */
  violations: Record<string, number> | null;
  /**
   * The share of writes that the customer had confirmed, with a 95 % interval (`shareInterval`). Null if the domain is not audited, or if
   * nothing was written.
   */
  confirmed_writes: Interval | null;
  /**
   * The share of values in the arguments of calls that stand exactly in the conversation before, with a 95 % interval (`shareInterval`).
   * Absent in earlier versions, and if no call had an argument.
   */
  copied_arguments?: Interval;
  tool_calls: Record<string, number>;
  turns_mean: number;
  /** `writes`: how many writes the customer had confirmed, and all writes. Absent in earlier versions, and if the domain is not audited. */
  by_intent: Record<string, IntentReport>;
  seconds: number;
}

export interface IntentReport {
  tasks: number;
  pass_hat_1: number;
  /** The mean process score over the tasks, where the world has one, rounded as the benchmark does. */
  process?: number;
  writes?: { confirmed: number; of: number };
}

/** The share of right calls, where the model reads the right conversation so far and writes its next call. The interval is that of `shareInterval`. */
export interface NextCallReport extends Interval {
  right: number;
  of: number;
  /** The calls before which the context was full. They count as wrong. */
  unread: number;
  /** The number of tasks without a result, because the server of the agent failed. Their calls are not counted. */
  unscored: number;
  by_intent: Record<string, { right: number; of: number }>;
  /** What the model of an agent behind a server used for it. */
  agent?: AgentUsage;
}

/** Of `of` utterances of customers, `seen` also occur in training. */
export interface Overlap {
  seen: number;
  of: number;
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
  /** The id of the run that made the weights. Empty if no run made them. */
  run: string;
  model: EvaluatedModel;
  /** The name of the weights, e.g. `nano-retail` or `brisk-otter@40`. */
  name: string;
  settings: EvaluationSettings;
  report: EvaluationReport;
  results: TrialResult[];
  /** Set for an evaluation from files, of whose settings only the place and the counts are known. */
  foreign?: ForeignRun & { /** The tool that recorded it, for people. */ source: string };
  /** True for an evaluation of the recorded run. It is not stored in this browser. */
  recorded?: boolean;
}
