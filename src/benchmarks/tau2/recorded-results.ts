/** @file Reads the results files of tau2-bench. */
import { z } from 'zod';
import type { Requestor } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import { check, ImportError } from '../../exchange/import-error.ts';
import type { ConversationCall, RecordedRun, Turn } from '../recorded-conversation.ts';
import { errorText } from '../tau/error-text.ts';

const record = z.record(z.string(), z.unknown());
const spoken = z.looseObject({ role: z.string() });
const call = z.looseObject({
  id: z.string().optional(),
  name: z.string(),
  arguments: record,
  requestor: z.enum(['assistant', 'user']).optional(),
});
const message = spoken.extend({ tool_calls: z.array(call).nullish(), tool_messages: z.array(spoken).nullish() });
const simulation = z.looseObject({
  task_id: z.string(),
  trial: z.number().nullish(),
  termination_reason: z.string(),
  messages: z.array(message).nullish(),
  info: z.looseObject({ error: z.unknown().optional() }).nullish(),
  reward_info: z
    .looseObject({
      reward: z.number(),
      reward_breakdown: z.record(z.string(), z.number()).nullish(),
      nl_assertions: z.array(z.looseObject({ nl_assertion: z.string(), met: z.boolean() })).nullish(),
      action_checks: z.array(z.looseObject({ action_match: z.boolean() })).nullish(),
    })
    .nullish(),
});
const resultsFile = z.looseObject({
  tasks: z
    .array(
      z.looseObject({
        id: z.string(),
        evaluation_criteria: z
          .looseObject({ actions: z.array(z.looseObject({ name: z.string(), arguments: record })).nullish() })
          .nullish(),
      }),
    )
    .nullish(),
  simulation_index: z.array(z.unknown()).nullish(),
  simulations: z.array(simulation),
});

/** @throws ImportError that names the file, the path and the reason */
export function readTau2Results(file: string, value: Json): RecordedRun[] {
  const { tasks, simulations, simulation_index: index } = check<ResultsFile>(resultsFile, value, file);
  if (simulations.length === 0 && index && index.length > 0)
    throw new ImportError(
      file,
      'simulations',
      `is empty, but simulation_index has ${index.length}: import the files of the folder simulations/`,
    );
  const gold = new Map((tasks ?? []).map((task) => [task.id, task.evaluation_criteria?.actions ?? []]));
  return simulations.map((own) => recordedRun(own, gold.get(own.task_id) ?? null));
}

interface Message {
  role: string;
  content?: unknown;
  id?: string;
  tool_calls?: (ConversationCall & { id?: string })[] | null;
  tool_messages?: Message[] | null;
  error?: unknown;
}
interface ResultsFile {
  tasks?: { id: string; evaluation_criteria?: { actions?: { name: string; arguments: Record<string, Json> }[] | null } | null }[] | null;
  simulation_index?: unknown[] | null;
  simulations: {
    task_id: string;
    trial?: number | null;
    termination_reason: string;
    messages?: Message[] | null;
    info?: { error?: unknown } | null;
    reward_info?: {
      reward: number;
      reward_breakdown?: Record<string, number> | null;
      nl_assertions?: { nl_assertion: string; met: boolean }[] | null;
      action_checks?: { action_match: boolean }[] | null;
    } | null;
  }[];
}

/** The endings of a complete conversation. With any other ending the reward is 0. */
const PROPER_ENDS = ['agent_stop', 'user_stop'];

/** Why a run failed for another reason than the agent. tau2-bench leaves such runs out of its metrics. */
function failureOf(ending: string, error: unknown, rewarded: unknown): string | undefined {
  const text = errorText(error);
  const said = text === undefined ? '' : `: ${text}`;
  if (ending === 'infrastructure_error') return `${ending}${said}`;
  return (rewarded === undefined || rewarded === null) && (said !== '' || /error/.test(ending)) ? `${ending}${said}` : undefined;
}

function recordedRun(
  { task_id, trial, termination_reason, messages, info, reward_info }: ResultsFile['simulations'][number],
  gold: RecordedRun['gold'],
): RecordedRun {
  const problems: string[] = [];
  const turns: Turn[] = [];
  const queue = (messages ?? []).flatMap((message) => message.tool_messages ?? [message]);
  for (let message; (message = queue.shift());) {
    const { role, content, tool_calls } = message;
    if (role !== 'assistant' && role !== 'user') continue;
    // In tau2-bench, a message with a call can also contain text for the other party.
    if (typeof content === 'string' && content.trim() !== '') turns.push({ kind: 'said', role, text: content });
    for (const { id, name, arguments: args, requestor = role as Requestor } of tool_calls ?? []) {
      const answered = queue[0]?.role === 'tool' && (id === undefined || queue[0].id === undefined || queue[0].id === id);
      if (!answered) problems.push(`the call ${id ?? ''} of ${name} is not followed by its answer`);
      const answer = answered ? queue.shift() : undefined;
      const recorded =
        typeof answer?.content === 'string' ? { recorded: answer.content, ...(answer.error === true && { failed: true }) } : {};
      turns.push({ kind: 'called', call: { name, arguments: args, requestor, ...recorded } });
    }
  }
  const error = failureOf(termination_reason, info?.error, reward_info);
  return {
    task: task_id,
    trial: trial ?? 0,
    conversation: { turns, ended: PROPER_ENDS.includes(termination_reason) },
    reward: error === undefined ? (reward_info?.reward ?? null) : null,
    ending: termination_reason,
    ...(error !== undefined && { error }),
    parts: { ...reward_info?.reward_breakdown },
    gold,
    problems,
    actionChecks: reward_info?.action_checks?.map(({ action_match }) => action_match),
    judged: new Map((reward_info?.nl_assertions ?? []).map(({ nl_assertion, met }) => [nl_assertion, met])),
  };
}
