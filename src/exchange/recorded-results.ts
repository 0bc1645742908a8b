/** @file Recorded results of tau-bench and tau2-bench, as conversations with the reward they were given. */
import { z } from 'zod';
import type { Benchmark, Requestor } from '../environments/exact/types.ts';
import type { Json } from '../environments/types.ts';
import type { Conversation, ConversationCall, Turn } from '../evaluation/conversation.ts';
import { check } from './import-error.ts';

export interface RecordedRun {
  /** As the results name it: an index in tau-bench, an id in tau2-bench. */
  task: string;
  trial: number;
  conversation: Conversation;
  reward: number | null;
  /** The recorded parts of the reward, by name (`DB`, `r_actions`, …). */
  parts: Record<string, number>;
  /** Gold actions as they were then; null where the results don't tell. */
  gold: { name: string; arguments: Record<string, Json> }[] | null;
  /** tau-bench: the task as it was then, to find it by. */
  instruction?: string;
  outputs?: string[];
  /** tau2-bench: what a judge said then, by assertion. */
  judged: Map<string, boolean>;
  /** tau2-bench: which gold actions were found then. */
  actionChecks?: boolean[];
  /** What could not be read of it. */
  problems: string[];
}

const record = z.record(z.string(), z.unknown());
const spoken = z.looseObject({ role: z.string() });
const tau1File = z.array(z.looseObject({
  task_id: z.union([z.number(), z.string()]),
  reward: z.number().nullish(),
  trial: z.number().optional(),
  info: z.looseObject({
    task: z.looseObject({ actions: z.array(z.looseObject({ name: z.string(), kwargs: record })), outputs: z.array(z.string()).optional(), instruction: z.string().optional() }).optional(),
    reward_info: z.looseObject({ info: z.looseObject({ r_actions: z.union([z.number(), z.boolean()]).optional(), r_outputs: z.union([z.number(), z.boolean()]).optional() }) }).nullish(),
  }).nullish(),
  traj: z.array(spoken),
}));
const tau2Call = z.looseObject({ id: z.string().optional(), name: z.string(), arguments: record, requestor: z.enum(['assistant', 'user']).optional() });
const tau2Message = spoken.extend({ tool_calls: z.array(tau2Call).nullish(), tool_messages: z.array(spoken).nullish() });
const tau2File = z.looseObject({
  tasks: z.array(z.looseObject({ id: z.string() })).optional(),
  simulations: z.array(z.looseObject({
    task_id: z.string(),
    trial: z.number().nullish(),
    termination_reason: z.string(),
    messages: z.array(tau2Message),
    reward_info: z.looseObject({
      reward: z.number(),
      reward_breakdown: z.record(z.string(), z.number()).nullish(),
      nl_assertions: z.array(z.looseObject({ nl_assertion: z.string(), met: z.boolean() })).nullish(),
      action_checks: z.array(z.looseObject({ action_match: z.boolean() })).nullish(),
    }).nullish(),
  })),
});

/** The runs of a results file. @throws ImportError naming file, path and reason */
export function readResults(file: string, value: Json, benchmark: Benchmark): RecordedRun[] {
  if (benchmark === 'tau1') return check<Tau1Entry[]>(tau1File, value, file).map(tau1Run);
  const { tasks = [], simulations } = check<Tau2File>(tau2File, value, file);
  const gold = new Map(tasks.map((task) => [task.id, task.evaluation_criteria?.actions ?? []]));
  return simulations.map((simulation) => tau2Run(simulation, gold.get(simulation.task_id) ?? null));
}

interface Tau1Message { role: string; content?: string | null; tool_calls?: { function: { name: string; arguments: string } }[] | null }
interface Tau1Entry {
  task_id: number | string;
  reward?: number | null;
  trial?: number;
  info?: { task?: { actions: { name: string; kwargs: Record<string, Json> }[]; outputs?: string[]; instruction?: string }; reward_info?: { info: Record<string, number | boolean | undefined> } | null } | null;
  traj: Tau1Message[];
}

const STOP = '###STOP###';
const TRANSFER = 'transfer_to_human_agents';

