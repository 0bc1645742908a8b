/**
 * @file The schemas of a run bundle's files. If a type has a field that its schema lacks, the code does not compile. The schemas use
 * zod/mini, which is small, because the first page that a visitor sees already reads the recorded run.
 */
import * as z from 'zod/mini';
import type { SharedBranch, SharedEvaluation, SharedRun, SharedTrial } from '../records/bundle.ts';
import type { Conditions, CustomerShares } from '../records/conditions.ts';
import type { ConversationRules, EpisodeLimits, MalformedPolicy } from '../records/episode.ts';
import { AGENTS, type EvaluationSettings } from '../records/evaluation.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { ForeignRun } from '../records/foreign.ts';
import {
  type GrpoConfig,
  MOST_WORDS,
  type RunRequest,
  type RunStatus,
  type RunWords,
  type StepMetrics,
  type VocabularyPart,
} from '../records/run.ts';
import { SPLITS } from '../records/task.ts';
import type { EndpointConfig } from '../records/user.ts';
import { checked } from './checked.ts';
import { type Fields, id, ids, name, natural, number, oneOf, scalar, text, time } from './schema-fields.ts';
import { local, scripted } from './user-schema.ts';
import {
  checkGraph,
  foreignSchema,
  knownTerms,
  rewardTermsSchema,
  RULES,
  TERMINATIONS,
  toolFaultsSchema,
  trajectorySchema,
} from './trajectory-schema.ts';

const STATUSES: Record<RunStatus, true> = {
  starting: true,
  running: true,
  paused: true,
  done: true,
  stopped: true,
  failed: true,
  interrupted: true,
};
export const rolloutSchema = z
  .object({
    id,
    group: id,
    index: natural,
    step: natural,
    task: name,
    intent: name,
    reward: z.nullable(number),
    rewards: z.optional(rewardTermsSchema),
    ending: z.optional(name),
    foreign: z.optional(foreignSchema),
    advantage: z.nullable(number),
    termination: oneOf(TERMINATIONS),
    turns: natural,
    tokens: natural,
    violations: natural,
    writes: natural,
    domain: name,
    rules: z.array(oneOf(RULES)),
    tools: z.array(name),
  } satisfies Fields<RolloutSummary>)
  .check(knownTerms);

/** Null stands for a number that is not finite. */
const metricsSchema = z.catchall(z.object({ step: natural }), z.nullable(number));

/** The limits and prices of a model behind a server, whoever it plays. */
export const serverLimits = {
  maxTokens: z.optional(number),
  timeoutMs: z.optional(number),
  maxRetries: z.optional(number),
  concurrency: z.optional(number),
  promptPrice: z.optional(number),
  completionPrice: z.optional(number),
  budget: z.optional(number),
};

/** The schema lacks the API key and the extra body, which may hold a key, so both are dropped when a bundle is written or read. */
export const endpoint = z.object({
  mode: z.literal('endpoint'),
  baseUrl: name,
  model: name,
  judgeModel: z.optional(name),
  judgeCustomer: z.optional(z.boolean()),
  temperature: z.optional(number),
  ...serverLimits,
} satisfies Fields<Omit<EndpointConfig, 'apiKey' | 'extraBody'>> & { mode: unknown });
const user = z.union([scripted, endpoint, local]);
/** The settings that the app computes with have a type. The app only shows the others. */
const config = z.catchall(
  z.object({ domain: name, level: name, n: natural, train_batch_size: natural, total_training_steps: natural, seed: natural }),
  scalar,
);

const words = {
  name: z.string().check(z.minLength(1), z.maxLength(MOST_WORDS.name)),
  note: z.optional(z.string().check(z.maxLength(MOST_WORDS.note))),
  tags: z.optional(
    z
      .array(z.string().check(z.regex(/^[^\p{C},]+$/u, 'a text without commas and control characters'), z.maxLength(MOST_WORDS.tag)))
      .check(z.maxLength(MOST_WORDS.tags)),
  ),
} satisfies Fields<RunWords>;

export const vocabularySchema = z.object({
  model: z.object({ vocab: ids }),
  added_tokens: z.array(z.object({ id: natural, content: text })),
} satisfies Fields<VocabularyPart>);

export const runSchema = z.object({
  id,
  ...words,
  createdAt: time,
  status: oneOf(STATUSES),
  message: z.optional(text),
  step: natural,
  superseded: z.optional(z.object({ run: id, from: natural })),
  foreign: z.optional(z.object({ success: z.optional(name), writes: z.optional(z.array(name)) } satisfies Fields<ForeignRun>)),
  request: z.object({
    model: name,
    preset: name,
    overrides: z.record(z.string(), scalar) as unknown as z.ZodMiniType<Partial<GrpoConfig>>,
    user,
    val_user: z.optional(z.union([scripted, local])),
    dataset: z.optional(id),
  } satisfies Fields<RunRequest>),
  config: config as unknown as z.ZodMiniType<GrpoConfig>,
  vocabulary: z.optional(vocabularySchema),
} satisfies Fields<SharedRun>);

export const manifestSchema = z.object({
  app_version: name,
  created: z.string().check(z.refine((value) => !Number.isNaN(Date.parse(value)), 'a date and time such as 2026-01-31T12:00:00Z')),
  files: z.record(z.string(), z.object({ sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits')), bytes: natural })),
});
export type ManifestFields = z.output<typeof manifestSchema>;

const branchSchema = z.object({
  createdAt: time,
  rollout: id,
  evaluation: z.optional(id),
  shared: natural,
  batch: z.string().check(z.maxLength(200)),
  model: name,
  trajectory: trajectorySchema,
  estimate: z.optional(z.object({ weights: name, customer: name, stream: natural })),
} satisfies Fields<SharedBranch>);

/** @throws ImportError */
export function readBranch(value: unknown, file: string, where: string): SharedBranch {
  const branch = checked<SharedBranch>(branchSchema, value, file, where);
  checkGraph(branch.trajectory, file, `${where}, trajectory`);
  return branch;
}

const conditions = z.object({
  customers: z.object({
    upfront: number,
    on_request: number,
    changes_mind: number,
    pushy: number,
    impossible: number,
    confused: number,
    reserved: z._default(number, 0),
  } satisfies Fields<CustomerShares>),
  tools: toolFaultsSchema,
  intents: z.optional(z.array(name)),
} satisfies Fields<Conditions>);
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
    split: z.enum(SPLITS),
    tasks: natural,
    trials: z.number().check(z.int(), z.minimum(1), z.maximum(1000)),
    temperature: number,
    top_p: number,
    top_k: number,
    seed: number,
    protocol: z.optional(z.literal(2)),
    conditions: z.optional(conditions),
    limits: z.object({
      max_turns: natural,
      response_length_one_turn: natural,
      max_model_len: natural,
      malformed_policy: oneOf(MALFORMED),
      require_done: z.boolean(),
      enable_thinking: z.optional(z.boolean()),
    } satisfies Fields<EpisodeLimits>),
    conversation_rules: oneOf(CONVERSATION_RULES),
    first_stream: natural,
    user,
    agent: z.optional(z.enum(AGENTS)),
    next_call: z.optional(z.literal(true)),
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
export function readMetrics(value: unknown, file: string, where: string): StepMetrics {
  return Object.fromEntries(
    Object.entries(checked<object>(metricsSchema, value, file, where)).filter(([, figure]) => figure !== null),
  ) as StepMetrics;
}
