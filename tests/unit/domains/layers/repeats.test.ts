/** @file Old values after a correction, withdrawn wishes, and what an agent asks for again, in many wordings. */
import { describe, expect, test } from 'vitest';
import { LAYERS as AIRLINE } from '../../../../src/domains/airline/layers/index.ts';
import { LAYERS as RETAIL } from '../../../../src/domains/retail/layers/index.ts';
import { LAYERS as TELECOM } from '../../../../src/domains/telecom/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const airline = layerOf(AIRLINE, 'recovery');
const retail = layerOf(RETAIL, 'recovery');
const telecom = layerOf(TELECOM, 'recovery');

describe('a corrected amount of data', () => {
  const added = (gb: number, ...said: string[]): Step[] => [
    'C: Add 2 GB to my line.',
    'A: 2 GB cost $4.00. Shall I add them?',
    ...said,
    ['refuel_data', { customer_id: 'C1001', line_id: 'L1002', gb_amount: gb }, { message: 'Added', charge: '4.0' }],
    'A: The data is added.',
  ];
  test.each([
    ['C: hm then 1 gb', 'A: One GB is $2.00. Yes?', 'C: Yes.'],
    ['C: Too much. Only 1 GB, please.', 'A: 1 GB costs $2.00. Shall I?', 'C: Yes.'],
    ['C: Just one gigabyte.', 'A: One gigabyte, $2.00. OK?', 'C: Whose name is it?', 'A: Ada. Shall I go on?', 'C: Yes.'],
    ['C: 2 GB is too expensive, make it one gig.', 'A: 1 GB for $2.00?', 'C: Yes please.'],
  ])('%s', (...said) => {
    expect(telecom.found(added(2, ...said)).length).toBe(1);
    expect(telecom.found(added(1, ...said))).toEqual([]);
  });
  test.each([
    ['C: How much would 1 GB cost?', 'A: It is $2.00. Shall I add 2 GB?', 'C: Yes.'],
    ['C: Yes. I used 1 GB today.'],
    ['C: Yes, and next month I take 1 GB.'],
    ['C: 1 GB.', 'A: 1 GB, OK?', 'C: No, 2 GB after all.', 'A: 2 GB then. OK?', 'C: Yes.'],
  ])('no correction: %s', (...said) => expect(telecom.found(added(2, ...said))).toEqual([]));
});

describe('a corrected option', () => {
  const variant = (item_id: string, color: string) => ({ item_id, options: { color }, price: 80 });
  const product = {
    name: 'Kettle',
    product_id: '1000000001',
    variants: { 1: variant('1', 'white'), 2: variant('2', 'black'), 3: variant('3', 'red') },
  };
  const exchanged = (item: string, ...said: string[]): Step[] => [
    'C: Exchange my white kettle in #W1111111 for the black one.',
    ['get_product_details', { product_id: '1000000001' }, product],
    'A: White for black, at the same price. Shall I?',
    ...said,
    ['exchange_delivered_order_items', { order_id: '#W1111111', item_ids: ['1'], new_item_ids: [item] }, { order_id: '#W1111111' }],
    'A: The exchange is requested.',
  ];
  test.each([
    ['C: hm make that red pls', 'A: Red instead of white. Yes?', 'C: Yes.'],
    ['C: I prefer red, not black.', 'A: Then red. OK?', 'C: Yes.'],
    ['C: Let us take red.', 'A: The red kettle. Is that right?', 'C: Yes, right.'],
  ])('%s', (...said) => {
    expect(retail.found(exchanged('2', ...said)).length).toBe(1);
    expect(retail.found(exchanged('3', ...said))).toEqual([]);
  });
  test.each([
    ['C: Is there a red one?', 'A: Yes, at the same price. Shall I take black?', 'C: Yes, black.'],
    ['C: Red.', 'A: Red is sold out. Shall I take the black one?', 'C: Yes.'],
    ['C: Yes. The white one was a gift.'],
  ])('no correction: %s', (...said) => expect(retail.found(exchanged('2', ...said))).toEqual([]));
});

