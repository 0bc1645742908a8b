/**
 * @file Inspect's evaluation log (UK AI Security Institute, `inspect_ai.log.EvalLog`, version 2). Writes a run as such a log, which
 * `inspect view` can show, and reads the conversations of a log.
 */
import { path } from '../base/message-path.ts';
import { shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import { readConversation } from '../agent/conversation.ts';
import { toMessages } from '../agent/trajectory.ts';
import { ImportError } from '../exchange/import-error.ts';
import { withoutKeys, withoutSecrets } from '../exchange/secrets.ts';
import { TERMINATIONS } from '../exchange/trajectory-schema.ts';
import type { SharedRun } from '../records/bundle.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { TerminationReason, Trajectory } from '../records/trajectory.ts';
import type { ForeignRollout } from './foreign-rollout.ts';

/** The fields of a run that a log needs. */
export type LoggedRun = Pick<SharedRun, 'id' | 'name' | 'createdAt' | 'request' | 'config'>;

/** The terminations that Inspect calls limits: termination → type of limit. */
const LIMITS: Partial<Record<TerminationReason, string>> = { max_turns: 'turn', turn_length: 'token', context_full: 'context' };
const SCORER = 'reward';

/**
 * The log of a run. It has one sample for each conversation: `id` is the task, `epoch` counts the conversations of this task, and the
 * score is the outcome. Data for which Inspect has no field is in `metadata`.
 */
export function inspectLog(
  run: LoggedRun,
  trajectories: readonly Trajectory[],
  rollouts: ReadonlyMap<string, RolloutSummary>,
  keys: readonly string[] = [],
): Record<string, unknown> {
  const created = new Date(run.createdAt).toISOString();
  const epochs = new Map<string, number>();
  const samples = trajectories.map((trajectory) => {
    const epoch = (epochs.get(trajectory.task.id) ?? 0) + 1;
    epochs.set(trajectory.task.id, epoch);
    return sample(trajectory, rollouts.get(trajectory.id), { epoch, model: run.request.model, limits: run.config, keys });
  });
  const scores = trajectories.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const mean = scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
  const variance = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / Math.max(1, scores.length - 1);
  const metric = (name: string, value: number) => ({ name, value, params: {} });
  return {
    version: 2,
    status: 'success',
    eval: {
      eval_id: run.id,
      run_id: run.id,
      created,
      task: `${run.config.domain}/${run.config.level}`,
      task_id: run.id,
      task_version: 0,
      task_attribs: {},
      task_args: {},
      task_args_passed: {},
      task_display_name: withoutKeys(run.name, keys),
      dataset: { name: run.config.domain, samples: epochs.size, sample_ids: [...epochs.keys()] },
      model: run.request.model,
      model_generate_config: { temperature: run.config.temperature, top_p: run.config.top_p },
      model_args: {},
      config: { epochs: Math.max(0, ...epochs.values()) },
      packages: {},
      metadata: { config: run.config },
    },
    plan: { name: 'plan', steps: [], config: {} },
    results: {
      total_samples: samples.length,
      completed_samples: scores.length,
      scores: [
        {
          name: SCORER,
          scorer: SCORER,
          params: {},
          scored_samples: scores.length,
          unscored_samples: samples.length - scores.length,
          metrics: { mean: metric('mean', mean), stderr: metric('stderr', Math.sqrt(variance / Math.max(1, scores.length))) },
        },
      ],
    },
    stats: { started_at: created, completed_at: created, model_usage: {}, role_usage: {}, connection_limit_history: [] },
    invalidated: false,
    tags: [],
    metadata: {},
    samples,
  };
}

function sample(
  trajectory: Trajectory,
  rollout: RolloutSummary | undefined,
  { epoch, model, limits, keys }: { epoch: number; model: string; limits: LoggedRun['config']; keys: readonly string[] },
): Record<string, unknown> {
  const chat = toMessages(trajectory).messages;
  const messages = chat.map((message, i) => inspectMessage(message, `${trajectory.id}-${i}`, model));
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const last = messages.findLast(({ role }) => role === 'assistant');
  const nodes = path(trajectory);
  const sampled = nodes.reduce((sum, { mask }) => sum + mask.filter((value) => value === 1).length, 0);
  const total = nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const { termination, reward, error, seconds } = trajectory;
  const limit = LIMITS[termination];
  const most = { turn: limits.max_turns, token: limits.response_length_one_turn, context: limits.max_model_len }[limit ?? ''];
  const usage = { [model]: { input_tokens: total - sampled, output_tokens: sampled, total_tokens: total } };
  return {
    id: trajectory.task.id,
    epoch,
    uuid: trajectory.id,
    input: messages.slice(0, first < 0 ? messages.length : first),
    target: trajectory.task.actions.map((action) => JSON.stringify(action)),
    messages,
    output: {
      model,
      choices: last ? [{ message: last, stop_reason: termination === 'turn_length' ? 'max_tokens' : 'stop' }] : [],
      completion: chat.findLast(({ role }) => role === 'assistant')?.content ?? '',
      usage: usage[model],
    },
    ...(reward !== null && {
      scores: { [SCORER]: { value: reward, history: [], ...(trajectory.rewards && { metadata: { rewards: trajectory.rewards } }) } },
    }),
    metadata: {
      step: rollout?.step ?? null,
      group: trajectory.group,
      index: trajectory.index,
      advantage: rollout?.advantage ?? null,
      termination,
      num_turns: trajectory.turns,
      violations: trajectory.violations,
      ...(trajectory.audit && { audit: trajectory.audit }),
    },
    store: {},
    events: [],
    model_usage: usage,
    role_usage: {},
    attachments: {},
    total_time: seconds.generate + seconds.tool + seconds.user,
    ...(limit !== undefined && { limit: { type: limit, limit: most } }),
    ...(error !== undefined && { error: { message: withoutSecrets(error, keys), traceback: '', traceback_ansi: '' } }),
  };
}

type InspectMessage = { role: string; content: string | object[]; [field: string]: unknown };

function inspectMessage(
  { role, content, tool_calls, reasoning_content, name, tool_call_id }: ChatMessage,
  id: string,
  model: string,
): InspectMessage {
  if (role === 'tool') return { id, role, content, ...(name !== undefined && { function: name }), ...(tool_call_id && { tool_call_id }) };
  if (role !== 'assistant') return { id, role, content };
  return {
    id,
    role,
    content: reasoning_content
      ? [
          { type: 'reasoning', reasoning: reasoning_content },
          { type: 'text', text: content },
        ]
      : content,
    source: 'generate',
    model,
    ...(tool_calls && {
      tool_calls: tool_calls.map((call) => ({
        id: call.id ?? '',
        function: call.function.name,
        arguments: call.function.arguments,
        type: 'function',
      })),
    }),
  };
}

/** Whether a JSON value has the fields of Inspect's log. */
export const isInspectLog = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && isObject(value.eval) && typeof value.version === 'number';

/** @throws ImportError if a value is not a sample, naming file, sample and field */
export function readInspectSamples(samples: unknown, file: string): ForeignRollout[] {
  if (!Array.isArray(samples) || samples.length === 0)
    throw new ImportError(
      file,
      'samples',
      `is ${shown(samples)}: expected a list of at least one sample (a log may be written without samples)`,
    );
  return samples.map((value, i) => readSample(value, file, `samples[${i}]`));
}

export function readSample(value: unknown, file: string, where: string): ForeignRollout {
  const fail = (field: string, found: unknown, expected: string): never => {
    throw new ImportError(file, field === '' ? where : `${where}.${field}`, `is ${shown(found)}: expected ${expected}`);
  };
  if (!isObject(value)) return fail('', value, 'a sample');
  const { id, epoch = 1, metadata, attachments, scores, error } = value;
  if (typeof id !== 'string' && typeof id !== 'number') fail('id', id, 'a text or a number');
  if (typeof epoch !== 'number' || !Number.isInteger(epoch) || epoch < 0) fail('epoch', epoch, 'a whole number');
  if (!Array.isArray(value.messages) || value.messages.length === 0) fail('messages', value.messages, 'a list of at least one message');
  const stored = isObject(attachments) ? attachments : {};
  const messages = (value.messages as unknown[]).map((message) => chatMessage(message, stored));
  const extra = isObject(metadata) ? metadata : {};
  const { step, group, index, advantage, termination, num_turns } = extra;
  const natural = (number: unknown): number | undefined =>
    Number.isInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
  let checked: ChatMessage[];
  try {
    checked = readConversation({ messages }, where).messages;
  } catch (cause) {
    throw new ImportError(file, '', (cause as Error).message);
  }
  return {
    task: String(id),
    group: typeof group === 'string' ? group : String(id),
    index: natural(index) ?? Math.max(0, (epoch as number) - 1),
    ...(natural(step) !== undefined && { step: natural(step)! }),
    messages: checked,
    reward: scoreOf(scores),
    advantage: typeof advantage === 'number' && Number.isFinite(advantage) ? advantage : null,
    termination: endingOf(termination, value.limit),
    ...(natural(num_turns) !== undefined && { turns: natural(num_turns)! }),
    ...(isObject(error) && typeof error.message === 'string' && { error: error.message }),
  };
}

/** Turns Inspect's message into OpenAI's format. Parts that are not text become `[image]`, `[audio]`, … */
function chatMessage(value: unknown, attachments: Record<string, unknown>): unknown {
  if (!isObject(value)) return value;
  const { role, content, tool_calls, tool_call_id, function: name } = value;
  const resolved = (text: string) =>
    text.replace(/attachment:\/\/([0-9a-f]{32})/g, (own, key: string) => (typeof attachments[key] === 'string' ? attachments[key] : own));
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content.filter(isObject) : [];
  const reasoning = parts.flatMap((part) => (part.type === 'reasoning' && typeof part.reasoning === 'string' ? [part.reasoning] : []));
  const said = parts
    .filter(({ type }) => type !== 'reasoning')
    .map(({ type, text }) =>
      type === 'text' && typeof text === 'string' ? resolved(text) : `[${typeof type === 'string' ? type : 'part'}]`,
    );
  return {
    role,
    content: said.join('\n'),
    ...(reasoning.length > 0 && { reasoning_content: resolved(reasoning.join('\n')) }),
    ...(role === 'assistant' &&
      Array.isArray(tool_calls) && {
        tool_calls: tool_calls.map((call: unknown) =>
          isObject(call) ? { id: call.id, type: 'function', function: { name: call.function, arguments: call.arguments } } : call,
        ),
      }),
    ...(role === 'tool' && { ...(typeof name === 'string' && { name }), ...(typeof tool_call_id === 'string' && { tool_call_id }) }),
  };
}

/** The first scorer's value as a number, as in Inspect's `value_to_float`: C is 1, P is 0.5, I and N are 0. Null for lists and objects. */
function scoreOf(scores: unknown): number | null {
  const first = isObject(scores) ? Object.values(scores)[0] : undefined;
  const value = isObject(first) ? first.value : undefined;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const letters: Record<string, number> = { C: 1, P: 0.5, I: 0, N: 0 };
  return typeof value === 'string' && Object.hasOwn(letters, value) ? letters[value]! : null;
}

function endingOf(termination: unknown, limit: unknown): TerminationReason {
  if (typeof termination === 'string' && Object.hasOwn(TERMINATIONS, termination)) return termination as TerminationReason;
  const type = isObject(limit) ? limit.type : undefined;
  if (type === 'context') return 'context_full';
  return type === 'turn' || type === 'message' ? 'max_turns' : 'unknown';
}
