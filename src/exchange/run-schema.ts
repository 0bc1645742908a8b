/**
 * @file What the files of a run bundle may hold, checked when they are read; the types can be trusted after. A field that a
 * type has and its schema lacks does not compile. Written with zod/mini: the recorded run is read on the first page.
 */
import * as z from 'zod/mini';
import type { ConversationRules, Tau2Ending } from '../agent/rules.ts';
import type { EpisodeLimits, MalformedPolicy, MessageNode, TerminationReason, Trajectory, UserCall } from '../agent/types.ts';
import type { BenchmarkTask, EnvAssertion, RewardInfo, RewardType, Tau2Action } from '../environments/exact/benchmark-task.ts';
import type { Json, Persona, PhoneTrouble, RowChange, Task, ToolCall, UserScenario, Verdict, Violation, Wish } from '../environments/types.ts';
import type { EvaluationSettings } from '../evaluation/types.ts';
import type { BranchRow, EvaluationRow, RunRow } from '../storage/database.ts';
import type { GrpoConfig, RolloutSummary, RunRequest, RunStatus, StepMetrics } from '../training/types.ts';
import type { EndpointConfig } from '../users/types.ts';
import { ImportError, jsonPath } from './import-error.ts';

/** A run as it travels: without what is true of one browser only. */
export type SharedRun = Omit<RunRow, 'recorded' | 'imported'>;

/** A branch as it travels: with what it branched off, but in no training set. */
export interface SharedBranch extends Omit<BranchRow, 'id' | 'origin' | 'conversation'> {
  /** What it branched off: a rollout of the run, or a trial of `evaluation`. */
  rollout: string;
  evaluation?: string;
}

/** An evaluation of the run's weights as it travels: its report is made anew from its trials. */
export interface SharedEvaluation extends Pick<EvaluationRow, 'id' | 'createdAt' | 'settings'> {
  step: number;
  seconds: number;
}

export type SharedTrial = Trajectory & { evaluation: string };

type Fields<T> = { [K in keyof T]-?: z.ZodMiniType<T[K]> };

const MAX_DEPTH = 64;

function isJson(value: unknown, depth = 0): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return depth < MAX_DEPTH && Object.values(value as object).every((child) => isJson(child, depth + 1));
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

// Free JSON is passed on as it was parsed: zod's copy of a record would lose a key such as `__proto__`.
const json = z.custom<Json>((value) => value !== undefined && isJson(value), `JSON of finite numbers, at most ${MAX_DEPTH} deep`);
const jsonObject = <T extends object>() => z.custom<T>((value) => isRecord(value) && isJson(value), `an object of finite numbers and texts, at most ${MAX_DEPTH} deep`);
const numbers = (what: string, accepts: (value: number) => boolean) =>
  z.custom<number[]>((value) => Array.isArray(value) && value.every((item) => typeof item === 'number' && accepts(item)), `a list of ${what}`);
const sparse = z.custom<(number | null)[]>((value) => Array.isArray(value) && value.every((item) => item === null || (typeof item === 'number' && Number.isFinite(item))), 'a list of finite numbers and nulls');
const oneOf = <T extends string>(names: Record<T, true>) => z.enum(Object.keys(names) as T[]) as unknown as z.ZodMiniType<T>;

const text = z.string();
const name = z.string().check(z.maxLength(2000));
const number = z.number();
const natural = z.number().check(z.int(), z.minimum(0));
const time = z.number().check(z.minimum(0), z.maximum(8.64e15)); // later is no date of JavaScript
/** Ids stand in the keys of storage, and in addresses, where a comma parts them. */
const id = z.string().check(z.regex(/^[^\p{C},]{1,200}$/u, '1 to 200 characters, none of them a comma or a control character'));
const texts = z.record(z.string(), z.string());
const counts = z.record(z.string(), natural);
const scalar = z.union([z.string(), z.number(), z.boolean()]);

