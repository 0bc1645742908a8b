/**
 * @file Writes our episodes in the format of tau2-bench's results. tau2-bench's viewer and metrics can read them, and so can
 * our `readResults`.
 */
import type { Requestor, RewardInfo } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';
import type { Task, ToolCall } from '../../records/task.ts';
import type { MessageNode, Trajectory, UserCall } from '../../records/trajectory.ts';
import { isTau2Ending, type Tau2Ending, tau2Ending } from './rules.ts';
import { spoken } from '../../agent/tool-call.ts';
import { callsOf, path } from '../../base/message-path.ts';
import { historyFor } from '../../environments/history.ts';
import type { ResultsInfo } from '../definition.ts';
import { importedParts } from '../imported-benchmark.ts';
import type { Tau2Task } from './task.ts';

export interface Tau2Call {
  id: string;
  name: string;
  arguments: Record<string, Json>;
  requestor: Requestor;
}

export type Tau2Message =
  | { role: 'assistant' | 'user'; content: string | null; tool_calls: Tau2Call[] | null; turn_idx: number; raw_data?: { text: string } }
  | { role: 'tool'; id: string; content: string; requestor: Requestor; error: boolean; turn_idx: number };

/** The reward of a conversation that did not end properly contains only the reward and a note. */
type RecordedReward = { [name in keyof RewardInfo]: RewardInfo[name] | (name extends 'reward' ? never : null) };

export interface Tau2Simulation {
  id: string;
  task_id: string;
  trial: number;
  seed: number;
  timestamp: string;
  start_time: string;
  end_time: string;
  /** The seconds for generation, for tool calls and for waiting for the user. */
  duration: number;
  termination_reason: Tau2Ending;
  agent_cost: null;
  user_cost: null;
  /** Null if the simulated user failed, because the episode has no score in this case. */
  reward_info: RecordedReward | null;
  messages: (Tau2Message | Json)[];
}

export interface Tau2Results {
  timestamp: string;
  info: {
    git_commit: string;
    num_trials: number;
    max_steps: number;
    max_errors: number;
    user_info: { implementation: string; llm: string | null; llm_args: Record<string, Json> | null };
    agent_info: { implementation: string; llm: string | null; llm_args: Record<string, Json> | null };
    environment_info: { domain_name: string; policy: string; tool_defs: null };
    seed: number;
  };
  tasks: Tau2Task[];
  simulations: Tau2Simulation[];
}

export function writeTau2Results(
  trajectories: readonly Trajectory[],
  { domain, trials, seed, agent, user, temperature, startedAt, limits }: ResultsInfo,
): Tau2Results {
  const tasks = new Map(trajectories.map(({ task }) => [taskId(task), task]));
  const count = (limit: number) => (Number.isFinite(limit) ? limit : Number.MAX_SAFE_INTEGER);
  return {
    timestamp: new Date(startedAt).toISOString(),
    info: {
      git_commit: 'mua-rl-playground',
      num_trials: trials,
      max_steps: count(limits.maxSteps),
      max_errors: count(limits.maxErrors),
      user_info: { implementation: user === null ? 'scripted' : 'endpoint', llm: user, llm_args: null },
      agent_info: { implementation: 'mua-rl-playground', llm: agent, llm_args: { temperature } },
      environment_info: { domain_name: importedParts(domain.name)?.domain ?? domain.name, policy: domain.policy, tool_defs: null },
      seed,
    },
    tasks: [...tasks.values()].map(tau2Task),
    simulations: trajectories.map((trajectory) => simulation(trajectory, startedAt)),
  };
}

/** The task's id in the benchmark's files, or our id if the task is generated. */
const taskId = ({ id, benchmark }: Task) => benchmark?.id ?? id;

/** The task in tau2-bench's form. A task of tau2-bench is returned unchanged. */
function tau2Task(task: Task): Tau2Task {
  const { benchmark, scenario, actions } = task;
  if (benchmark && 'user_scenario' in benchmark) return benchmark as Tau2Task;
  // Only a task of tau-bench has `outputs`, the texts that the agent must say.
  const { outputs = [] } = (benchmark ?? {}) as { outputs?: string[] };
  return {
    id: taskId(task),
    user_scenario: { persona: null, instructions: scenario.instruction },
    ticket: null,
    initial_state: null,
    evaluation_criteria: {
      actions: actions.map(({ name, arguments: args, requestor = 'assistant' }, i) => ({
        action_id: String(i),
        requestor,
        name,
        arguments: args,
        compare_args: null,
      })),
      communicate_info: outputs,
      nl_assertions: null,
      reward_basis: benchmark ? ['DB', 'COMMUNICATE'] : ['DB'],
    },
  };
}

