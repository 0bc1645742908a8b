/** @file Setbacks in many wordings: a failed call, a failed step, a correction, a withdrawn wish, a repeated question. */
import { describe, expect, test } from 'vitest';
import { LAYERS as AIRLINE } from '../../../../src/domains/airline/layers/index.ts';
import { LAYERS as RETAIL } from '../../../../src/domains/retail/layers/index.ts';
import { LAYERS as TELECOM } from '../../../../src/domains/telecom/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const airline = layerOf(AIRLINE, 'recovery');
const retail = layerOf(RETAIL, 'recovery');
const telecom = layerOf(TELECOM, 'recovery');

describe('a call that was refused', () => {
  const asked = (text: string): Step[] => [
    'C: Send me the request for B1234567.',
    'A: Shall I send it?',
    'C: Yes.',
    ['send_payment_request', { customer_id: 'C1001', bill_id: 'B1234567' }, 'Error: A bill is already awaiting payment for this customer'],
    `A: ${text}`,
    'C: Ok.',
  ];
  test.each([
    ['One is on your phone already. Please pay it.', []],
    ['There is an open request. Look at your phone.', []],
    ['A payment for another bill awaits you.', []],
    ['Thanks for your yes. Goodbye!', ['tool_failure']],
    ['What else may I do for you?', ['tool_failure']],
  ])('%s', (text, rules) => expect(telecom.found(asked(text))).toEqual(rules));
});

test.each([
  ['There is no such customer. Goodbye.', ['tool_failure']],
  ['Nobody has this email. Thank you for contacting us, take care.', ['tool_failure']],
  ['There is no such customer. What is your zip code?', []],
])('after one look-up: %s', (text, rules) => {
  const steps: Step[] = [
    'C: Where is my order? ada@example.com',
    ['find_user_id_by_email', { email: 'ada@example.com' }, 'Error: user not found'],
    `A: ${text}`,
    'C: Bye.',
    'A: Glad I could help.',
  ];
  expect(retail.found(steps)).toEqual(rules);
});

describe('a flight without seats', () => {
  const flight = (flight_number: string, economy: number) => ({ flight_number, available_seats: { economy } });
  const full = (others: number, text: string): Step[] => [
    'C: Move ABC123 to May 20.',
    ['search_direct_flight', { origin: 'JFK', destination: 'SEA', date: '2024-05-20' }, [flight('HAT100', 2), flight('HAT200', others)]],
    'A: HAT100 flies then. Shall I?',
    'C: Yes.',
    [
      'update_reservation_flights',
      { reservation_id: 'ABC123', cabin: 'economy', flights: [{ flight_number: 'HAT100', date: '2024-05-20' }] },
      'Error: Not enough seats on flight HAT100',
    ],
    `A: ${text}`,
    'C: Ok.',
  ];
  test.each([
    [4, 'HAT100 is full, so nothing was changed. Goodbye.', ['tool_failure']],
    [4, 'It did not work, there are too few seats. I cannot help further.', ['tool_failure']],
    [4, 'HAT100 is full. Shall I take HAT200?', []],
    [4, 'HAT100 is full, but I can offer HAT200.', []],
    [0, 'HAT100 is full, so nothing was changed. Goodbye.', []],
  ])('another with %i seats: %s', (others, text, rules) => expect(airline.found(full(others, text))).toEqual(rules));
});

describe('a step that did not help', () => {
  const step = (heard: string, text: string): Step[] => [
    'C: My internet is dead.',
    'A: Please switch mobile data on, then test the speed.',
    `C: ${heard}`,
    `A: ${text}`,
    'C: Hm.',
  ];
  test.each([
    ['It was on. The test shows no connection.', 'Glad that it works. Goodbye!', ['unsolved']],
    ['on, and the speed test failed', 'Great, your internet is back.', ['unsolved']],
    ['No internet connection.', 'Is there anything else?', ['unsolved']],
    ['Done. The speed is poor.', 'You are welcome. Take care!', ['unsolved']],
    ['It was on. The test shows no connection.', 'Then switch data saver off, please.', []],
    ['The test says excellent.', 'Glad that it works. Goodbye!', []],
    ['It works fine now, no connection problems.', 'Great. Goodbye!', []],
  ])('%s %s', (heard, text, rules) => expect(telecom.found(step(heard, text))).toEqual(rules));
});
