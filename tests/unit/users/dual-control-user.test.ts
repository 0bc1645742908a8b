import * as comlink from 'comlink';
import { afterEach, describe, expect, it } from 'vitest';
import type { ToolCall } from '../../../src/records/task.ts';
import { makeTelecomTasks } from '../../../src/domains/telecom/generator.ts';
import { telecomTask } from '../../../src/domains/telecom/definition.ts';
import { telecom } from '../../../src/domains/telecom/exact.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { HandsOnCustomer } from '../../../src/domains/telecom/customer.ts';
import { customerPrompt } from '../../../src/users/prompt.ts';
import { tau2Prompt } from '../../../src/benchmarks/tau2/user-prompt.ts';
import { RemoteUsers } from '../../../src/users/remote.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { startUserServer } from '../../../src/serve/user-server.ts';
import { OUT_OF_SCOPE, STOP, TRANSFER, type UserSimulator, type UserTools } from '../../../src/users/types.ts';
import { UserSessions, type UserWorkerApi } from '../../../src/users/worker-api.ts';
import { startChatServer } from '../../support/chat-server.ts';
import { customerScripts } from '../../../src/domains/registry.ts';

let cleanup: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(cleanup.map((close) => close()));
  cleanup = [];
});

const [service] = makeTelecomTasks({ level: 'nano', split: 'train', seed: 3, count: 40 })
  .filter(({ intent, issues, persona }) => intent === 'service_issue' && issues[0] === 'airplane_mode_on' && persona !== 'Hard')
  .map(telecomTask);
const scenario = service!.scenario;

/** A phone in airplane mode. */
function phone() {
  const calls: ToolCall[] = [];
  let airplane = true;
  const tools: UserTools = {
    schemas: telecom.userTools,
    call: async (made) =>
      made.map((call) => {
        calls.push(call);
        if (call.name === 'toggle_airplane_mode') airplane = !airplane;
        return { text: `Status Bar: ${airplane ? '✈️ Airplane Mode' : '📶⁴ Excellent | 5G'} | 🔋 80%`, error: false };
      }),
  };
  return { tools, calls };
}

describe('behind an endpoint', () => {
  const use = (id: string, name: string, args: string | object = '{}') => ({ id, type: 'function', function: { name, arguments: args } });

  it('gets its tools, and its calls are executed until it speaks', async () => {
    const server = await startChatServer([
      { content: 'No signal.' },
      { content: null, tool_calls: [use('a', 'check_status_bar'), use('b', 'toggle_airplane_mode', {})] },
      { content: '', tool_calls: [use('c', 'check_status_bar', 'no JSON')] },
      { content: `It works. ${STOP}` },
    ]);
    cleanup.push(server.close);
    const { tools, calls } = phone();
    const user = new EndpointUsers({ baseUrl: server.url, model: 'm' }).session(scenario, 1, tools);
    expect(await user.open()).toBe('No signal.');
    expect(await user.reply('Please toggle airplane mode.')).toBe(`It works. ${STOP}`);
    expect(calls).toEqual([
      { name: 'check_status_bar', arguments: {} },
      { name: 'toggle_airplane_mode', arguments: {} },
    ]);
    expect(server.requests[0]!.tools!.map((tool) => tool.function.name)).toEqual(telecom.userTools.map((tool) => tool.function.name));
    expect(server.requests[3]!.messages.slice(3)).toEqual([
      { role: 'user', content: 'Please toggle airplane mode.' },
      { role: 'assistant', content: null, tool_calls: [use('a', 'check_status_bar'), use('b', 'toggle_airplane_mode')] },
      { role: 'tool', tool_call_id: 'a', content: 'Status Bar: ✈️ Airplane Mode | 🔋 80%' },
      { role: 'tool', tool_call_id: 'b', content: 'Status Bar: 📶⁴ Excellent | 5G | 🔋 80%' },
      { role: 'assistant', content: null, tool_calls: [use('c', 'check_status_bar', 'no JSON')] },
      { role: 'tool', tool_call_id: 'c', content: 'Error: the arguments are not a JSON object' },
    ]);
  });

  it('without user tools gets no tools, and calls to unknown tools are dropped', async () => {
    const server = await startChatServer([{ content: 'Hi.', tool_calls: [use('a', 'look')] }]);
    cleanup.push(server.close);
    expect(await new EndpointUsers({ baseUrl: server.url, model: 'm' }).session(scenario, 1).open()).toBe('Hi.');
    expect(server.requests[0]!).not.toHaveProperty('tools');
  });

  it("gets tau2-bench's stop words, and the part about tools only if it has tools", () => {
    const { instruction } = scenario;
    for (const word of [STOP, TRANSFER, OUT_OF_SCOPE]) expect(tau2Prompt(instruction, false)).toContain(word);
    expect(tau2Prompt(instruction, false)).not.toContain('Call a tool');
    expect(tau2Prompt(instruction, true)).toContain('Call a tool');
    expect(customerPrompt(instruction)).not.toContain(TRANSFER);
  });
});

