/** @file Facts that agents tell in many wordings: refunds, reasons, options of items, answers, promises. */
import { describe, expect, test } from 'vitest';
import { LAYERS as AIRLINE } from '../../../../src/domains/airline/layers/index.ts';
import { LAYERS as RETAIL } from '../../../../src/domains/retail/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const airline = layerOf(AIRLINE, 'communication');
const retail = layerOf(RETAIL, 'communication');

const order = (id: string, method: string, status: string) => ({
  order_id: id,
  status,
  items: [{ name: 'Kettle', product_id: '1000000001', item_id: '2000000001', price: 80, options: { color: 'white' } }],
  payment_history: [{ transaction_type: 'payment', amount: 80, payment_method_id: method }],
});
const USER: Step = [
  'get_user_details',
  { user_id: 'ada_brown_1111' },
  {
    payment_methods: {
      credit_card_1: { source: 'credit_card', brand: 'visa', last_four: '4242', id: 'credit_card_1' },
      gift_card_1: { source: 'gift_card', balance: 35.5, id: 'gift_card_1' },
    },
  },
];

describe('the refund of a cancelled order', () => {
  const cancelled = (report: string, method = 'credit_card_1'): Step[] => [
    'C: Cancel #W1111111, no longer needed.',
    USER,
    ['get_order_details', { order_id: '#W1111111' }, order('#W1111111', method, 'pending')],
    'A: Shall I cancel #W1111111?',
    'C: Yes.',
    ['cancel_pending_order', { order_id: '#W1111111', reason: 'no longer needed' }, order('#W1111111', method, 'cancelled')],
    `A: Cancelled. ${report}`,
    'C: Thanks.',
  ];
  test.each([
    ['You get $80.00 on the Visa in 5 to 7 business days.', []],
    ['In 5 to 7 business days you get it where you paid from.', []],
    ['In 5 to 7 business days it is on the one ending in 4242.', []],
    ['The refund takes 5 to 7 business days.', ['refund_method']],
    ['$80.00 goes to your Visa.', ['refund_time']],
    ['$80.00 is available again on your card, as of now.', ['refund_time']],
  ])('%s', (report, rules) => expect(retail.found(cancelled(report))).toEqual(rules));

  test.each([
    ['Your gift card already has the $80.00.', []],
    ['The $80.00 is on your gift card, on the spot.', []],
    ['The gift card gets $80.00.', ['refund_time']],
  ])('to a gift card: %s', (report, rules) => expect(retail.found(cancelled(report, 'gift_card_1'))).toEqual(rules));

  test.each([
    ['Money comes back within a week, and the agent says so.', ['refund_time']],
    ['The amount is returned in 5 to 7 working days. Tell it.', ['refund_time']],
    ['Be kind.', []],
  ])('under the policy “%s”', (policy, rules) => expect(retail.found(cancelled('The Visa gets $80.00.'), policy)).toEqual(rules));
});

describe('a refusal', () => {
  const refused = (text: string): Step[] => ['C: Move my flight to another day.', `A: ${text}`, 'C: Oh.'];
  test.each([
    'I am afraid that I cannot move your flight.',
    'No, the day has to stay.',
    'Unfortunately the flight stays on May 20.',
    'There is no way to do this.',
    'That is out of the question.',
    "I'm afraid I can't.",
    'We cannot reschedule this booking.',
    'There is nothing I can do.',
  ])('without a reason: %s', (text) => expect(airline.found(refused(text))).toEqual(['refusal_without_reason']));

  test.each([
    'I am afraid that I cannot move your flight, it is basic economy.',
    'No, the day has to stay, because the fare does not allow changes.',
    'There is no way to move it: the flight has already left.',
    'I cannot find your booking. What is its number?',
    'All right, your flight stays on May 20.',
    'Your flight is on May 20. Where do you want to go?',
  ])('with a reason, or none at all: %s', (text) => expect(airline.found(refused(text))).toEqual([]));
});

describe('a hand-over', () => {
  const handed = (summary: string): Step[] => [
    'C: I need an invoice for my company.',
    USER,
    ['transfer_to_human_agents', { summary }, 'Transfer successful'],
    'A: You are being transferred.',
  ];
  test.each([
    ['Customer request, see chat.', ['handover_summary']],
    ['Please take over, this is outside my scope.', ['handover_summary']],
    ['The customer contacted us with a concern and asked for a supervisor.', ['handover_summary']],
    ['Wants an invoice with the company name.', []],
  ])('under a policy that asks for no summary: %s', (summary, rules) => expect(retail.found(handed(summary), 'Be kind.')).toEqual(rules));
});

