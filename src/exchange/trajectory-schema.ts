/** @file The schema of a trajectory: its task, messages, verdict and violations. */
import * as z from 'zod/mini';
import { CUSTOMER_FAULTS, type CustomerJudgement, type UserRequest } from '../records/user.ts';
import type { BenchmarkTask, EnvAssertion, RewardInfo, RewardType, GoldAction } from '../records/benchmark-task.ts';
import type { Json } from '../records/json.ts';
import type { Persona, ToolFaults } from '../records/conditions.ts';
import type { ForeignFacts } from '../records/foreign.ts';
import { type Judged, REWARD_TERMS, type RewardTerms } from '../records/rewards.ts';
import type { RowChange, Task, ToolCall, ToolSchema, UserScenario, Verdict, Violation, Wish } from '../records/task.ts';
import type { CopiedArguments, MessageNode, TerminationReason, Trajectory, UserCall } from '../records/trajectory.ts';
import { checked, located } from './checked.ts';
import { ImportError } from './import-error.ts';
import { counts, type Fields, id, json, jsonObject, name, natural, number, numbers, oneOf, sparse, text, texts } from './schema-fields.ts';

export const TERMINATIONS: Record<TerminationReason, true> = {
  user_stop: true,
  terminal_tool: true,
  agent_stop: true,
  max_turns: true,
  turn_length: true,
  malformed_call: true,
  context_full: true,
  user_error: true,
  agent_error: true,
  tool_error: true,
  aborted: true,
  unknown: true,
};
const PERSONAS: Record<Persona, true> = {
  upfront: true,
  on_request: true,
  changes_mind: true,
  pushy: true,
  impossible: true,
  confused: true,
  reserved: true,
};
const REWARD_TYPES: Record<RewardType, true> = { DB: true, ENV_ASSERTION: true, ACTION: true, COMMUNICATE: true, NL_ASSERTION: true };
export const RULES: Record<Violation['rule'], true> = { not_authenticated: true, other_customer: true, unconfirmed_write: true };

/** A page with more messages takes seconds to draw, and a browser may end it. */
export const MOST_MESSAGES = 2000;
const MOST_ANNOTATIONS = 32;
/** An annotation is shown beside the arrays of a node, so it has another name. */
const ANNOTATION = /^(?!(?:mask|logprobs|tokens|text|constructor|__proto__|prototype)$)[\w.-]{1,100}$/;
const ANNOTATION_TEXT = 'names of annotations: 1 to 100 letters, digits, dots and dashes, and not mask, logprobs, tokens or text';

export const toolCall = z.object({
  name: text,
  arguments: jsonObject<Record<string, Json>>(),
  requestor: z.optional(z.enum(['assistant', 'user'])),
  exact: z.optional(text),
  message: z.optional(text),
} satisfies Fields<ToolCall>);
const toolSchema = z.object({
  type: z.literal('function'),
  function: z.object({ name: text, description: text, parameters: jsonObject<ToolSchema['function']['parameters']>() }),
} satisfies Fields<ToolSchema>);
const change = z.object({ table: text, key: text, before: json, after: json, call: number } satisfies Fields<RowChange>);
const violation = z.object({ rule: oneOf(RULES), call: number, detail: text } satisfies Fields<Violation>);
const list = <T extends z.ZodMiniType>(fields: T) => z.nullable(z.array(fields));
const judged = { met: z.boolean(), justification: text };
const rewardInfo = z.object({
  reward: number,
  db_check: z.nullable(z.object({ db_match: z.boolean(), db_reward: number })),
  env_assertions: list(z.object({ env_assertion: jsonObject<EnvAssertion>(), met: z.boolean(), reward: number })),
  action_checks: list(z.object({ action: jsonObject<GoldAction>(), action_match: z.boolean(), action_reward: number })),
  nl_assertions: list(z.object({ nl_assertion: text, ...judged })),
  communicate_checks: list(z.object({ info: text, ...judged })),
  reward_basis: z.array(oneOf(REWARD_TYPES)),
  reward_breakdown: z.partialRecord(oneOf(REWARD_TYPES), number),
  info: z.nullable(jsonObject<Record<string, Json>>()),
} satisfies Fields<RewardInfo>);
const verdict = z.object({
  reward: z.union([z.literal(0), z.literal(1)]),
  changes: z.array(change),
  goal: z.array(change),
  progress: number,
  reward_info: z.optional(rewardInfo),
} satisfies Fields<Verdict>);

