/** `mua replay --rules acebench`, on the small fixture. The expected values are computed by hand. */
import { describe, expect, it } from 'vitest';
import { agentScore, setScores } from '../../../../src/benchmarks/acebench/check.ts';
import { aceFixture } from '../../../support/acebench-fixture.ts';
import { replayed } from '../../../support/acebench-data.ts';

interface Case {
  senders: string;
  execution: unknown[];
  responses: unknown[];
  route: string[];
  saved: object[];
  process_list_length: number;
  result: object[];
  verdict: object;
  agent_prompts: { system: string; user: string }[];
  user_model_calls: { messages: { role: string; content: string }[] }[];
}
const replay = (cases: object[], prompts = false) => replayed<Case>(cases, prompts, aceFixture);
const play = async (entry: string, agent: string[], more: object = {}, prompts = false) =>
  (await replay([{ id: 1, lang: 'en', entry, agent, ...more }], prompts)).cases[0]!;
const execute = async (kind: string, messages: string[], more: object = {}) => {
  const involved_classes = ['BaseApi', 'MessageApi', 'ReminderApi', 'FoodPlatform'];
  const initial_config = { BaseApi: { wifi: true, logged_in: true } };
  return (await replay([{ id: 1, lang: 'en', kind, involved_classes, initial_config, messages, ...more }])).cases[0]!;
};

const GOLD = ['[turn_on_wifi()]', '[delete_message(message_id=1)]'];

describe('a multi-turn task', () => {
  it('reaches the end state, with any call that leads there', async () => {
    expect(await play('agent_multi_turn_0', GOLD)).toMatchObject({
      senders: 'uaeaea',
      execution: [
        [{ status: true, message: 'Wi-Fi has been turned on' }],
        [{ status: true, message: 'Message ID 1 has been successfully deleted.' }],
      ],
      process_list_length: 2,
      verdict: { end_to_end: 1, process: 1 },
    });
    const other = await play('agent_multi_turn_0', ['[turn_on_wifi(), delete_message(message_id=1.0)]']);
    expect(other.verdict).toEqual({ end_to_end: 1, process: 1 });
  });

  it('says which attribute differs, and counts the milestones up to the first one that is missing', async () => {
    expect((await play('agent_multi_turn_0', [GOLD[0]!])).verdict).toEqual({ end_to_end: 1, process: 1 });
    expect((await play('agent_multi_turn_0', [GOLD[1]!])).verdict).toEqual({
      end_to_end: 0,
      process: 0,
      error_type: 'class attributes wrong',
      error: [['class(BaseApi) attributes(wifi) wrong, [expected: True, real: False]']],
    });
    expect((await play('agent_multi_turn_0', ['[turn_on_wifi()] ', 'Hello.'])).verdict).toEqual({
      end_to_end: 0,
      process: 0,
      error_type: 'wrong number of class',
      error: [],
    });
  });

  it('takes apart the text of an error, drops the calls after it and keeps what came before', async () => {
    const failed = await play('agent_multi_turn_0', ['[turn_on_wifi(), no_such(), delete_message()]']);
    expect(failed.execution).toEqual(['<32 characters>']);
    expect(failed.result).toEqual([]);
    const { cases, calls, errors } = await replay([
      { id: 1, lang: 'en', entry: 'agent_multi_turn_0', agent: ['[delete_message(), turn_on_wifi()]', '[turn_on_wifi()]'] },
    ]);
    expect(cases[0]!.execution).toEqual(['<32 characters>', [{ status: true, message: 'Wi-Fi has been turned on' }]]);
    expect({ calls, errors }).toEqual({ calls: 3, errors: 1 });
  });

  it('does not end in the first two messages after the opening, and ends before a call is executed', async () => {
    expect((await play('agent_multi_turn_0', ['finish conversation', ...GOLD])).senders).toBe('uauaeaea');
    expect((await play('agent_multi_turn_0', ['Hi.'], { user: ['a', 'finish conversation'] })).senders).toBe('uaua');
    expect((await play('agent_multi_turn_0', ['Hi.', 'Hi.'], { user: ['a', 'b', 'finish conversation.'] })).senders).toBe('uauau');
    const inside = await play('agent_multi_turn_0', ['Hi.', "[send_message(message='finish conversation')]"]);
    expect(inside).toMatchObject({ senders: 'uaua', execution: [] });
    expect((await play('agent_multi_turn_0', GOLD, { max_turns: 3 })).senders).toBe('uaea');
    expect(
      (
        await play(
          'agent_multi_turn_0',
          Array.from({ length: 50 }, () => 'ok'),
        )
      ).senders,
    ).toHaveLength(41);
  });

  it('takes the best of several lists of milestones, rounded', async () => {
    const { verdict } = await play('agent_multi_turn_1', ["[get_user_details(user_id='u1', password='p')]"]);
    expect(verdict).toMatchObject({ end_to_end: 0, process: 0.333, error_type: 'class attributes wrong' });
  });
});