function simulation(trajectory: Trajectory, startedAt: number): Tau2Simulation {
  const { id, task, index, seed, seconds, termination, ending } = trajectory;
  const duration = seconds.generate + seconds.tool + seconds.user;
  const [start, end] = [startedAt, startedAt + 1000 * duration].map((time) => new Date(time).toISOString()) as [string, string];
  return {
    id,
    task_id: taskId(task),
    trial: index,
    seed,
    timestamp: start,
    start_time: start,
    end_time: end,
    duration,
    termination_reason: isTau2Ending(ending) ? ending : tau2Ending(termination, false),
    agent_cost: null,
    user_cost: null,
    reward_info: rewardInfo(trajectory),
    messages: messagesOf(trajectory),
  };
}

function rewardInfo({ reward, verdict, termination }: Trajectory): RecordedReward | null {
  if (reward === null || !verdict) return null;
  const none = {
    db_check: null,
    env_assertions: null,
    action_checks: null,
    nl_assertions: null,
    communicate_checks: null,
    reward_basis: null,
    reward_breakdown: null,
  };
  const ended = termination === 'user_stop' || termination === 'terminal_tool';
  if (!ended && reward === 0) return { ...none, reward, info: { note: `the conversation was ended by ${termination}` } };
  const db_check = { db_match: verdict.reward === 1, db_reward: verdict.reward };
  return verdict.reward_info
    ? { ...verdict.reward_info, reward }
    : { ...none, reward, db_check, reward_basis: ['DB'], reward_breakdown: { DB: verdict.reward }, info: null };
}

/**
 * The messages of the conversation. The policy is not among them, because it is in `info`. The user's calls are, although the
 * agent did not see them.
 */
function messagesOf(trajectory: Trajectory): (Tau2Message | Json)[] {
  const { task, userCalls = [] } = trajectory;
  const history = task.scenario.history ?? [];
  const messages: (Tau2Message | Json)[] = [...history];
  // The conversation begins with the messages of the history that the agent has seen.
  let seen = history.length ? historyFor('assistant', history).length : 0;
  const nodes = path(trajectory);
  const spokenNodes = nodes.filter(({ role }) => role !== 'template' && role !== 'system');
  /** The ids of the last turn's calls without a result. */
  let open: string[] = [];
  for (const node of nodes) {
    const i = spokenNodes.indexOf(node);
    if (node.role === 'assistant') open = idsOf(node);
    if (i >= 0 && seen > 0) seen -= 1;
    else if (i >= 0) messages.push(...messageOf(node, open, spokenNodes[i + 1], messages.length));
    for (const made of userCalls) if (made.after === node.id) messages.push(...userCall(made, messages.length));
  }
  return messages;
}

const idsOf = (node: MessageNode): string[] =>
  callsOf(node).map((_, i) => node.callIds?.[i] ?? (i === 0 ? `call_${node.id}` : `call_${node.id}_${i}`));
const asCall = (id: string, { name, arguments: args }: ToolCall, requestor: Requestor): Tau2Call => ({
  id,
  name,
  arguments: args,
  requestor,
});

/** @param open the ids of calls without a result; the result of a tool takes the first of them */
function messageOf(node: MessageNode, open: string[], after: MessageNode | undefined, turn_idx: number): Tau2Message[] {
  const { role, text, content, toolResult, parseError } = node;
  switch (role) {
    case 'user':
      return [{ role, content: text, tool_calls: null, turn_idx }];
    case 'assistant': {
      // If the user answered a malformed call, the user heard it as text. Otherwise the agent said nothing.
      const said = parseError === undefined ? (content ?? spoken(text)) : after?.role === 'user' ? spoken(text) : '';
      const raw = parseError === undefined ? {} : { raw_data: { text } };
      const calls = callsOf(node).map((call, i) => asCall(open[i]!, call, 'assistant'));
      return [{ role, content: said || null, tool_calls: calls.length > 0 ? calls : null, turn_idx, ...raw }];
    }
    case 'tool': {
      // The feedback about a malformed call is not the result of a tool.
      const id = toolResult && open.shift();
      return id === undefined ? [] : [{ role, id, content: text, requestor: 'assistant', error: toolResult!.error, turn_idx }];
    }
    default:
      return [];
  }
}

function userCall({ call, text, error, index }: UserCall, turn_idx: number): Tau2Message[] {
  const id = `user_call_${index}`;
  return [
    { role: 'user', content: null, tool_calls: [asCall(id, call, 'user')], turn_idx },
    { role: 'tool', id, content: text, requestor: 'user', error, turn_idx: turn_idx + 1 },
  ];
}