describe('a corrected name or day', () => {
  const booking = (first_name: string) => ({
    reservation_id: 'ABC123',
    cabin: 'economy',
    flights: [{ date: '2024-05-20' }],
    passengers: [{ first_name, last_name: 'Marsh' }],
  });
  const renamed = (name: string, ...said: string[]): Step[] => [
    'C: In ABC123, the first name is Ana and not Mina.',
    ['get_reservation_details', { reservation_id: 'ABC123' }, booking('Mina')],
    'A: Mina becomes Ana. Correct?',
    ...said,
    ['update_reservation_passengers', { reservation_id: 'ABC123', passengers: booking(name).passengers }, booking(name)],
    'A: The name is corrected.',
  ];
  test.each([
    ['C: Stop, I misspelled it. Anna with two n.', 'A: Mina becomes Anna. Is that right?', 'C: Yes.'],
    ['C: oops: anna not ana', 'A: Anna then. OK?', 'C: Yes.'],
    ['C: Sorry, it must be Anna.', 'A: I change it to Anna. OK?', 'C: Yes.'],
  ])('%s', (...said) => {
    expect(airline.found(renamed('Ana', ...said)).length).toBe(1);
    expect(airline.found(renamed('Anna', ...said))).toEqual([]);
  });
  test('no correction', () => expect(airline.found(renamed('Ana', 'C: Yes. Thank You, Mister Marsh is happy.'))).toEqual([]));

  const moved = (day: number, ...said: string[]): Step[] => [
    'C: Move ABC123 to May 22.',
    ['get_reservation_details', { reservation_id: 'ABC123' }, booking('Mina')],
    'A: It flies on May 22, too. Shall I?',
    ...said,
    [
      'update_reservation_flights',
      { reservation_id: 'ABC123', cabin: 'economy', flights: [{ flight_number: 'HAT100', date: `2024-05-${day}` }] },
      booking('Mina'),
    ],
    'A: The flight is changed.',
  ];
  test('a day', () => {
    const said = ['C: The 23rd of May is what I want.', 'A: May 23. OK?', 'C: Yes.'];
    expect(airline.found(moved(22, ...said))).toEqual(['old_value']);
    expect(airline.found(moved(23, ...said))).toEqual([]);
    expect(airline.found(moved(22, 'C: Yes. I was booked for May 20.'))).toEqual([]);
  });
});

test.each([
  ['no stop, i want it after all', ['change_of_mind']],
  ['Let it be.', ['change_of_mind']],
  ['Hold off, I still need it.', ['change_of_mind']],
  ['Better not.', ['change_of_mind']],
  ['Yes, after all it is too big.', []],
  ['Yes, let it be cancelled.', []],
])('a cancellation after “%s”', (answer, rules) => {
  const steps: Step[] = [
    'C: Cancel #W1111111.',
    'A: Shall I cancel #W1111111?',
    `C: ${answer}`,
    ['cancel_pending_order', { order_id: '#W1111111', reason: 'no longer needed' }, { order_id: '#W1111111', status: 'cancelled' }],
    'A: It is cancelled.',
  ];
  expect(retail.found(steps)).toEqual(rules);
});

describe('the same yes', () => {
  const asked = (again: string, answer = 'Yes.'): Step[] => [
    'C: Three bags for ABC123.',
    'A: Three bags cost $50 more, card 2525. Shall I?',
    `C: ${answer}`,
    `A: ${again}`,
    'C: Yes!',
  ];
  test.each([
    'Just to be safe: three bags for $50, do you really confirm?',
    'Noted. Please confirm again that you want three bags with $50 on 2525.',
    'Are you sure?',
    'So, three bags on card 2525, is that OK?',
    'Once more, shall I add the three bags?',
  ])('%s', (again) => {
    expect(airline.found(asked(again))).toEqual(['same_question']);
    expect(airline.found(asked(again, 'Hm, what would four bags cost?'))).toEqual([]);
  });
  test.each([
    'Just to be sure: four bags would be $100. Do you want three?',
    'Thank you. Do you want travel insurance?',
    'Great. Which card shall pay?',
    'Thank you. Is there anything else?',
  ])('another question: %s', (again) => expect(airline.found(asked(again))).toEqual([]));
});