const TERMINATIONS: Record<TerminationReason, true> = { user_stop: true, terminal_tool: true, max_turns: true, turn_length: true, malformed_call: true, context_full: true, user_error: true, aborted: true };
const ENDINGS: Record<Tau2Ending, true> = { user_stop: true, agent_stop: true, max_steps: true, too_many_errors: true, agent_error: true, user_error: true, context_window_exceeded: true, unexpected_error: true };
const STATUSES: Record<RunStatus, true> = { starting: true, running: true, paused: true, done: true, stopped: true, failed: true, interrupted: true };
const INTENTS: Record<Wish['intent'], true> = { cancel: true, return: true, exchange: true, modify_items: true, modify_address: true, modify_payment: true };
const PERSONAS: Record<Persona, true> = { upfront: true, on_request: true, changes_mind: true, pushy: true };
const REWARD_TYPES: Record<RewardType, true> = { DB: true, ENV_ASSERTION: true, ACTION: true, COMMUNICATE: true, NL_ASSERTION: true };
const RULES: Record<Violation['rule'], true> = { not_authenticated: true, other_customer: true, unconfirmed_write: true };

const toolCall = z.object({ name: text, arguments: jsonObject<Record<string, Json>>(), requestor: z.optional(z.enum(['assistant', 'user'])) } satisfies Fields<ToolCall>);
const change = z.object({ table: text, key: text, before: json, after: json, call: number } satisfies Fields<RowChange>);
const violation = z.object({ rule: oneOf(RULES), call: number, detail: text } satisfies Fields<Violation>);
const list = <T extends z.ZodMiniType>(fields: T) => z.nullable(z.array(fields));
const judged = { met: z.boolean(), justification: text };
const rewardInfo = z.object({
  reward: number,
  db_check: z.nullable(z.object({ db_match: z.boolean(), db_reward: number })),
  env_assertions: list(z.object({ env_assertion: jsonObject<EnvAssertion>(), met: z.boolean(), reward: number })),
  action_checks: list(z.object({ action: jsonObject<Tau2Action>(), action_match: z.boolean(), action_reward: number })),
  nl_assertions: list(z.object({ nl_assertion: text, ...judged })),
  communicate_checks: list(z.object({ info: text, ...judged })),
  reward_basis: z.array(oneOf(REWARD_TYPES)),
  reward_breakdown: z.partialRecord(oneOf(REWARD_TYPES), number),
  info: z.nullable(jsonObject<Record<string, Json>>()),
} satisfies Fields<RewardInfo>);
const verdict = z.object({ reward: z.union([z.literal(0), z.literal(1)]), changes: z.array(change), goal: z.array(change), progress: number, reward_info: z.optional(rewardInfo) } satisfies Fields<Verdict>);

const wishFields = { intent: oneOf(INTENTS), slots: z.record(z.string(), z.union([z.string(), z.array(z.string())])), words: z.record(z.string(), z.array(z.string())) };
const wish = z.object({ ...wishFields, impossible: z.boolean(), insteadOf: z.optional(z.object(wishFields)) } satisfies Fields<Wish>);
const phone = z.object({ problem: z.enum(['service', 'data', 'mms']), place: z.nullable(text), refuel: z.nullable(number), terse: z.boolean() } satisfies Fields<PhoneTrouble>);
const scenario = z.object({
  persona: oneOf(PERSONAS),
  identity: texts,
  wishes: z.array(wish),
  instruction: text,
  benchmark: z.optional(z.enum(['tau1', 'tau2'])),
  history: z.optional(z.array(json)),
  phone: z.optional(phone),
} satisfies Fields<UserScenario>);
const task = z.object({
  id: name,
  domain: name,
  level: name,
  split: name,
  world: name,
  scenario,
  actions: z.array(toolCall),
  noop: z.boolean(),
  benchmark: z.optional(jsonObject<BenchmarkTask>()),
} satisfies Fields<Task>);

