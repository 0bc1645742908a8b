/**
 * @file Tasks and splits as the files of tau-bench and tau2-bench hold them. The schemas check; the values themselves stay
 * as they were parsed, with every field that is not named here.
 */
import { z } from 'zod';
import type { Benchmark, ExactDomain, InitialState, Requestor } from './types.ts';
import type { WorldTables } from '../overlay.ts';
import type { Json } from '../types.ts';

export interface Tau1Action { name: string; kwargs: Record<string, Json> }

/** A task of tau-bench v1. */
export interface Tau1Task {
  /** `<split>/<index>`. */
  id: string;
  user_id: string;
  instruction: string;
  actions: Tau1Action[];
  /** What the agent has to say. */
  outputs: string[];
}

export interface Tau2Action {
  action_id?: string;
  /** The assistant when absent. */
  requestor?: Requestor;
  name: string;
  arguments: Record<string, Json>;
  compare_args?: string[] | null;
}

export interface EnvAssertion {
  env_type: Requestor;
  func_name: string;
  arguments: Record<string, Json>;
  /** True when absent. */
  assert_value?: boolean;
}

export const REWARD_TYPES = ['DB', 'ENV_ASSERTION', 'ACTION', 'COMMUNICATE', 'NL_ASSERTION'] as const;
export type RewardType = (typeof REWARD_TYPES)[number];

export interface EvaluationCriteria {
  actions?: Tau2Action[] | null;
  env_assertions?: EnvAssertion[] | null;
  communicate_info?: string[] | null;
  nl_assertions?: string[] | null;
  /** DB and COMMUNICATE when absent, as in tau-bench v1. */
  reward_basis?: RewardType[];
}

/** What a reward is made of, under tau2-bench's names. A list is null where the task has no criteria of the kind. */
export interface RewardInfo {
  reward: number;
  db_check: { db_match: boolean; db_reward: number } | null;
  env_assertions: { env_assertion: EnvAssertion; met: boolean; reward: number }[] | null;
  action_checks: { action: Tau2Action; action_match: boolean; action_reward: number }[] | null;
  nl_assertions: { nl_assertion: string; met: boolean; justification: string }[] | null;
  communicate_checks: { info: string; met: boolean; justification: string }[] | null;
  reward_basis: RewardType[];
  /** By component of the basis; without those that nobody judged. */
  reward_breakdown: Partial<Record<RewardType, number>>;
  info: Record<string, Json> | null;
}

/** A task of tau2-bench. */
export interface Tau2Task {
  id: string;
  description?: Json;
  user_scenario: { persona?: string | null; instructions: Json };
  ticket?: string | null;
  initial_state?: InitialState | null;
  evaluation_criteria?: EvaluationCriteria | null;
}

export type BenchmarkTask = Tau1Task | Tau2Task;

/** The task with nothing that the agent has to say, as MUA-RL trains on it. */
export function withoutOutputs<T extends { benchmark?: BenchmarkTask }>(task: T): T {
  const { benchmark } = task;
  if (!benchmark) return task;
  if ('instruction' in benchmark) return { ...task, benchmark: { ...benchmark, outputs: [] } };
  const { evaluation_criteria } = benchmark;
  return evaluation_criteria ? { ...task, benchmark: { ...benchmark, evaluation_criteria: { ...evaluation_criteria, communicate_info: [] } } } : task;
}

/** A domain of a benchmark, as its files hold it. */
export interface ImportedBenchmark<Task extends BenchmarkTask = BenchmarkTask> {
  benchmark: Benchmark;
  domain: ExactDomain['name'];
  /** Objects whose keys look like integers are lists of `[key, value]`, in the file's order (`parseOrdered`). */
  database: Json;
  userDatabase?: Json;
  /** The rows of both databases: what `ExactDomain.load` made of them. */
  tables: WorldTables;
  tasks: Task[];
  /** Ids of tasks by split, of those tasks that are here. */
  splits: Record<string, string[]>;
  /** How many tasks a split names that are not here; only splits that lack some. */
  absent: Record<string, number>;
  policy: string;
}

const json = z.record(z.string(), z.unknown());
const requestor = z.enum(['assistant', 'user']);
const environmentCall = z.looseObject({ env_type: requestor, func_name: z.string(), arguments: json });

export const initialStateSchema = z.looseObject({
  initialization_data: z.looseObject({ agent_data: json.nullish(), user_data: json.nullish() }).nullish(),
  initialization_actions: z.array(environmentCall).nullish(),
  message_history: z.array(z.looseObject({ role: z.string() })).nullish(),
});

const tau2Task = z.looseObject({
  id: z.string().min(1),
  user_scenario: z.looseObject({ persona: z.string().nullish(), instructions: z.union([z.string(), json]) }),
  ticket: z.string().nullish(),
  initial_state: initialStateSchema.nullish(),
  evaluation_criteria: z.looseObject({
    actions: z.array(z.looseObject({ name: z.string(), arguments: json, requestor: requestor.optional(), compare_args: z.array(z.string()).nullish() })).nullish(),
    env_assertions: z.array(environmentCall.extend({ assert_value: z.boolean().optional() })).nullish(),
    communicate_info: z.array(z.string()).nullish(),
    nl_assertions: z.array(z.string()).nullish(),
    reward_basis: z.array(z.enum(REWARD_TYPES)).optional(),
  }).nullish(),
});

const tau1Task = z.looseObject({
  index: z.number().int().min(0).optional(),
  user_id: z.string(),
  instruction: z.string(),
  actions: z.array(z.looseObject({ name: z.string(), kwargs: json })),
  outputs: z.array(z.string()),
});

export const tau1TasksSchema = z.array(tau1Task).min(1, 'expected at least one task');
export const tau2TasksSchema = z.array(tau2Task).min(1, 'expected at least one task');
export const splitsSchema = z.record(z.string(), z.array(z.string()));
