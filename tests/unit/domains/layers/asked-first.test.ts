/** @file What the agent has to ask or to hear before a write. The conversations and what is wrong with them were written by hand. */
import { expect, test } from 'vitest';
import { agent, call, calls, rules, system, user } from '../../../support/layered.ts';

const TRIP = {
  reservation_id: 'ABC123',
  user_id: 'ada_brown_12',
  cabin: 'business',
  flights: [{ flight_number: 'HAT001', origin: 'JFK', destination: 'SEA', date: '2024-05-20', price: 100 }],
  passengers: [{ first_name: 'Ada', last_name: 'Brown' }],
  created_at: '2024-05-10T10:00:00',
};
const member = calls([
  call('get_user_details', { user_id: 'ada_brown_12' }, { membership: 'gold', payment_methods: {}, reservations: [] }),
]);
const trip = calls([call('get_reservation_details', { reservation_id: 'ABC123' }, TRIP)]);
const airline = (...parts: ReturnType<typeof agent>[]) =>
  rules('airline', 'policy', ...parts.slice(0, 1), user('I am ada_brown_12.'), member, trip, ...parts.slice(1));
const cancelled = calls([call('cancel_reservation', { reservation_id: 'ABC123' }, { ...TRIP, status: 'cancelled' })]);
const cancels = (request: string, ...parts: ReturnType<typeof agent>[]) =>
  airline(user(request), ...parts, agent('I would cancel ABC123. Do you confirm?'), user('Yes.'), cancelled);

test.each([
  ['Cancel ABC123.', false],
  ['I want ABC123 cancelled, with a refund to my card.', false],
  ['Hello, could you please cancel my business trip to Seattle?', false],
  ['Cancel ABC123 and tell me what I get back.', false],
  ['Please get rid of booking ABC123.', false],
  ['I am Ada Brown from Austin. Cancel ABC123, I hope it is quick.', false],
  ['Cancel ABC123, I must attend a training.', true],
  ['Our friends moved the party, so cancel ABC123.', true],
  ['Cancel ABC123, my plans are different now.', true],
  ['I have a fever. Cancel ABC123.', true],
  ['I booked the wrong date, so cancel ABC123.', true],
  ['Cancel ABC123, the wedding was postponed.', true],
  ['We decided to stay home, please cancel ABC123.', true],
  ['I can no longer fly. Cancel ABC123.', true],
])('in %j the customer says why: %j', async (request, says) => {
  expect(await cancels(request)).toEqual(says ? [] : ['no_reason']);
});

test('the agent may ask for the reason', async () => {
  const wish = 'Cancel ABC123.';
  for (const question of ['May I ask why?', 'Please tell me the reason.', 'What is the reason of the cancellation?'])
    expect(await cancels(wish, agent(question), user('It is private.'))).toEqual([]);
  expect(await cancels(wish, agent('We cancel without a reason, okay?'), user('Fine.'))).toEqual(['no_reason']);
  expect(await cancels(wish, agent('Shall I look at it?'), user('Please.'))).toEqual(['no_reason']);
  // This policy does not want the reason.
  const policy = 'Rules.\n- If you refuse, give the reason.\n- Get a yes before each change.';
  expect(
    await airline([...system(policy), ...user(wish)], agent('I would cancel ABC123. Do you confirm?'), user('Yes.'), cancelled),
  ).toEqual([]);
});

test.each([
  ['What do I get for it?', true],
  ['What will you do about it?', true],
  ['Am I entitled to anything?', true],
  ['You owe me something.', true],
  ['I deserve some money.', true],
  ['What can you offer me?', true],
  ['How will you make up for this?', true],
  ['Which flight can I take now?', false],
  ['Please book me on the next one.', false],
  ['What can I do now?', false],
  ['When do I get home?', false],
  ['Can you check HAT001?', false],
])('%j asks for compensation: %j', async (words, asks) => {
  const gift = calls([call('send_certificate', { user_id: 'ada_brown_12', amount: 100 }, 'Certificate added')]);
  const status = calls([call('get_flight_status', { flight_number: 'HAT001', date: '2024-05-20' }, 'cancelled')]);
  const offer = [...agent('I can send a certificate of $100. Do you agree?'), ...user('Yes.')];
  expect(await airline(user(`HAT001 on ABC123 was cancelled. ${words}`), status, offer, gift)).toEqual(
    asks ? [] : ['compensation_not_asked'],
  );
});

const item = (id: string, name: string, product: string) => ({ name, product_id: product, item_id: id, price: 30, options: { color: id } });
const order = (items: object[]) => ({ order_id: '#W1000001', user_id: 'ada_brown_1', items, status: 'pending', payment_history: [] });
const BOTH = [item('5001', 'Desk Lamp', '7001'), item('5002', 'Water Bottle', '7002')];
const change = (question: string, items: object[] = BOTH, request = 'Please change the lamp in #W1000001 to 5011.') =>
  rules(
    'retail',
    'policy',
    user(`${request} My email is ada.brown@example.com.`),
    calls([call('find_user_id_by_email', { email: 'ada.brown@example.com' }, 'ada_brown_1')]),
    calls([call('get_order_details', { order_id: '#W1000001' }, order(items))]),
    agent(`I would change the Desk Lamp 5001 of #W1000001 to 5011, with paypal_2. ${question}`),
    user('Yes, please.'),
    calls([
      call(
        'modify_pending_order_items',
        { order_id: '#W1000001', item_ids: ['5001'], new_item_ids: ['5011'], payment_method_id: 'paypal_2' },
        order([item('5011', 'Desk Lamp', '7001')]),
      ),
    ]),
  );

test.each([
  ['Is this everything? Do you confirm?', true],
  ['Are these all the items to change? Do you confirm?', true],
  ['Have you named every item? Shall I go ahead?', true],
  ['Afterwards the order cannot be changed again. Shall I go ahead?', true],
  ['Only one change is possible. Shall I go ahead?', true],
  ['Is there any other item to change, or shall I go ahead?', true],
  ['No second change is possible. Shall I go ahead?', true],
  ['Is it only this item? Do you confirm?', true],
  ['I cannot change it again later. Okay?', true],
  ['Do you confirm?', false],
  ['Are all details correct?', false],
  ['Shall I go ahead, or do you need help with anything else?', false],
  ['Once you confirm, I change it. Yes?', false],
  ['Is everything right? Do you confirm?', false],
  ['Please check that everything is correct. Do you confirm?', false],
  ['The difference is refunded at once. Do you confirm?', false],
  ['The refund follows once processed. Do you confirm?', false],
])('%j reminds the customer of other items: %j', async (question, reminds) => {
  expect(await change(question)).toEqual(reminds ? [] : ['no_reminder']);
});

test('no reminder is needed if no item can be missing, or if the customer said so', async () => {
  expect(await change('Do you confirm?', BOTH.slice(0, 1))).toEqual([]);
  expect(await change('Do you confirm?', BOTH, 'Please change the lamp in #W1000001 to 5011. That is all, no other items.')).toEqual([]);
});
