/** @file Tasks of benchmarks, with criteria and rewards in tau2-bench's format. Generated telecom tasks use this format too. */
import type { Json } from './json.ts';

/** The name of a benchmark, as `src/benchmarks/index.ts` registers it. */
export type Benchmark = string;

export type Requestor = 'assistant' | 'user';

/** The `initial_state` of a task in tau2-bench. Cases of `mua replay` have this field too. */
export interface InitialState {
  initialization_data?: { agent_data?: Json; user_data?: Json } | null;
  initialization_actions?: { env_type: Requestor; func_name: string; arguments: Record<string, Json> }[] | null;
  message_history?: Json[] | null;
}

/** A call that is part of the task's solution. */
export interface GoldAction {
  action_id?: string;
  /** Default: `assistant`. */
  requestor?: Requestor;
  name: string;
  arguments: Record<string, Json>;
  compare_args?: string[] | null;
}

export interface EnvAssertion {
  env_type: Requestor;
  func_name: string;
  arguments: Record<string, Json>;
  /** Default: true. */
  assert_value?: boolean;
}

export const REWARD_TYPES = ['DB', 'ENV_ASSERTION', 'ACTION', 'COMMUNICATE', 'NL_ASSERTION'] as const;

export type RewardType = (typeof REWARD_TYPES)[number];

export interface EvaluationCriteria {
  actions?: GoldAction[] | null;
  env_assertions?: EnvAssertion[] | null;
  communicate_info?: string[] | null;
  nl_assertions?: string[] | null;
  /** Default: DB and COMMUNICATE, as in tau-bench v1. */
  reward_basis?: RewardType[];
}

/** The terms of a reward, with tau2-bench's names. A list is null if the task has no criteria of that kind. */
export interface RewardInfo {
  reward: number;
  db_check: { db_match: boolean; db_reward: number } | null;
  env_assertions: { env_assertion: EnvAssertion; met: boolean; reward: number }[] | null;
  action_checks: { action: GoldAction; action_match: boolean; action_reward: number }[] | null;
  nl_assertions: { nl_assertion: string; met: boolean; justification: string }[] | null;
  communicate_checks: { info: string; met: boolean; justification: string }[] | null;
  reward_basis: RewardType[];
  /** Component of `reward_basis` → its reward. Components that were not judged are absent. */
  reward_breakdown: Partial<Record<RewardType, number>>;
  /** What upstream's criteria do not have. Some worlds put `ProcessMeasures` here. */
  info: Record<string, Json> | null;
}

/** A task as in the benchmark's file. The schema of each benchmark describes the other fields. */
export interface BenchmarkTask {
  id: string;
}

/** What the checks of a world say about the way to the result. */
export type ProcessMeasures = {
  /** The score of the way, from 0 to 1. */
  process: number;
  /** The number of the user's turns that passed before the first one that failed, where each turn is checked. */
  turns_passed?: number;
};