const wishFields = {
  intent: text,
  slots: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  words: z.record(z.string(), z.array(z.string())),
};
const wish = z.object({ ...wishFields, impossible: z.boolean(), insteadOf: z.optional(z.object(wishFields)) } satisfies Fields<Wish>);
const scenario = z.object({
  persona: oneOf(PERSONAS),
  identity: texts,
  wishes: z.array(wish),
  tellsAll: z.optional(z.boolean()),
  scripted: z.optional(z.boolean()),
  instruction: text,
  benchmark: z.optional(name),
  history: z.optional(z.array(json)),
  greeting: z.optional(text),
  facts: z.optional(jsonObject<Record<string, Json>>()),
  phone: z.optional(jsonObject<Record<string, Json>>()),
} satisfies Fields<UserScenario>);
export const toolFaultsSchema = z.object({
  outages: number,
  stale_reads: number,
  // Files from before timeouts existed have no such field.
  timeouts: z._default(number, 0),
} satisfies Fields<ToolFaults>);
const task = z.object({
  id: name,
  domain: name,
  level: name,
  split: name,
  world: name,
  scenario,
  actions: z.array(toolCall),
  noop: z.boolean(),
  faults: z.optional(toolFaultsSchema),
  benchmark: z.optional(jsonObject<BenchmarkTask>()),
  tools: z.optional(z.array(toolSchema)),
  policy: z.optional(text),
} satisfies Fields<Task>);