describe('scripted', () => {
  const lines = ['What is your name and phone number?', 'Please use check_network_status.', 'Please use toggle_airplane_mode.'];

  async function talk(users: UserSimulator) {
    const { tools, calls } = phone();
    const user = users.session(scenario, 5, tools);
    const said = [await user.open()];
    for (const line of lines) said.push(await user.reply(line));
    return { said, calls: calls.map(({ name }) => name) };
  }

  it('follows the agent, checks whether the problem is solved, and then stops', async () => {
    const { said, calls } = await talk(new ScriptedUsers(customerScripts));
    expect(calls).toEqual(['check_network_status', 'toggle_airplane_mode', 'check_status_bar']);
    expect(said[0]).toMatch(/service|signal/);
    expect(said[1]).toContain(scenario.identity.phone_number);
    expect(said[2]).toBe('Status Bar: Airplane Mode | 80%.');
    expect(said[3]).toMatch(/Excellent \| 5G.*It works now/);
    expect(said[3]).toContain(STOP);
  });

  it('is the same over HTTP and in another worker', async () => {
    const own = await talk(new ScriptedUsers(customerScripts));
    const server = await startUserServer();
    cleanup.push(() => server.close());
    expect(await talk(new EndpointUsers({ baseUrl: server.url, model: 'scripted-user' }))).toEqual(own);
    const { port1, port2 } = new MessageChannel();
    cleanup.push(() => port1.close());
    comlink.expose(new UserSessions(customerScripts), port1);
    expect(await talk(await RemoteUsers.create(comlink.wrap<UserWorkerApi>(port2), { mode: 'scripted' }))).toEqual(own);
  });

  const customer = (problem: 'service' | 'data', refuel: number | null = null) =>
    new HandsOnCustomer({ ...scenario, phone: { problem, place: 'Spain', refuel, terse: true } }, telecom.userTools, 1);

  it.each([
    ['Please use reset_apn_settings, then reboot_device.', { say: expect.stringMatching(/one (step|thing) at a time/i) as string }],
    ['Please toggle data saver mode.', { call: { name: 'toggle_data_saver_mode', arguments: {} } }],
    [
      'Please use set_network_mode_preference with 4g_5g_preferred.',
      { call: { name: 'set_network_mode_preference', arguments: { mode: '4g_5g_preferred' } } },
    ],
    [
      'Please use grant_app_permission with messaging and sms.',
      { call: { name: 'grant_app_permission', arguments: { app_name: 'messaging', permission: 'sms' } } },
    ],
    ['Please use grant_app_permission.', { say: expect.stringContaining('app name and permission') as string }],
    ['Could you restart your phone?', { call: { name: 'reboot_device', arguments: {} } }],
    ['Where are you?', { say: 'I am abroad, in Spain.' }],
    ['Would you like to change your plan?', { say: 'No, I do not want another plan.' }],
    ['May I add 2 GB of data?', { say: 'No, I do not want to buy more data.' }],
    ['Does it work?', { call: { name: 'run_speed_test', arguments: {} } }],
    ['You are being transferred to a human agent.', { say: TRANSFER }],
  ])('hears "%s"', (text, move) => {
    expect(customer('data').hear(text)).toEqual(move);
  });

  it('buys as much data as it wants', () => {
    expect(customer('data', 2).hear('May I add 2 GB of data?')).toEqual({ say: 'Yes, 2 GB, please.' });
    expect(customer('data', 1.5).hear('May I add 2 GB of data?')).toEqual({ say: 'No, I would take 1.5 GB.' });
  });

  it('reads the instruction of an imported task', () => {
    const instruction =
      'reason for call: Your mobile data is slow.\nknown info: You are Ada Brown with phone number 555-123-0001. You are currently abroad in Kenya.\ntask: You would refuel 2.0 GB. Look whether you can send an MMS when asked.';
    const user = new HandsOnCustomer(
      { persona: 'on_request', identity: {}, wishes: [], instruction, benchmark: 'tau2' },
      telecom.userTools,
      1,
    );
    expect(user.open()).toMatch(/data|internet/);
    expect(user.hear('What is your name and number?')).toEqual({ say: 'I am Ada Brown. My number is 555-123-0001.' });
    expect(user.hear('Where are you?')).toEqual({ say: 'I am abroad, in Kenya.' });
    expect(user.hear('May I add 2 GB?')).toEqual({ say: 'Yes, 2 GB, please.' });
  });

  it('ends a conversation in which the agent makes no sense', () => {
    const user = customer('service');
    expect(Array.from({ length: 4 }, () => user.hear('Lovely weather.')).at(-1)).toEqual({ say: OUT_OF_SCOPE });
  });

  it('reports a failed call, and does not check whether the problem is solved', () => {
    const user = customer('service');
    user.hear('Please use toggle_airplane_mode.');
    expect(user.result('Error: out of order')).toEqual({ say: 'Error: out of order.' });
  });
});