describe('an order that was named before', () => {
  const asked = (first: string, question: string): Step[] => [
    `C: ${first}`,
    'A: What is your zip code?',
    'C: Ada Brown, 43210.',
    ['find_user_id_by_name_zip', { zip: '43210' }, 'ada_brown_1111'],
    `A: ${question}`,
    'C: Oh.',
  ];
  test.each([
    'Which order is it about?',
    'And what is the order number, please?',
    'I need the order id. Could you tell me?',
    'Please give me the number of the order.',
  ])('%s', (question) => {
    expect(retail.found(asked('Return the lamp of #W1111111.', question))).toEqual(['asked_again']);
    expect(retail.found(asked('Return my lamp.', question))).toEqual([]);
    expect(retail.found(asked('Not #W1111111, I mean the other order.', question))).toEqual([]);
  });
});

test.each([
  ['Then move it to May 23, please.', 'As I said, there is no way to cancel this.', ['refusal']],
  ['OK, another day would do as well.', 'I am sorry, ABC123 cannot be cancelled.', ['refusal']],
  ['Then move it to May 23, please.', 'It cannot be cancelled, but I can move it.', []],
  ['But my plans changed!', 'I am sorry, ABC123 cannot be cancelled.', []],
  ['If you cannot cancel, can you remove my wife?', 'I cannot remove a passenger.', []],
])('after a refusal: %s %s', (wish, text, rules) => {
  expect(airline.found(['C: Cancel ABC123.', 'A: Sorry, no. It is basic economy.', `C: ${wish}`, `A: ${text}`, 'C: Hm.'])).toEqual(rules);
});

describe('steps on the phone', () => {
  const first = 'A: Please check that mobile data is on, then run a speed test.';
  const again = (heard: string, ...text: Step[]): Step[] => ['C: My mobile internet is dead.', first, `C: ${heard}`, ...text, 'C: Hm.'];
  test.each([
    ['It is on. No connection.', 'A: Could you make sure that mobile data is enabled?', ['same_step']],
    ['on already', 'A: Turn on mobile data and test the speed, please.', ['same_step']],
    ['It is on. No connection.', 'A: Please switch mobile data off and on again.', []],
    ['It is on. No connection.', 'A: Is a VPN connected?', []],
    ['How do I do that?', 'A: Open the settings and switch mobile data on, please.', []],
    ["I can't find it.", 'A: Please look for mobile data in the settings.', []],
    ['It is on. No connection.', 'A: As mobile data is on, please run a speed test again.', []],
  ])('%s %s', (heard, text, rules) => expect(telecom.found(again(heard, text))).toEqual(rules));

  const handed = (...steps: Step[]): Step[] => [
    ...again('It is on. No connection.', ...steps).slice(0, -1),
    ['transfer_to_human_agents', { summary: 'Ada Brown, L1002: mobile internet is dead, mobile data is on.' }, 'Transfer successful'],
    'A: You are being transferred.',
  ];
  test.each<[string, Step[], string[]]>([
    ['one step', [], ['early_handover']],
    ['two steps', ['A: Please switch the VPN off.', 'C: There is none.'], []],
    ['a locked SIM', ['A: What does it show?', 'C: The SIM is locked with a PUK.'], []],
    ['a wish for a human', ['A: Let me think.', 'C: Give me a human.'], []],
    ['a suspended line', [['get_details_by_id', { id: 'L1002' }, { line_id: 'L1002', status: 'Suspended' }]], []],
  ])('handed over after %s', (_name, steps, rules) => expect(telecom.found(handed(...steps))).toEqual(rules));
});