describe('an exchanged item', () => {
  const KETTLE = '1000000001';
  const variant = (item_id: string, color: string, size: string, price: number) => ({ item_id, price, options: { color, size } });
  const product = {
    name: 'Kettle',
    product_id: KETTLE,
    variants: {
      '2000000001': variant('2000000001', 'white', '7', 80),
      '2000000002': variant('2000000002', 'black', '8', 90),
      '2000000003': variant('2000000003', 'red', '9', 95),
    },
  };
  const exchanged = (report: string): Step[] => [
    'C: Exchange the white kettle of #W1111111 for the black one.',
    ['get_order_details', { order_id: '#W1111111' }, order('#W1111111', 'credit_card_1', 'delivered')],
    ['get_product_details', { product_id: KETTLE }, product],
    'A: You pay $10.00 more on the Visa. Shall I exchange it?',
    'C: Yes.',
    [
      'exchange_delivered_order_items',
      { order_id: '#W1111111', item_ids: ['2000000001'], new_item_ids: ['2000000002'], payment_method_id: 'credit_card_1' },
      order('#W1111111', 'credit_card_1', 'exchange requested'),
    ],
    `A: The exchange is requested. ${report}`,
    'C: Thanks.',
  ];
  test.each([
    ['You get the red kettle.', ['wrong_item']],
    ['Your kettle will be exchanged for the one in size 9.', ['wrong_item']],
    ['You now get the white kettle.', ['wrong_item']],
    ['You get the black kettle, the white one goes back.', []],
    ['The black one comes in 7 to 9 days.', []],
    ['The white kettle makes room for the black one.', []],
    ['Visa 9999 pays the $10.00.', []],
    ['Would you have preferred the red one?', []],
  ])('%s', (report, rules) => expect(retail.found(exchanged(report))).toEqual(rules));
});

describe('a question of the customer', () => {
  const asked = (question: string, ...rest: Step[]): Step[] => [
    `C: Cancel #W1111111, no longer needed. ${question}`,
    USER,
    ['get_order_details', { order_id: '#W1111111' }, order('#W1111111', 'credit_card_1', 'pending')],
    'A: Shall I cancel #W1111111?',
    'C: Yes.',
    ['cancel_pending_order', { order_id: '#W1111111', reason: 'no longer needed' }, order('#W1111111', 'credit_card_1', 'cancelled')],
    'A: Cancelled. The Visa has its $80.00 in 5 to 7 business days.',
    ...rest,
  ];
  test.each([
    'And what is the balance of my gift card?',
    'How much is left on my gift card?',
    'Tell me my gift card balance too',
    'Which colors has the kettle?',
  ])('%s', (question) => {
    expect(retail.found(asked(question, 'C: Bye.', 'A: Goodbye!'))).toEqual(['unanswered']);
    expect(retail.found(asked(question, 'A: It has $35.50, and the kettle is white.'))).toEqual([]);
    expect(retail.found(asked(question, 'A: I cannot tell you that here, only the app shows it.'))).toEqual([]);
    expect(retail.found(asked(question, 'C: By the way, never mind my question.', 'A: All right.'))).toEqual([]);
  });
  test.each(['Can the refund go to my gift card?', 'I want my money back. How much will it be?', 'When will I get the refund?'])(
    'not left open: %s',
    (question) => expect(retail.found(asked(question, 'C: Bye.'))).toEqual([]),
  );
});

describe('a promise', () => {
  const address = { address1: '1 New Road', address2: '', city: 'Omaha', country: 'USA', state: 'NE', zip: '68101' };
  const moved = (promise: string, ...rest: Step[]): Step[] => [
    'C: Send #W1111111 to 1 New Road, and make it my default address.',
    'A: Both to 1 New Road, Omaha, NE 68101. OK?',
    'C: Yes.',
    ['modify_pending_order_address', { order_id: '#W1111111', ...address }, { order_id: '#W1111111', address }],
    `A: The order goes to 1 New Road now. ${promise}`,
    'C: Thanks.',
    ...rest,
  ];
  test.each([
    'I will update your default address next.',
    'Your profile comes right after this.',
    "I'll take care of the rest shortly, I will do it now.",
    'We will also change the address of your account.',
  ])('%s', (promise) => {
    expect(retail.found(moved(promise, 'A: Anything else?', 'C: No.'))).toEqual(['promise']);
    expect(
      retail.found(moved(promise, ['modify_user_address', { user_id: 'ada_brown_1111', ...address }, { address }], 'A: Saved.')),
    ).toEqual([]);
    expect(retail.found(moved(promise, 'A: The address was not accepted, sorry: it lacks a number.'))).toEqual([]);
    expect(retail.found(moved(promise))).toEqual([]);
  });
  test.each([
    'I will update your default address if you wish.',
    'You will get an email with the address.',
    'Shall I update the default address next?',
  ])('none: %s', (text) => expect(retail.found(moved(text, 'A: Anything else?', 'C: No.'))).toEqual([]));
});