const node = z.object({
  id: natural,
  parent: z.nullable(natural),
  role: z.enum(['system', 'user', 'assistant', 'tool', 'template']),
  text,
  content: z.optional(text),
  toolCall: z.optional(toolCall),
  parseError: z.optional(text),
  toolResult: z.optional(z.object({ name: text, error: z.boolean(), index: number, changes: z.array(change), ms: number } satisfies Fields<NonNullable<MessageNode['toolResult']>>)),
  by: z.optional(z.literal('person')),
  tokens: numbers('token ids', (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 31),
  mask: numbers('0 and 1', (value) => value === 0 || value === 1),
  logprobs: sparse,
  annotations: z.optional(z.record(z.string(), sparse)),
} satisfies Fields<MessageNode>);
const userCall = z.object({ after: number, call: toolCall, text, error: z.boolean(), index: number, changes: z.array(change), sameMessage: z.optional(z.literal(true)) } satisfies Fields<UserCall>);

export const trajectorySchema = z.object({
  id,
  task,
  group: id,
  index: natural,
  seed: number,
  userSeed: z.optional(number),
  nodes: z.array(node),
  leaf: natural,
  termination: oneOf(TERMINATIONS),
  ending: z.optional(oneOf(ENDINGS)),
  userCalls: z.optional(z.array(userCall)),
  turns: natural,
  reward: z.nullable(number),
  verdict: z.nullable(verdict),
  violations: z.array(violation),
  toolCalls: counts,
  parseErrors: natural,
  seconds: z.object({ generate: number, tool: number, user: number } satisfies Fields<Trajectory['seconds']>),
  error: z.optional(text),
} satisfies Fields<Trajectory>);

export const rolloutSchema = z.object({
  id,
  group: id,
  index: natural,
  step: natural,
  task: name,
  intent: name,
  reward: z.nullable(number),
  advantage: z.nullable(number),
  termination: oneOf(TERMINATIONS),
  turns: natural,
  tokens: natural,
  violations: natural,
  domain: z.optional(name),
  rules: z.optional(z.array(oneOf(RULES))),
  tools: z.optional(z.array(name)),
} satisfies Fields<RolloutSummary>);

/** A null is a number that JSON cannot say. */
const metricsSchema = z.catchall(z.object({ step: natural }), z.nullable(number));

/** Names only fields that are no secret: a key that was left in a row by mistake goes neither out nor in. */
const endpoint = z.object({
  mode: z.literal('endpoint'),
  baseUrl: name,
  model: name,
  judgeModel: z.optional(name),
  temperature: z.optional(number),
  maxTokens: z.optional(number),
  timeoutMs: z.optional(number),
  maxRetries: z.optional(number),
  concurrency: z.optional(number),
} satisfies Fields<Omit<EndpointConfig, 'apiKey'>> & { mode: unknown });
const user = z.union([z.object({ mode: z.literal('scripted') }), endpoint]);
/** The settings that pages count on; the others are shown as they are. */
const config = z.catchall(z.object({ domain: name, level: name, n: natural, train_batch_size: natural, total_training_steps: natural, seed: natural }), scalar);

export const runSchema = z.object({
  id,
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  createdAt: time,
  status: oneOf(STATUSES),
  message: z.optional(text),
  step: natural,
  request: z.object({
    model: name,
    preset: name,
    overrides: z.record(z.string(), scalar) as unknown as z.ZodMiniType<Partial<GrpoConfig>>,
    user,
  } satisfies Fields<RunRequest>),
  config: config as unknown as z.ZodMiniType<GrpoConfig>,
} satisfies Fields<SharedRun>);

export const manifestSchema = z.object({
  app_version: name,
  created: z.string().check(z.refine((value) => !Number.isNaN(Date.parse(value)), 'a date and time such as 2026-01-31T12:00:00Z')),
  files: z.record(z.string(), z.object({ sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits')), bytes: natural })),
});
export type ManifestFields = z.output<typeof manifestSchema>;

const branchSchema = z.object({ createdAt: number, rollout: id, evaluation: z.optional(id), shared: natural, batch: z.string().check(z.maxLength(200)), model: name, trajectory: trajectorySchema } satisfies Fields<SharedBranch>);

/** @throws ImportError */
export function readBranch(value: unknown, file: string, where: string): SharedBranch {
  const branch = checked<SharedBranch>(branchSchema, value, file, where);
  checkGraph(branch.trajectory, file, `${where}, trajectory`);
  return branch;
}

const MALFORMED: Record<MalformedPolicy, true> = { end: true, feedback: true, as_text: true };
const CONVERSATION_RULES: Record<ConversationRules, true> = { domain: true, mua_rl: true };
export const evaluationSchema = z.object({
  id,
  step: natural,
  createdAt: time,
  seconds: number,
  settings: z.object({
    domain: name,
    level: name,
    split: z.enum(['train', 'heldout']),
    tasks: natural,
    trials: z.number().check(z.int(), z.minimum(1), z.maximum(1000)),
    temperature: number,
    top_p: number,
    top_k: number,
    seed: number,
    limits: z.object({ max_turns: natural, response_length_one_turn: natural, max_model_len: natural, malformed_policy: oneOf(MALFORMED), require_done: z.boolean() } satisfies Fields<EpisodeLimits>),
    conversation_rules: oneOf(CONVERSATION_RULES),
    first_stream: natural,
    user,
  } satisfies Fields<EvaluationSettings>),
} satisfies Fields<SharedEvaluation>);

const trialSchema = z.extend(trajectorySchema, { evaluation: id });

/** @throws ImportError */
export function readTrial(value: unknown, file: string, where: string): SharedTrial {
  const trial = checked<SharedTrial>(trialSchema, value, file, where);
  checkGraph(trial, file, where);
  return trial;
}

/** @throws ImportError */
export function readTrajectory(value: unknown, file: string, where: string): Trajectory {
  const trajectory = checked<Trajectory>(trajectorySchema, value, file, where);
  checkGraph(trajectory, file, where);
  return trajectory;
}

/** Whether graph and token arrays fit together. @throws ImportError */
function checkGraph(trajectory: Trajectory, file: string, where: string): void {
  const fail = (path: string, reason: string): never => {
    throw new ImportError(file, place(where, path), reason);
  };
  const known = new Set<number>();
  for (const [i, { id: own, parent, tokens, mask, logprobs, annotations }] of trajectory.nodes.entries()) {
    if (known.has(own)) fail(`nodes[${i}].id`, `${own} is the id of an earlier node`);
    if (parent !== null && !known.has(parent)) fail(`nodes[${i}].parent`, `is ${parent}: expected null or the id of an earlier node`);
    known.add(own);
    for (const [field, { length }] of Object.entries({ mask, logprobs, ...annotations })) {
      if (length !== tokens.length) fail(`nodes[${i}].${field}`, `has ${length} values: expected one for each of the ${tokens.length} tokens`);
    }
  }
  if (!known.has(trajectory.leaf)) fail('leaf', `is ${trajectory.leaf}: expected the id of a node`);
}

/** @throws ImportError */
export function readMetrics(value: unknown, file: string, where: string): StepMetrics {
  return Object.fromEntries(Object.entries(checked<object>(metricsSchema, value, file, where)).filter(([, figure]) => figure !== null)) as StepMetrics;
}

/** The checked value, without fields that the schema does not know. @throws ImportError at the first fault */
export function checked<T>(schema: z.ZodMiniType, value: unknown, file: string, where = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data as T;
  const issue = deepest(result.error.issues[0]!);
  throw new ImportError(file, place(where, jsonPath(issue.path)), `is ${shown(at(value, issue.path))}: expected ${expectation(issue)}`);
}

type Issue = z.core.$ZodIssue;
const place = (where: string, path: string) => [where, path].filter(Boolean).join(', ');
const at = (value: unknown, path: readonly PropertyKey[]): unknown => path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value);

/** Of a union, the fault of the branch that got furthest. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.map(([first]) => first).filter((first) => first !== undefined && first.path.length > 0 && first.code !== 'invalid_value');
  return inner[0] ? deepest({ ...inner[0], path: [...issue.path, ...inner[0].path] }) : issue;
}

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_type') return issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`.replace(/^a (?=[aeiou])/, 'an ');
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(', ');
  if (issue.code === 'too_small') return `at least ${issue.minimum}`;
  if (issue.code === 'too_big') return `at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
  if (issue.code === 'invalid_union') return issue.errors.map(([first]) => (first ? expectation(first) : '')).join(' or ');
  return issue.message;
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'number') return String(value);
  const written = JSON.stringify(value);
  return written.length > 60 ? `${written.slice(0, 60)}…` : written;
}
