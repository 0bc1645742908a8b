import { beforeAll, describe, expect, it } from 'vitest';
import type { Act } from '../../../src/agent/acts.ts';
import { messagesOf } from '../../../src/agent/players.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createExpert } from '../../../src/domains/telecom/expert.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { Domain } from '../../../src/environments/types.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import type { Style } from '../../../src/records/dataset.ts';
import type { Split } from '../../../src/records/task.ts';
import { demonstrators } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const users = new ScriptedUsers(customerScripts);

interface Conversation {
  issues: string[];
  reward: number;
  style: Style;
  /** Without the system message. */
  messages: ChatMessage[];
}

async function play(level: string, split: Split, count: number): Promise<Conversation[]> {
  const demonstrate = await demonstrators({ environments, users }, 'telecom', level);
  const tasks = await environments.tasks({ domain: 'telecom', level, split, seed: 7, count });
  const played: Conversation[] = [];
  for (const [seed, task] of tasks.entries()) {
    const { demonstrator, trajectory } = await demonstrate(task, seed);
    const { issues } = task.benchmark as unknown as { issues: string[] };
    const messages = messagesOf(trajectory.nodes).filter(({ role }) => role !== 'system');
    played.push({ issues, reward: trajectory.reward!, style: demonstrator, messages });
  }
  return played;
}

const WRITES = ['send_payment_request', 'resume_line', 'enable_roaming', 'refuel_data'];
const callOf = ({ tool_calls }: ChatMessage) => tool_calls?.[0]?.function;

/** Each write, with the messages before it. */
const writesIn = ({ messages }: Conversation) =>
  messages.flatMap((message, i) =>
    WRITES.includes(callOf(message)?.name ?? '') ? [{ call: callOf(message)!, before: messages.slice(0, i) }] : [],
  );

/** Every fault of tau2-bench's telecom domain, written out by hand. */
const FAULTS = `airplane_mode_on unseat_sim_card lock_sim_card_pin break_apn_settings overdue_bill_suspension contract_end_suspension
  user_abroad_roaming_enabled_off user_abroad_roaming_disabled_on user_abroad_roaming_disabled_off data_mode_off data_saver_mode_on
  bad_network_preference bad_vpn data_usage_exceeded data_usage_exceeded_no_refuel bad_wifi_calling break_apn_mms_setting
  break_app_sms_permission break_app_storage_permission break_app_both_permissions`.split(/\s+/);

describe('expert × scripted customer × environment', () => {
  const played: Record<string, Conversation[]> = {};
  beforeAll(async () => {
    for (const level of ['nano', 'small', 'full']) played[level] = await play(level, 'train', 200);
    played.heldout = await play('small', 'heldout', 50);
  }, 120_000);
  const all = () => Object.values(played).flat();

  it.each([
    ['nano', 1],
    ['small', 0.97],
    ['full', 0.95],
    ['heldout', 0.97],
  ])('solves the tasks of %s', (name, share) => {
    const failed = played[name]!.filter(({ reward }) => reward !== 1);
    expect(1 - failed.length / played[name]!.length, failed.map(({ issues }) => issues.join()).join('; ')).toBeGreaterThanOrEqual(share);
  });

  it('meets every fault at nano', () => {
    expect([...new Set(played.nano!.flatMap(({ issues }) => issues))].sort()).toEqual([...FAULTS].sort());
  });

  it('asks for a yes to exactly each write if it is careful, and never if it is brisk', () => {
    const careful = all().filter(({ style }) => style === 'careful');
    const brisk = all().filter(({ style }) => style === 'brisk');
    for (const { call, before } of careful.flatMap(writesIn)) {
      const [question, answer] = before.slice(-2);
      expect(answer).toMatchObject({ role: 'user', content: expect.stringMatching(/^Yes\b/) as string });
      const { customer_id: _, ...details } = call.arguments as Record<string, unknown>;
      for (const detail of Object.values(details)) expect(question!.content).toContain(String(detail));
    }
    for (const name of WRITES)
      for (const some of [careful, brisk])
        expect(some.flatMap(writesIn).filter(({ call }) => call.name === name).length).toBeGreaterThan(5);
    expect(
      brisk.flatMap(({ messages }) => messages).filter(({ role, content }) => role === 'assistant' && /\bMay I\b/.test(content)),
    ).toEqual([]);
  });

  it('says and calls nothing with a number or an id that nobody has said before', () => {
    for (const { messages } of all())
      for (const [i, message] of messages.entries()) {
        if (message.role !== 'assistant') continue;
        const said = message.content + JSON.stringify(callOf(message)?.arguments ?? {});
        const known = messages
          .slice(0, i)
          .map(({ content }) => content)
          .join('\n');
        for (const [fact] of said.replaceAll('4g_5g_preferred', '').matchAll(/[A-Z]?\d[\d.-]*/g))
          expect(known, `${fact} in ${said}`).toContain(fact.replace(/\.$/, ''));
      }
  });

  it('names at most one tool of the customer in a message, in at most 14 words', () => {
    const tools = new Set<string>();
    for (const { role, content } of all().flatMap(({ messages }) => messages)) {
      if (role !== 'assistant') continue;
      expect(content.split(/\s+/).length, content).toBeLessThanOrEqual(14);
      const named = content.match(/\b[a-z]+_[a-z_]+\b/g)?.filter((name) => name !== 'g_preferred') ?? [];
      expect(named.length, content).toBeLessThanOrEqual(1);
      for (const name of named) tools.add(name);
    }
    expect(tools.size).toBeGreaterThan(15);
  });
});