describe('a multi-step task', () => {
  it('answers what it cannot read, and executes the first message in any case', async () => {
    const played = await play('agent_multi_step_0', ['finish conversation', 'What?', 'turn_on_wifi()']);
    const unreadable = 'Please do not ask me any questions, use the known conditions to solve the problem';
    expect(played).toMatchObject({
      senders: 'uaeaeaea',
      execution: [unreadable, unreadable, [{ status: true, message: 'Wi-Fi has been turned on' }]],
      // The ground truth names a class that does not exist, which is not checked.
      verdict: { end_to_end: 1, process: 1 },
    });
  });

  it('counts a milestone that cannot be read if it is written letter by letter', async () => {
    const milestone = "[add_reminder(title='Ann's list', description='x', time='y')]";
    expect((await play('agent_multi_step_0', [milestone])).verdict).toMatchObject({ end_to_end: 0, process: 0.5 });
  });
});

describe('messages straight to the execution', () => {
  it('go on after an error in a multi-step task, and repeat the last result for an unknown function', async () => {
    const { responses } = await execute('multi_step', [
      '[no_such(), view_logged_in_users(), no_such(x=1), check_balance()]',
      '[OK]',
      '[1, turn_on_wifi()]',
    ]);
    const nobody = { status: false, message: 'No users are currently logged in to the food platform' };
    expect(responses).toEqual([
      [
        expect.stringMatching(/^Error during execution: ./),
        nobody,
        nobody,
        expect.stringMatching(/^Error during execution: .*'user_name'$/),
      ],
      [],
      'Please do not ask me any questions, use the known conditions to solve the problem',
    ]);
  });

  it('show an object as it is after the last call', async () => {
    const login = "login_food_platform(username='Ann', password='p')";
    const order = "add_food_delivery_order(username='Ann', merchant_name='Corner', items=[{'product': 'Soup'}])";
    const { responses } = await execute('multi_turn', [
      `[${login}, view_orders(user_name='Ann'), ${order}]`,
      `[${order}, view_orders(user_name='Ann'), search_orders(keyword='soup')]`,
    ]);
    const line = { product: 'Soup', quantity: 1, price_per_unit: 10 };
    const soup = { user_name: 'Ann', merchant_name: 'Corner', items: [line], total_price: 10 };
    expect(responses[1]).toEqual([
      { status: true, message: 'Food delivery order successfully placed with Corner. Total amount: 10.0 yuan' },
      { status: true, orders: [soup, soup] },
      { status: true, orders: [soup, soup] },
    ]);
  });

  it('differ by language: a balance that just suffices, and a search by product', async () => {
    const messages = [
      "[login_food_platform(username='Ann', password='p')]",
      "[add_food_delivery_order(username='Ann', merchant_name='Corner', items=[{'product': 'Soup', 'quantity': 2}])]",
      "[search_reminders(keyword='none')]",
    ];
    expect((await execute('multi_turn', messages)).responses.slice(1)).toEqual([
      [{ status: true, message: 'Food delivery order successfully placed with Corner. Total amount: 20.0 yuan' }],
      '<32 characters>',
    ]);
    expect((await execute('multi_turn', messages, { lang: 'zh' })).responses.slice(1)).toEqual([
      [{ status: false, message: '余额不足，无法下单' }],
      [{ status: false, message: '没有找到包含该关键词的提醒' }],
    ]);
  });

  it('keep ints, floats and texts apart', async () => {
    const order = (quantity: string) =>
      `[add_food_delivery_order(username='Ann', merchant_name='Corner', items=[{'product': 'Soup', 'quantity': ${quantity}}])]`;
    const { responses, saved } = await execute('multi_turn', [
      "[login_food_platform(username='Ann', password='p')]",
      order('1.0'),
      order("'1'"),
      order('True'),
      "[delete_message(message_id='1')]",
      '[delete_message(message_id=2.0)]',
      "[check_balance(user_name='Ann')]",
    ]);
    expect(responses.slice(1)).toEqual([
      [{ status: false, message: 'Invalid quantity 1.0 for product Soup' }],
      [{ status: false, message: 'Invalid quantity 1 for product Soup' }],
      [{ status: true, message: 'Food delivery order successfully placed with Corner. Total amount: 10.0 yuan' }],
      [{ status: false, message: 'Message ID does not exist' }],
      [{ status: true, message: 'Message ID 2.0 has been successfully deleted.' }],
      [10],
    ]);
    expect(saved[3]).toMatchObject({ FoodPlatform: { logged_in_users: ['Ann'], orders: [{ items: [{ quantity: true }] }] } });
  });

  it('book, change and cancel a flight', async () => {
    const book = (cabin: string, bags: string) =>
      `[reserve_flight(user_id='u1', password='p', flight_no='A1', cabin='${cabin}', payment_method='cash', baggage_count=${bags})]`;
    const { responses } = await execute(
      'multi_turn',
      [
        book('Economy Class', '3'),
        "[modify_flight(user_id='u1', reservation_id='res_1', new_cabin='Business Class', new_payment_method='bank', add_baggage=1)]",
        "[cancel_reservation(user_id='u1', reservation_id='res_1', reason='x')]",
        "[get_user_details(user_id='u1', password='p')]",
        book('First', '1'),
      ],
      { involved_classes: ['Travel'] },
    );
    // 100 + 2 bags of 50; 200 more for the cabin, and 2 of 4 bags of 50, are more than the 50 in the bank; 300 come back.
    expect(responses).toEqual([
      ['Booking successful. Reservation ID: res_1. Total cost: 200 yuan (including baggage fees).'],
      ['Insufficient balance to pay the cabin price difference. Insufficient balance to pay the additional baggage fees.'],
      ['More than 24 hours before departure. Free cancellation successful, 300 yuan has been refunded.'],
      [{ user_name: 'Ann', cash_balance: 1100, bank_balance: 50, membership_level: 'regular' }],
      '<32 characters>',
    ]);
  });
});

