/** @file What the airline's agent must say, and its setbacks, in conversations by hand. Two passengers pay 2 × 150 = 300. */
import { describe, expect, test } from 'vitest';
import { LAYERS } from '../../../../src/domains/airline/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const { found } = layerOf(LAYERS, 'communication');
const recovery = layerOf(LAYERS, 'recovery');

const USER: Step = [
  'get_user_details',
  { user_id: 'mia_li_3668' },
  {
    user_id: 'mia_li_3668',
    name: { first_name: 'Mia', last_name: 'Li' },
    email: 'mia@example.com',
    membership: 'gold',
    reservations: ['ABC123'],
  },
];
const FOUND: Step[] = ['C: My user id is mia_li_3668.', USER];
const PASSENGERS = [
  { first_name: 'Mia', last_name: 'Li', dob: '1990-01-01' },
  { first_name: 'Ben', last_name: 'Li', dob: '1991-01-01' },
];
const reservation = (paid: number[], more: object = {}) => ({
  reservation_id: 'ABC123',
  user_id: 'mia_li_3668',
  cabin: 'economy',
  flights: [{ flight_number: 'HAT001', origin: 'JFK', destination: 'SEA', date: '2024-05-20', price: 150 }],
  passengers: PASSENGERS,
  payment_history: paid.map((amount) => ({ payment_id: 'credit_card_1', amount })),
  status: null,
  ...more,
});
const READ: Step = ['get_reservation_details', { reservation_id: 'ABC123' }, reservation([300])];

describe('a cancellation', () => {
  const cancelled = (text: string): Step[] => [
    ...FOUND,
    READ,
    'C: Cancel ABC123, please.',
    'A: Shall I cancel reservation ABC123?',
    'C: Yes.',
    ['cancel_reservation', { reservation_id: 'ABC123' }, reservation([300, -300], { status: 'cancelled' })],
    text,
    'C: Ok.',
  ];
  test.each([
    ['A: Reservation ABC123 has been cancelled. You get $300 back in 5 to 7 business days.', []],
    ['A: Reservation ABC123 has been cancelled.', ['refund_time']],
    ['A: Reservation ABC123 has been cancelled. The refund comes within 24 hours.', ['refund_time']],
    ['A: Reservation ABC123 has been cancelled. A refund of $350 comes in 5 to 7 business days.', ['wrong_amount']],
    ['A: Reservation ABC124 has been cancelled. The refund comes in 5 to 7 business days.', ['false_claim', 'unknown_reservation']],
  ])('%s', (text, rules) => expect(found(cancelled(text)).toSorted()).toEqual(rules));
});

describe('a booking', () => {
  const booked = (proposal: string, report = 'A: Your flight has been booked. The total is $300.'): Step[] => [
    ...FOUND,
    'C: Book HAT001 for two.',
    `A: ${proposal} Shall I book it?`,
    'C: Yes.',
    [
      'book_reservation',
      {
        user_id: 'mia_li_3668',
        passengers: PASSENGERS,
        nonfree_baggages: 0,
        insurance: 'no',
        payment_methods: [{ payment_id: 'credit_card_1', amount: 300 }],
      },
      reservation([300]),
    ],
    report,
    'C: Ok.',
  ];
  test.each([
    ['HAT001 costs $150 per person, a total of $300.', []],
    ['HAT001 on May 20 in economy.', ['price']],
    ['The total is $320.', ['price', 'wrong_amount']],
  ])('%s', (proposal, rules) => expect(found(booked(proposal)).toSorted()).toEqual(rules));
  test('with another total after it', () =>
    expect(found(booked('The total is $300.', 'A: Your flight has been booked. The total is $310.'))).toEqual(['wrong_amount']));
});

test.each([
  ['A: I have sent a certificate of $100.', []],
  ['A: I have sent a certificate of $200.', ['price', 'wrong_amount']],
  ['A: I have sent a certificate.', ['price']],
])('compensation: %s', (text, rules) =>
  expect(
    found([
      ...FOUND,
      READ,
      'C: My flight was cancelled, I want compensation.',
      ['send_certificate', { user_id: 'mia_li_3668', amount: 100 }, 'Certificate certificate_1 added to user mia_li_3668 with amount 100.'],
      text,
      'C: Ok.',
    ]).toSorted(),
  ).toEqual(rules),
);

test.each([
  ['A: I added one bag. The fee of $50 was charged.', []],
  ['A: I added one bag. The baggage fee of $75 was charged.', ['price', 'wrong_amount']],
  ['A: I added one bag.', ['price']],
])('baggage: %s', (text, rules) =>
  expect(
    found([
      ...FOUND,
      READ,
      'C: Add a bag.',
      [
        'update_reservation_baggages',
        { reservation_id: 'ABC123', total_baggages: 3, nonfree_baggages: 1, payment_id: 'credit_card_1' },
        reservation([300, 50]),
      ],
      text,
      'C: Ok.',
    ]).toSorted(),
  ).toEqual(rules),
);

test.each([
  ['A: The price difference of $120 was charged, and your flights have been changed.', []],
  ['A: The price difference of $60 per passenger was charged, and your flights have been changed.', []],
  ['A: The price difference of $80 was charged, and your flights have been changed.', ['wrong_amount']],
  ['A: Your flights have been changed.', ['price']],
])('new flights: %s', (text, rules) =>
  expect(
    found([
      ...FOUND,
      READ,
      'C: Change my flight.',
      [
        'update_reservation_flights',
        { reservation_id: 'ABC123', cabin: 'economy', flights: [], payment_id: 'credit_card_1' },
        reservation([300, 120]),
      ],
      text,
      'C: Ok.',
    ]),
  ).toEqual(rules),
);

describe('setbacks', () => {
  test('a booking that fails is made again, with what the error says', () => {
    const book = (amount: number, result: unknown): Step => [
      'book_reservation',
      { payment_methods: [{ payment_id: 'credit_card_1', amount }] },
      result,
    ];
    const wrong = 'Error: payment amount does not add up, total price is 305, but paid 255';
    expect(
      recovery.found([
        ...FOUND,
        'C: Book it.',
        book(255, wrong),
        book(305, reservation([305])),
        'A: It has been booked for $305.',
        'C: Ok.',
      ]),
    ).toEqual([]);
    expect(recovery.found([...FOUND, 'C: Book it.', book(255, wrong), 'A: Your flight has been booked for $255.', 'C: Ok.'])).toEqual([
      'tool_failure',
    ]);
  });
  test('another cabin is wanted', () => {
    const update = (cabin: string): Step => [
      'update_reservation_flights',
      { reservation_id: 'ABC123', cabin, flights: [] },
      reservation([300], { cabin }),
    ];
    const steps = (cabin: string): Step[] => [
      ...FOUND,
      READ,
      'C: Upgrade ABC123 to business.',
      'A: Shall I upgrade ABC123 to business?',
      'C: Actually, make it economy instead.',
      'A: Shall I change ABC123 to economy?',
      'C: Yes.',
      update(cabin),
      'A: The cabin was updated.',
    ];
    expect(recovery.found(steps('economy'))).toEqual([]);
    expect(recovery.found(steps('business'))).toEqual(['change_of_mind']);
  });
  test('the user id is asked for again', () =>
    expect(recovery.found([...FOUND, 'A: What is your user id?', 'C: I said it.'])).toEqual(['asked_again']));
});