function tau1Run({ task_id, reward, trial = 0, info, traj }: Tau1Entry): RecordedRun {
  const problems: string[] = [];
  const turns: Turn[] = [];
  traj.forEach((message, i) => {
    // Quirk: tau-bench's agent acts on the first call of a message, and its words beside a call are not spoken.
    const call = message.tool_calls?.[0]?.function;
    if (message.role === 'assistant' && call) {
      const args = argumentsOf(call.arguments);
      const answer = traj[i + 1];
      if (args) turns.push({ kind: 'called', call: { name: call.name, arguments: args, ...(answer?.role === 'tool' && { recorded: String(answer.content) }) } });
      else problems.push(`traj[${i}]: the arguments of ${call.name} are not a JSON object`);
    } else if (message.role === 'assistant' || message.role === 'user') turns.push({ kind: 'said', role: message.role, text: typeof message.content === 'string' ? message.content : '' });
  });
  const last = turns.at(-1);
  const ended = last !== undefined && (last.kind === 'called' ? last.call.name === TRANSFER : last.role === 'user' && last.text.includes(STOP));
  const parts = Object.entries(info?.reward_info?.info ?? {}).flatMap(([name, value]): [string, number][] => (/^r_/.test(name) ? [[name, Number(value)]] : []));
  return {
    task: String(task_id), trial, conversation: { turns, ended }, reward: reward ?? null, parts: Object.fromEntries(parts), judged: new Map(), problems,
    gold: info?.task?.actions.map(({ name, kwargs }) => ({ name, arguments: kwargs })) ?? null, instruction: info?.task?.instruction, outputs: info?.task?.outputs,
  };
}

function argumentsOf(text: string): Record<string, Json> | null {
  try {
    const value = JSON.parse(text) as Json;
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

interface Tau2Message { role: string; content?: unknown; id?: string; tool_calls?: (ConversationCall & { id?: string })[] | null; tool_messages?: Tau2Message[] | null }
interface Tau2File {
  tasks?: { id: string; evaluation_criteria?: { actions?: { name: string; arguments: Record<string, Json> }[] | null } | null }[];
  simulations: {
    task_id: string;
    trial?: number | null;
    termination_reason: string;
    messages: Tau2Message[];
    reward_info?: { reward: number; reward_breakdown?: Record<string, number> | null; nl_assertions?: { nl_assertion: string; met: boolean }[] | null; action_checks?: { action_match: boolean }[] | null } | null;
  }[];
}

/** The only ways to end that count; all others get nothing. */
const PROPER_ENDS = ['agent_stop', 'user_stop'];

function tau2Run({ task_id, trial, termination_reason, messages, reward_info }: Tau2File['simulations'][number], gold: RecordedRun['gold']): RecordedRun {
  const problems: string[] = [];
  const turns: Turn[] = [];
  const queue = messages.flatMap((message) => message.tool_messages ?? [message]);
  for (let message; (message = queue.shift()); ) {
    const { role, content, tool_calls } = message;
    if (role !== 'assistant' && role !== 'user') continue;
    // Words beside a call are spoken in tau2.
    if (typeof content === 'string' && content.trim() !== '') turns.push({ kind: 'said', role, text: content });
    for (const { id, name, arguments: args, requestor = role as Requestor } of tool_calls ?? []) {
      const answered = queue[0]?.role === 'tool' && (id === undefined || queue[0].id === undefined || queue[0].id === id);
      if (!answered) problems.push(`the call ${id ?? ''} of ${name} is not followed by its answer`);
      const answer = answered ? queue.shift()!.content : undefined;
      turns.push({ kind: 'called', call: { name, arguments: args, requestor, ...(typeof answer === 'string' && { recorded: answer }) } });
    }
  }
  return {
    task: task_id, trial: trial ?? 0, conversation: { turns, ended: PROPER_ENDS.includes(termination_reason) }, reward: reward_info?.reward ?? null,
    parts: { ...reward_info?.reward_breakdown }, gold, problems, actionChecks: reward_info?.action_checks?.map(({ action_match }) => action_match),
    judged: new Map((reward_info?.nl_assertions ?? []).map(({ nl_assertion, met }) => [nl_assertion, met])),
  };
}
