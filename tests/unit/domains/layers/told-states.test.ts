/** @file What agents tell of flights, data and bills: it must be what the tools showed. */
import { describe, expect, test } from 'vitest';
import { LAYERS as AIRLINE } from '../../../../src/domains/airline/layers/index.ts';
import { LAYERS as TELECOM } from '../../../../src/domains/telecom/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const airline = layerOf(AIRLINE, 'communication');
const telecom = layerOf(TELECOM, 'communication');

describe('the status of a flight', () => {
  const looked = (status: string, text: string): Step[] => [
    'C: How is HAT180 on May 18?',
    ['get_flight_status', { flight_number: 'HAT180', date: '2024-05-18' }, status],
    `A: ${text}`,
    'C: Ok.',
  ];
  test.each([
    ['delayed', 'HAT180 on May 18 is on time.', ['wrong_status']],
    ['delayed', 'Your flight leaves as planned, I see no delay.', ['wrong_status']],
    ['delayed', 'It is not running late.', ['wrong_status']],
    ['delayed', 'HAT180 looks good.', ['wrong_status']],
    ['delayed', 'The flight has been called off.', ['wrong_status']],
    ['on time', 'I am sorry, the flight is delayed.', ['wrong_status']],
    ['cancelled', 'HAT180 is on schedule.', ['wrong_status']],
    ['delayed', 'It does not leave as planned: there is a delay.', []],
    ['delayed', 'I am sorry, HAT180 is late.', []],
    ['cancelled', 'HAT180 will not fly as planned, it is cancelled.', []],
    ['available', 'No delay is known, it is on time.', []],
    ['on time', 'If your flight were delayed, you could ask for a certificate.', []],
    ['on time', 'HAT180 has no delay. HAT190 is another flight.', []],
  ])('%s: %s', (status, text, rules) => expect(airline.found(looked(status, text))).toEqual(rules));
});

describe('the price of a cabin', () => {
  const reservation = (cabin: string, paid: number[]) => ({
    reservation_id: 'ABC123',
    cabin,
    passengers: [{ first_name: 'Ada' }, { first_name: 'Ben' }],
    flights: [{ flight_number: 'HAT100', price: cabin === 'business' ? 300 : 200 }],
    payment_history: paid.map((amount) => ({ payment_id: 'credit_card_1', amount })),
  });
  const upgraded = (...said: string[]): Step[] => [
    'C: Upgrade ABC123.',
    ['get_reservation_details', { reservation_id: 'ABC123' }, reservation('economy', [400])],
    ['search_direct_flight', {}, [{ flight_number: 'HAT100', prices: { economy: 200, business: 300 } }]],
    ...said,
    'C: Yes.',
    ['update_reservation_flights', { reservation_id: 'ABC123', cabin: 'business', flights: [] }, reservation('business', [400, 200])],
    'A: ABC123 is in business now.',
    'C: Thanks.',
  ];
  test.each([
    ['- ABC123\n- business\n- $120.00 on card 5378\nOK?', ['wrong_amount']],
    ['Business for both, $250. Shall I?', ['wrong_amount']],
    ['- ABC123\n- business\n- $200.00 on card 5378\nOK?', []],
    ['Business is $100 for each of you. Shall I?', []],
    ['The seats are $300 in business. Shall I?', []],
  ])('%s', (offer, rules) => {
    expect(airline.found(upgraded(`A: ${offer}`))).toEqual(rules);
    expect(airline.found(upgraded(`A: ${offer}`, 'C: Whose name is on it?', 'A: Ada Brown. Shall I go on?'))).toEqual(rules);
  });
});

describe('the data of a line', () => {
  const used = (text: string): Step[] => [
    'C: How much data did I use?',
    ['get_data_usage', { line_id: 'L1002' }, { data_used_gb: '6.6', data_limit_gb: '5.0', data_refueling_gb: '2.0' }],
    `A: ${text}`,
    'C: Ok.',
  ];
  test.each([
    ['You have used 4.3 GB of your 5 GB.', ['wrong_amount']],
    ['So far it is 8.1 GB in this cycle.', ['wrong_amount']],
    ['You consumed 5 of your 5 GB.', ['wrong_amount']],
    ['2.4 GB are left.', ['wrong_amount']],
    ['Your usage stands at 7.6 gigabytes.', ['wrong_amount']],
    ['You have used 6.6 GB of your 5 GB.', []],
    ['So far it is about 7 GB.', []],
    ['0.4 GB are left of your 7 GB.', []],
    ['You used 6.6 GB. Shall I add 1 GB?', []],
  ])('%s', (text, rules) => expect(telecom.found(used(text))).toEqual(rules));

  const added = (offer: string): Step[] => [
    'C: Add 2 GB to L1002.',
    ['get_details_by_id', { id: 'P1001' }, { plan_id: 'P1001', data_refueling_price_per_gb: 2 }],
    `A: ${offer} Shall I?`,
    'C: Yes.',
    ['refuel_data', { customer_id: 'C1001', line_id: 'L1002', gb_amount: 2 }, { message: 'Added', charge: '4.0' }],
    'A: 2 GB are added.',
    'C: Ok.',
  ];
  test.each([
    ['Each GB costs what the plan says.', 'I can add 2 GB.', ['price']],
    ['Data is charged by the GB.', 'I can add 2 GB.', ['price']],
    ['Each GB costs what the plan says.', 'I can add 2 GB for $4.00.', []],
    ['Be kind.', 'I can add 2 GB.', []],
  ])('under “%s”: %s', (policy, offer, rules) => expect(telecom.found(added(offer), policy)).toEqual(rules));
});

describe('a bill that awaits its payment', () => {
  const bill = (status: string): Step => ['get_details_by_id', { id: 'B1234567' }, { bill_id: 'B1234567', status, total_due: 70.5 }];
  const paid = (status: string, text: string): Step[] => [
    bill('Overdue'),
    'A: $70.50 are due for B1234567. Shall I send the payment request?',
    'C: Yes.',
    ['send_payment_request', { customer_id: 'C1001', bill_id: 'B1234567' }, 'Payment request sent'],
    'A: Please accept the payment request.',
    'C: I paid.',
    bill(status),
    `A: ${text}`,
    'C: Ok.',
  ];
  const WRONG = [
    'I see your payment of $70.50.',
    'Everything is settled.',
    'Your payment went through.',
    'Paid, thank you.',
    'Nothing is due any more.',
    'We have received the payment.',
  ];
  test.each(WRONG)('called paid: %s', (text) => {
    expect(telecom.found(paid('Awaiting Payment', text))).toEqual(['false_paid']);
    expect(telecom.found(paid('Paid', text))).toEqual([]);
  });
  test.each(['I do not see your payment yet.', 'Your payment is still pending.', 'As soon as I see your payment, I go on.', 'Is it paid?'])(
    'not called paid: %s',
    (text) => expect(telecom.found(paid('Awaiting Payment', text))).toEqual([]),
  );
});
