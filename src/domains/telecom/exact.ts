/**
 * @file tau2-bench's telecom domain. The agent's tools change a provider's records. Only the user's tools change the simulated
 * phone. In upstream, a broken default VPN server stays broken in later environments; here only in its own episode.
 */
import type { ToolCall } from '../../records/task.ts';
import { Refusal, type Arguments } from '../exact/arguments.ts';
import type { InitialState, Requestor } from '../../records/benchmark-task.ts';
import type { ExactDomain } from '../exact/types.ts';
import { replayHistory } from '../../environments/history.ts';
import type { Rows } from '../../environments/overlay.ts';
import { AGENT_TOOLS } from './agent-tools.ts';
import { AGENT_ASSERTIONS, USER_ASSERTIONS } from './assertions.ts';
import { takeArguments } from './calls.ts';
import { readPhone, savePhone } from './device.ts';
import { AGENT_ACTIONS, USER_ACTIONS } from './initial.ts';
import { dump, dumpUser, load, merge } from './schema.ts';
import { syncTools } from './sync.ts';
import { AGENT_SCHEMAS, USER_SCHEMAS } from './tool-schemas.ts';
import { USER_TOOLS } from './user-tools.ts';

export const telecom: ExactDomain = {
  name: 'telecom',
  tools: AGENT_SCHEMAS,
  userTools: USER_SCHEMAS,
  load,
  dump,
  dumpUser,
  initialize,
  execute(rows, call, { sync = true } = {}) {
    let ran = false;
    try {
      const text = runTool(rows, call);
      ran = true;
      if (sync) syncTools(rows);
      return { text, error: false };
    } catch (cause) {
      return { text: `Error: ${(cause as Error).message}`, error: true, ...(ran && { kept: true as const }) };
    }
  },
  assertion(rows, requestor, name, args) {
    const holds = (requestor === 'user' ? USER_ASSERTIONS : AGENT_ASSERTIONS).get(name);
    if (!holds) throw new Error(`telecom: the ${requestor} has no assertion function '${name}'`);
    return holds(rows, args);
  },
};

function runTool(rows: Rows, { name, arguments: given, requestor = 'assistant' }: ToolCall): string {
  // Upstream passes arguments by keyword, and there the keyword `requestor` has another meaning.
  if (Object.hasOwn(given, 'requestor'))
    throw new Refusal("tau2.environment.environment.Environment.make_tool_call() got multiple values for keyword argument 'requestor'");
  for (const taken of ['self', 'tool_name'])
    if (Object.hasOwn(given, taken)) throw new Refusal(`Environment.make_tool_call() got multiple values for argument '${taken}'`);
  return requestor === 'user' ? useUserTool(rows, name, given) : useAgentTool(rows, name, given);
}

function useAgentTool(rows: Rows, name: string, given: Arguments): string {
  const tool = AGENT_TOOLS.get(name);
  if (!tool) throw new Refusal(`Tool '${name}' not found.`);
  return tool.run(rows, takeArguments(name, tool, given));
}

function useUserTool(rows: Rows, name: string, given: Arguments): string {
  const tool = USER_TOOLS.get(name);
  if (!tool) throw new Refusal(`Tool '${name}' not found.`);
  const phone = readPhone(rows);
  const text = tool.run(phone, takeArguments(name, tool, given));
  savePhone(rows, phone);
  return text;
}

function initialize(rows: Rows, { initialization_data, initialization_actions, message_history }: InitialState): void {
  merge(rows, initialization_data?.agent_data, initialization_data?.user_data);
  for (const action of initialization_actions ?? []) {
    try {
      runAction(rows, action.env_type, action.func_name, action.arguments);
      syncTools(rows);
    } catch (cause) {
      throw new Error(`initialization action ${action.func_name} failed: ${(cause as Error).message}`, { cause });
    }
  }
  replayHistory(message_history ?? [], { mutates, run: (call) => telecom.execute(rows, call) });
  syncTools(rows);
}

/** Runs an initialization action, which can also be a tool. */
function runAction(rows: Rows, requestor: Requestor, name: string, args: Arguments): void {
  if (requestor === 'assistant') {
    const action = AGENT_ACTIONS.get(name);
    if (action) action.run(rows, takeArguments(name, action, args));
    else useAgentTool(rows, name, args);
    return;
  }
  const action = USER_ACTIONS.get(name);
  if (!action) return void useUserTool(rows, name, args);
  const phone = readPhone(rows);
  action.run(phone, takeArguments(name, action, args));
  savePhone(rows, phone);
}

/** The tools that change nothing. They are not run again when a message history is replayed. */
const READING = /^(get|check)_|^(run_speed_test|can_send_mms|transfer_to_human_agents)$/;

const mutates = (tool: string, requestor: Requestor) => (requestor === 'user' ? USER_TOOLS : AGENT_TOOLS).has(tool) && !READING.test(tool);
