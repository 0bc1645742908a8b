/**
 * @file Writes a run as Inspect's evaluation log (UK AI Security Institute, `inspect_ai.log.EvalLog`, version 2), which `inspect view` can
 * show.
 */
import { path } from '../base/message-path.ts';
import { toMessages } from '../agent/trajectory.ts';
import { recordedEnding } from '../base/recorded-ending.ts';
import { recordedReward } from '../base/total-reward.ts';
import { withoutKeys, withoutSecrets } from '../exchange/secrets.ts';
import type { SharedRun } from '../records/bundle.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import type { TerminationReason, Trajectory } from '../records/trajectory.ts';
import { modelEvents } from './inspect-events.ts';

/** The fields of a run that a log needs. */
export type LoggedRun = Pick<SharedRun, 'id' | 'name' | 'createdAt' | 'request' | 'config' | 'foreign'>;

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
    return sample(trajectory, rollouts.get(trajectory.id), { epoch, model: run.request.model, limits: run.config, keys, created });
  });
  const scores = trajectories.flatMap((own) => recordedReward(own) ?? []);
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
      model_generate_config: run.foreign ? {} : { temperature: run.config.temperature, top_p: run.config.top_p },
      model_args: {},
      config: { epochs: Math.max(0, ...epochs.values()) },
      packages: {},
      metadata: run.foreign ?? { config: run.config },
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
  {
    epoch,
    model,
    limits,
    keys,
    created,
  }: { epoch: number; model: string; limits: LoggedRun['config']; keys: readonly string[]; created: string },
): Record<string, unknown> {
  const chat = toMessages(trajectory).messages;
  const messages = chat.map((message, i) => inspectMessage(message, `${trajectory.id}-${i}`, model));
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const last = messages.findLast(({ role }) => role === 'assistant');
  const nodes = path(trajectory);
  const sampled = nodes.reduce((sum, { mask }) => sum + mask.filter((value) => value === 1).length, 0);
  const total = nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const { termination, error, seconds, foreign } = trajectory;
  const reward = recordedReward(trajectory);
  const limit = LIMITS[termination];
  const most = { turn: limits.max_turns, token: limits.response_length_one_turn, context: limits.max_model_len }[limit ?? ''];
  const usage = { [model]: { input_tokens: total - sampled, output_tokens: sampled, total_tokens: total } };
  const output = {
    model,
    choices: last ? [{ message: last, stop_reason: termination === 'turn_length' ? 'max_tokens' : 'stop' }] : [],
    completion: chat.findLast(({ role }) => role === 'assistant')?.content ?? '',
    usage: usage[model],
  };
  return {
    id: trajectory.task.id,
    epoch,
    uuid: trajectory.id,
    input: messages.slice(0, first < 0 ? messages.length : first),
    target: trajectory.task.actions.map((action) => JSON.stringify(action)),
    messages,
    output,
    ...(reward !== null && {
      scores: { [SCORER]: { value: reward, history: [], ...(trajectory.rewards && { metadata: { rewards: trajectory.rewards } }) } },
    }),
    metadata: {
      step: rollout?.step ?? null,
      group: trajectory.group,
      index: trajectory.index,
      advantage: rollout?.advantage ?? null,
      termination: recordedEnding(trajectory),
      num_turns: trajectory.turns,
      violations: trajectory.violations,
      ...(trajectory.audit && { audit: trajectory.audit }),
      ...foreign?.columns,
    },
    store: {},
    events: modelEvents(messages, output, { id: trajectory.id, model, created }),
    model_usage: usage,
    role_usage: {},
    attachments: {},
    total_time: seconds.generate + seconds.tool + seconds.user,
    ...(limit !== undefined && { limit: { type: limit, limit: most ?? 0 } }),
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
