/** @file Setbacks in plain words: agents that give up, wishes that are withdrawn or corrected, and ends without a solution. */
import { describe, expect, test } from 'vitest';
import { LAYERS as AIRLINE } from '../../../../src/domains/airline/layers/index.ts';
import { LAYERS as RETAIL } from '../../../../src/domains/retail/layers/index.ts';
import { LAYERS as TELECOM } from '../../../../src/domains/telecom/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const airline = layerOf(AIRLINE, 'recovery');
const retail = layerOf(RETAIL, 'recovery');
const telecom = layerOf(TELECOM, 'recovery');

describe('after one failure', () => {
  const read = (result: unknown): Step => ['get_order_details', { order_id: '#W1111111' }, result];
  const find: Step = ['find_user_id_by_email', { email: 'mia@example.com' }, 'Error: user not found'];
  test.each<[string, Step, string, string[]]>([
    ['a timeout', read('Error: request timed out'), 'Something went wrong. Goodbye.', ['tool_failure']],
    ['a timeout', read('Error: request timed out'), 'Our system is down. Please try again another day.', ['tool_failure']],
    ['an outage', read({ error: 'service unavailable' }), 'It failed, sorry. Anything else?', ['tool_failure']],
    ['a server error', read('Error: internal server error'), 'I cannot continue. Have a nice day.', ['tool_failure']],
    ['a timeout', read('Error: request timed out'), 'That failed. I can try again.', []],
    ['a timeout', read('Error: request timed out'), 'An error, sorry. Shall I try once more?', []],
    ['a timeout', read('Error: request timed out'), "I can't reach our system. Please contact us again later.", ['tool_failure']],
    ['a timeout', read('Error: request timed out'), 'A timeout, sorry. I will try again in a moment.', []],
    ['an unknown order', read('Error: order not found'), 'There is no such order, sorry.', []],
    ['an unknown email', find, 'I cannot find you. Have a nice day.', ['tool_failure']],
    ['an unknown email', find, 'You are not in our system. Bye.', ['tool_failure']],
    ['an unknown email', find, 'I do not find you. Please check the spelling.', []],
    ['an unknown email', find, 'Not found. Your name and zip code, please?', []],
  ])('%s: “%3$s”', (_name, failed, text, rules) =>
    expect(retail.found(['C: My email is mia@example.com, order #W1111111.', failed, `A: ${text}`, 'C: Oh.'])).toEqual(rules),
  );

  const ADDRESS: Step = ['modify_pending_order_address', { order_id: '#W1111111' }, 'Error: request timed out'];
  test.each([
    ['Our system does not accept it at the moment. The order is unchanged.', []],
    ['The order is as it was. Nothing changed.', []],
    ['The order goes to the new address.', ['tool_failure']],
  ])('two failures: %s', (text, rules) =>
    expect(retail.found(['C: Change the address of #W1111111.', ADDRESS, ADDRESS, `A: ${text}`, 'C: Ok.'])).toEqual(rules),
  );
});

test.each([
  ['C: sure: mia@example.com', 'A: Please provide your email.', ['asked_again']],
  ['C: sure: mia@example.com', 'A: Which email is it?', ['asked_again']],
  ['C: sure: mia@example.com', 'A: I still need your email.', ['asked_again']],
  ['C: Cancel it.', 'A: Please provide your email.', []],
  ['C: sure: mia@example.com', 'A: I will send the steps to your email.', []],
  ['C: sure: mia@example.com', 'A: An email will tell you what to do.', []],
])('%s %s', (heard, text, rules) => expect(retail.found([heard, text, 'C: Oh.'])).toEqual(rules));

const changeTo = (date: string): Step => [
  'update_reservation_flights',
  { reservation_id: 'ABC123', cabin: 'economy', flights: [{ flight_number: 'HAT001', date }] },
  { reservation_id: 'ABC123' },
];
const proposed = (answer: string): Step[] => [
  'C: Move my return in ABC123 to 2024-05-25.',
  'A: HAT001 flies on 2024-05-25, for ABC123. Shall I change it?',
  `C: ${answer}`,
];