describe('prompts', () => {
  it('are written from scratch in each query', async () => {
    const { agent_prompts, user_model_calls } = await play('agent_multi_turn_0', ['agent:Hello', '[turn_on_wifi()]'], {}, true);
    expect(agent_prompts.map(({ system }) => system)).toEqual(Array.from({ length: 3 }, () => 'EN role.\nEN phone.'));
    expect(agent_prompts[2]!.user).toBe(
      "APIs:\n [{'name': 'turn_on_wifi', 'description': 'Does turn_on_wifi.', 'parameters': {'type': 'dict', 'properties': {}, 'required': []}}, {'name': 'delete_message', 'description': 'Does delete_message.', 'parameters': {'type': 'dict', 'properties': {'message_id': {'type': 'integer', 'description': 'A number.'}}, 'required': ['message_id']}}]\n\nSo far:\nuser:Hello, I need help.\nagent:agent:Hello\nuser:Yes.\nagent:[turn_on_wifi()]\nexecution:[{'status': True, 'message': 'Wi-Fi has been turned on'}]\n",
    );
    expect(user_model_calls[1]!.messages).toEqual([
      { role: 'system', content: 'EN calls: Delete the first message.' },
      { role: 'user', content: 'What is it?' },
      { role: 'system', content: 'Hello, I need help.' },
      { role: 'user', content: 'Hello' },
    ]);
  });

  it('of a multi-step task lack the agent’s own messages, and are Chinese behind an API', async () => {
    const { agent_prompts } = await play('agent_multi_step_0', ['turn_on_wifi()'], {}, true);
    expect(agent_prompts[1]).toMatchObject({ system: 'EN steps.' });
    expect(agent_prompts[1]!.user.split('So far: ')[1]).toBe(
      "user:Turn on the wifi.\nexecution result:[{'status': True, 'message': 'Wi-Fi has been turned on'}]\n\n",
    );
    const api = await play('agent_multi_step_0', ['turn_on_wifi()'], { api_agent: true }, true);
    expect(api.agent_prompts[0]!.system).toBe('ZH steps.');
    expect((await play('agent_multi_turn_1', [], { lang: 'zh' }, true)).agent_prompts[0]!.system).toBe('ZH role.\nZH travel.');
  });
});

it('refuses wrong cases, with their place', async () => {
  const own = { id: 1, lang: 'en', entry: 'agent_multi_turn_0', agent: [] };
  await expect(replay([{ ...own, entry: 'multi_turn_9' }])).rejects.toThrow(
    'in.json: cases[0].entry: it is "multi_turn_9": expected one of the 3 tasks of the data, such as "agent_multi_turn_0"',
  );
  await expect(replay([own, { ...own, lang: 'fr' }])).rejects.toThrow(/^in.json: cases\[1\]/);
  await expect(replay([{ ...own, turns: 3 }])).rejects.toThrow(/^in.json: cases\[0\]/);
  const english = Object.fromEntries(Object.entries(aceFixture).filter(([path]) => !/zh/.test(path)));
  await expect(replayed([{ ...own, lang: 'zh' }], false, english)).rejects.toThrow('in.json: cases[0].lang: it is "zh": the data has en');
  await expect(replayed([own], false, { 'README.md': '' })).rejects.toThrow('there is no data_en/data_agent_multi_turn.json');
  const promptless = Object.fromEntries(Object.entries(english).filter(([path]) => !/prompt_|common_agent/.test(path)));
  await expect(replayed([own], true, promptless)).rejects.toThrow('there are no prompts');
  expect((await replayed([own], false, promptless)).cases).toHaveLength(1);
});

it('rounds the scores of a set, and their mean', () => {
  const verdict = (end_to_end: 0 | 1, process: number) => ({ end_to_end, process });
  // 2/3 and (1 + 1 + 1/3) / 3.
  expect(setScores([verdict(1, 1), verdict(1, 1), verdict(0, 1 / 3)])).toEqual({ end_to_end_accuracy: 0.667, process_accuracy: 0.778 });
  // Each accuracy is rounded first: (0.667 + 0.5) / 2 = 0.5835, and not (2/3 + 0.5) / 2 = 0.58333….
  expect(agentScore(2 / 3, 1 / 2)).toBe(0.584);
});