describe('the next act', () => {
  let domain: Domain;
  beforeAll(async () => {
    domain = await environments.domain('telecom', 'nano');
  });
  const act = (messages: ChatMessage[], style?: Style): Act => createExpert(domain, 3, { style }).act(messages);
  const user = (content: string): ChatMessage => ({ role: 'user', content });
  const said = (content: string): ChatMessage => ({ role: 'assistant', content });
  const called = (name: string, args: Record<string, unknown>, result: string): ChatMessage[] => [
    { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name, arguments: args } }] },
    { role: 'tool', content: result },
  ];
  const status = (changes: Record<string, string> = {}) =>
    user(
      Object.entries({
        'Airplane Mode': 'OFF',
        'SIM Card Status': 'active',
        'Cellular Network Type': '5G',
        'Mobile Data Enabled': 'Yes',
        'Data Roaming Enabled': 'No',
        ...changes,
      })
        .map((entry) => entry.join(': '))
        .join('; ') + '.',
    );
  const found = called(
    'get_customer_by_phone',
    { phone_number: '555-000-1111' },
    '{"customer_id": "C1", "phone_number": "555-000-2222", "line_ids": ["L1", "L2"], "bill_ids": ["B1", "B2"]}',
  );
  const firstLine = called('get_details_by_id', { id: 'L1' }, '{"line_id": "L1", "phone_number": "555-000-2222", "status": "Active"}');
  const line = (record: Record<string, unknown>) =>
    called('get_details_by_id', { id: 'L2' }, JSON.stringify({ line_id: 'L2', phone_number: '555-000-1111', plan_id: 'P1', ...record }));
  const noService = [user('Hi. I have no signal on my phone. I am Mia Green. My number is 555-000-1111.'), ...found];
  const slow = [user('Hi. The internet on my phone is slow or gone. My number is 555-000-1111. I am at home.'), ...found];

  it('finds the customer first, and asks where the customer is only if this matters', () => {
    expect(act([user('Hi. I have no signal on my phone.')])).toEqual({ say: 'What is your phone number?' });
    expect(act([user('Hi. I cannot send picture messages.')])).toEqual({ say: 'What is your phone number, and are you abroad?' });
    expect(act(noService.slice(0, 1))).toEqual({ call: { name: 'get_customer_by_phone', arguments: { phone_number: '555-000-1111' } } });
    expect(act(noService)).toEqual({ say: 'Please use check_network_status.' });
  });

  it('repairs what the customer has seen', () => {
    expect(act([...noService, status({ 'Airplane Mode': 'ON' })])).toEqual({ say: 'Please use toggle_airplane_mode.' });
    expect(act([...noService, status({ 'SIM Card Status': 'missing' })])).toEqual({ say: 'Please use reseat_sim_card.' });
    expect(act([...slow, status({ 'Mobile Data Enabled': 'No' })])).toEqual({ say: 'Please use toggle_data.' });
    const on2g = status({ 'Cellular Network Type': '2G' });
    expect(act([...slow, on2g])).toEqual({ say: 'Please use set_network_mode_preference with 4g_5g_preferred.' });
    const bar = (icons: string) => act([...slow, status(), user(`Status Bar: Good | 5G | Data Enabled | ${icons}80%.`)]);
    expect(bar('Data Saver | ')).toEqual({ say: 'Please use toggle_data_saver_mode.' });
    expect(bar('VPN Connected | ')).toEqual({ say: 'Please use disconnect_vpn.' });
    expect(bar('')).toEqual({ call: { name: 'get_details_by_id', arguments: { id: 'L1' } } });
  });

  it('transfers what no tool can repair, and says so', () => {
    const locked = [...noService, status({ 'SIM Card Status': 'locked_pin' })];
    const transfer = { call: { name: 'transfer_to_human_agents', arguments: { summary: 'The SIM card is locked.' } } };
    expect(act(locked)).toEqual(transfer);
    expect(act([...locked, ...called(transfer.call.name, transfer.call.arguments, 'Transfer successful')])).toEqual({
      say: 'YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.',
    });
    const apn = user('Current APN Name: internet; MMSC URL (for picture messages): http://mms.');
    const ended = [...noService, status(), apn, ...firstLine, ...line({ status: 'Suspended', contract_end_date: '2025-01-31' })];
    expect(act(ended)).toEqual({ call: { name: 'transfer_to_human_agents', arguments: { summary: 'The contract has ended.' } } });
  });

  it('has the overdue bill of a suspended line paid before it resumes the line', () => {
    const bills = '[{"bill_id": "B1", "status": "Issued"}, {"bill_id": "B2", "status": "Overdue"}]';
    const apn = user('Current APN Name: internet; MMSC URL (for picture messages): http://mms.');
    const seen = [...noService, status(), apn, ...firstLine, ...line({ status: 'Suspended', contract_end_date: '2026-05-28' })];
    expect(act(seen)).toEqual({ call: { name: 'get_bills_for_customer', arguments: { customer_id: 'C1' } } });
    seen.push(...called('get_bills_for_customer', { customer_id: 'C1' }, bills));
    const request = { customer_id: 'C1', bill_id: 'B2' };
    expect(act(seen, 'brisk')).toEqual({ call: { name: 'send_payment_request', arguments: request } });
    const question = 'May I send a payment request for bill B2?';
    expect(act(seen)).toEqual({ say: question });
    expect(act([...seen, said(question), user('Why?')])).toEqual({ say: question });
    expect(act([...seen, said(question.replace('B2', 'B1')), user('Yes.')])).toEqual({ say: question });
    expect(act([...seen, said(question), user('Yes, I will pay it.')])).toEqual({
      call: { name: 'send_payment_request', arguments: request },
    });
    seen.push(...called('send_payment_request', request, 'Payment request sent to the customer for bill B2'));
    expect(act(seen)).toEqual({ say: 'Please use check_payment_request.' });
    seen.push(user('You have a payment request for bill B2 of 42.0 USD.'));
    expect(act(seen)).toEqual({ say: 'Please use make_payment.' });
    seen.push(user('Payment of 42.0 USD has been made for bill B2. Status Bar: No Signal | 80%. It still does not work.'));
    expect(act(seen)).toEqual({ call: { name: 'get_details_by_id', arguments: { id: 'B2' } } });
    seen.push(...called('get_details_by_id', { id: 'B2' }, '{"bill_id": "B2", "status": "Paid"}'));
    expect(act(seen, 'brisk')).toEqual({ call: { name: 'resume_line', arguments: { customer_id: 'C1', line_id: 'L2' } } });
    seen.push(...called('resume_line', { customer_id: 'C1', line_id: 'L2' }, '{"message": "Line resumed successfully"}'));
    expect(act(seen)).toEqual({ say: 'Please use reboot_device.' });
  });

  it('adds the data that the customer wants, at the price that a careful expert names', () => {
    const usage = '{"line_id": "L2", "data_used_gb": "3.2", "data_limit_gb": "3.0", "data_refueling_gb": "0.0"}';
    const used = [
      ...slow,
      status(),
      user('Status Bar: Good | 5G | Data Enabled | 80%.'),
      ...firstLine,
      ...line({ status: 'Active', roaming_enabled: false }),
      ...called('get_data_usage', { customer_id: 'C1', line_id: 'L2' }, usage),
    ];
    const ask = said('How many GB shall I add?');
    expect(act(used)).toEqual({ say: ask.content });
    const refill = { call: { name: 'refuel_data', arguments: { customer_id: 'C1', line_id: 'L2', gb_amount: 1.5 } } };
    const wanted = [...used, ask, user('Yes, 1.5 GB, please.')];
    expect(act(wanted, 'brisk')).toEqual(refill);
    expect(act(wanted)).toEqual({ call: { name: 'get_details_by_id', arguments: { id: 'P1' } } });
    const priced = [...wanted, ...called('get_details_by_id', { id: 'P1' }, '{"plan_id": "P1", "data_refueling_price_per_gb": 2.5}')];
    const question = 'May I add 1.5 GB to line L2 at 2.5 USD per GB?';
    expect(act(priced)).toEqual({ say: question });
    expect(act([...priced, said(question), user('Yes, 1.5 GB, please.')])).toEqual(refill);
    expect(act([...used, ask, user('No, I do not want to buy more data.')])).toEqual({
      call: { name: 'transfer_to_human_agents', arguments: { summary: 'The customer wants no more data.' } },
    });
  });
});