const node = z.object({
  id: natural,
  parent: z.nullable(natural),
  role: z.enum(['system', 'user', 'assistant', 'tool', 'template']),
  text,
  content: z.optional(text),
  toolCall: z.optional(toolCall),
  toolCalls: z.optional(z.array(toolCall)),
  tools: z.optional(z.array(toolSchema)),
  callIds: z.optional(z.array(text)),
  thoughts: z.optional(text),
  parseError: z.optional(text),
  toolResult: z.optional(
    z.object({ name: text, error: z.boolean(), index: number, changes: z.array(change), ms: number } satisfies Fields<
      NonNullable<MessageNode['toolResult']>
    >),
  ),
  by: z.optional(z.enum(['person', 'guard'])),
  tokens: numbers('token ids', (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 31),
  mask: numbers('0 and 1', (value) => value === 0 || value === 1),
  logprobs: sparse,
  annotations: z.optional(
    z.record(z.string(), sparse).check(
      z.refine((own) => Object.keys(own).length <= MOST_ANNOTATIONS, `at most ${MOST_ANNOTATIONS} annotations`),
      z.refine((own) => Object.keys(own).every((field) => ANNOTATION.test(field)), ANNOTATION_TEXT),
    ),
  ),
} satisfies Fields<MessageNode>);
const userCall = z.object({
  after: number,
  call: toolCall,
  text,
  error: z.boolean(),
  index: number,
  changes: z.array(change),
  sameMessage: z.optional(z.literal(true)),
} satisfies Fields<UserCall>);

export const userRequest = z.object({
  seconds: z.nullable(number),
  prompt: z.nullable(natural),
  completion: z.nullable(natural),
  retry: z.boolean(),
  cost: z.optional(number),
} satisfies Fields<UserRequest>);

const faultKinds = z.array(z.enum(CUSTOMER_FAULTS));
const customerJudgement = z.object({
  model: text,
  checked: faultKinds,
  found: faultKinds,
  error: z.optional(text),
} satisfies Fields<CustomerJudgement>);

export const rewardTermsSchema = z.record(name, number);
/** Only the conversations of other tools have other terms than ours. */
export const knownTerms = z.refine<{ rewards?: RewardTerms; foreign?: unknown }>(
  ({ rewards = {}, foreign }) =>
    foreign !== undefined || Object.keys(rewards).every((term) => (REWARD_TERMS as readonly string[]).includes(term)),
  { path: ['rewards'], error: `only ${REWARD_TERMS.join(', ')}` },
);
export const foreignSchema = z.object({
  reward: z.nullable(number),
  columns: z.optional(z.record(name, z.union([name, number, z.boolean()]))),
  writes: z.optional(z.array(name)),
} satisfies Fields<ForeignFacts>);

const judgedAnswer = z.object({
  judge: text,
  wish: text,
  original: z.optional(text),
  value: number,
  comparisons: z.array(
    z.object({
      with: z.nullable(natural),
      score: number,
      verdicts: z.array(z.object({ first: z.boolean(), score: number })),
    } satisfies Fields<Judged['comparisons'][number]>),
  ),
} satisfies Fields<Judged>);

const copiedArguments = z.union([
  z.object({ found: natural, of: natural } satisfies Fields<CopiedArguments>),
  // Earlier versions wrote `found` as `exactly`.
  z.pipe(
    z.object({ exactly: natural, of: natural }),
    z.transform(({ exactly, of }) => ({ found: exactly, of })),
  ),
]);

export const trajectorySchema = z
  .object({
    id,
    task,
    group: id,
    index: natural,
    seed: number,
    userSeed: z.optional(number),
    nodes: z.array(node),
    leaf: natural,
    termination: oneOf(TERMINATIONS),
    ending: z.optional(name),
    userCalls: z.optional(z.array(userCall)),
    userRequests: z.optional(z.array(userRequest)),
    agentRequests: z.optional(z.array(userRequest)),
    customerJudgement: z.optional(customerJudgement),
    turns: natural,
    reward: z.nullable(number),
    rewards: z.optional(rewardTermsSchema),
    foreign: z.optional(foreignSchema),
    judged: z.optional(judgedAnswer),
    verdict: z.nullable(verdict),
    violations: z.array(violation),
    toolCalls: counts,
    parseErrors: natural,
    copied: z.optional(copiedArguments),
    audit: z.optional(
      z.object({ policy: text, hashes: z.array(z.string().check(z.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits'))) } satisfies Fields<
        NonNullable<Trajectory['audit']>
      >),
    ),
    seconds: z.object({ generate: number, tool: number, user: number } satisfies Fields<Trajectory['seconds']>),
    error: z.optional(text),
  } satisfies Fields<Trajectory>)
  .check(knownTerms);

/** @throws ImportError */
export function readTrajectory(value: unknown, file: string, where: string): Trajectory {
  const trajectory = checked<Trajectory>(trajectorySchema, value, file, where);
  checkGraph(trajectory, file, where);
  return trajectory;
}

/** @throws ImportError if the messages do not form a tree, or a token array does not have one value for each token */
export function checkGraph(trajectory: Trajectory, file: string, where: string): void {
  const fail = (path: string, reason: string): never => {
    throw new ImportError(file, located(where, path), reason);
  };
  if (trajectory.nodes.length > MOST_MESSAGES)
    fail('nodes', `has ${trajectory.nodes.length} messages: expected at most ${MOST_MESSAGES}, which the page can show`);
  const known = new Set<number>();
  for (const [i, { id: own, parent, tokens, mask, logprobs, annotations }] of trajectory.nodes.entries()) {
    if (known.has(own)) fail(`nodes[${i}].id`, `${own} is the id of an earlier node`);
    if (parent !== null && !known.has(parent)) fail(`nodes[${i}].parent`, `is ${parent}: expected null or the id of an earlier node`);
    known.add(own);
    for (const [field, { length }] of [...Object.entries({ mask, logprobs }), ...Object.entries(annotations ?? {})])
      if (length !== tokens.length)
        fail(`nodes[${i}].${field}`, `has ${length} values: expected one for each of the ${tokens.length} tokens`);
  }
  if (!known.has(trajectory.leaf)) fail('leaf', `is ${trajectory.leaf}: expected the id of a node`);
}
