/** @file Facts that agents tell in many wordings: where and when a refund goes, why a wish is refused. */
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