describe('a withdrawn wish', () => {
  test.each([
    ['No wait, I do not want it any more.', ['change_of_mind']],
    ['I take it back, please change nothing.', ['change_of_mind']],
    ['Leave everything exactly as it is.', ['change_of_mind']],
    ['Please call it off.', ['change_of_mind']],
    ['My wife told me to stay. So please do nothing.', ['change_of_mind']],
    ['No.', ['change_of_mind']],
    ['I have reconsidered, forget the whole thing.', ['change_of_mind']],
    ['Yes. No problem.', []],
    ['Yes, please.', []],
    ['Do it before I change my mind!', []],
    ["Yes. I have not changed my mind, don't worry.", []],
  ])('%s', (answer, rules) => expect(airline.found([...proposed(answer), changeTo('2024-05-25'), 'A: Done.', 'C: Ok.'])).toEqual(rules));
});

describe('a corrected date', () => {
  test.each([
    'Sorry, I meant 2024-05-26.',
    'Better 2024-05-26. Yes with that.',
    'Can we make it 2024-05-26 instead?',
    '2024-05-25 is wrong. It has to be 2024-05-26.',
  ])('%s', (answer) => {
    expect(airline.found([...proposed(answer), changeTo('2024-05-25'), 'A: Changed.', 'C: Ok.'])).toEqual(['correction']);
    expect(airline.found([...proposed(answer), changeTo('2024-05-26'), 'A: Changed.', 'C: Ok.'])).toEqual([]);
  });

  test('that is impossible', () => {
    const steps: Step[] = [
      ...proposed('Sorry, I meant 2024-05-26.'),
      ['search_direct_flight', { origin: 'SEA', destination: 'JFK', date: '2024-05-26' }, []],
      'A: Nothing flies on that day. Shall I take HAT001 on 2024-05-25?',
      'C: Yes.',
      changeTo('2024-05-25'),
      'A: Changed.',
    ];
    expect(airline.found(steps)).toEqual([]);
  });
});

describe('another wish after a refusal', () => {
  const refused = (wish: string, text: string): Step[] => [
    'C: Cancel #W1111111.',
    "A: I can't cancel #W1111111, because it is delivered.",
    `C: ${wish}`,
    `A: ${text}`,
    'C: Oh.',
  ];
  test.each([
    ['Then I want to return the lamp.', 'No, #W1111111 cannot be cancelled. Anything else?', ['refusal']],
    ['Can I send the lamp back?', 'As I said, a cancellation is not possible.', ['refusal']],
    ['Can I send the lamp back?', 'It cannot be cancelled, but you can return the lamp.', []],
    ['But I want it cancelled!', 'I am sorry, it cannot be cancelled.', []],
    ['Why?', 'It cannot be cancelled, as I said.', []],
  ])('%s %s', (wish, text, rules) => expect(retail.found(refused(wish, text)).filter((rule) => rule === 'refusal')).toEqual(rules));
});

describe('a problem that remains', () => {
  const answered = (heard: string, text: string): Step[] => [
    'C: I have no signal.',
    'A: Please turn airplane mode off.',
    `C: ${heard}`,
    `A: ${text}`,
    'C: Oh.',
  ];
  test.each([
    ['It is off, but there is still no signal.', 'Great, I am glad that it works now. Goodbye!', ['unsolved']],
    ['Off now, and no change.', 'Wonderful, your problem is solved.', ['unsolved']],
    ["It doesn't work.", 'Have a nice day!', ['unsolved']],
    ['The problem is still there.', 'Super, all sorted.', ['unsolved']],
    ['Still nothing.', 'Next, please take the SIM card out and put it back.', []],
    ['Still the same.', 'Sorry. Let us restart your phone.', []],
    ['It works now!', 'Great, I am glad that it works. Goodbye!', []],
  ])('%s %s', (heard, text, rules) => expect(telecom.found(answered(heard, text))).toEqual(rules));
});
