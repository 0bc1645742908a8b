/** @file What the phone provider's agent must say, and its setbacks, in conversations by hand. 2 GB at $2.00 cost $4.00. */
import { describe, expect, test } from 'vitest';
import { LAYERS } from '../../../../src/domains/telecom/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const { found } = layerOf(LAYERS, 'communication');
const recovery = layerOf(LAYERS, 'recovery');

const FOUND: Step[] = [
  'C: My phone does not work. My number is 555-123-2002.',
  [
    'get_customer_by_phone',
    { phone_number: '555-123-2002' },
    {
      customer_id: 'C1001',
      full_name: 'John Smith',
      email: 'j@example.com',
      phone_number: '555-123-2002',
      line_ids: ['L1002'],
      bill_ids: ['B1234321'],
    },
  ],
];
const bill = (status: string): Step => [
  'get_details_by_id',
  { id: 'B1234321' },
  { bill_id: 'B1234321', customer_id: 'C1001', total_due: 75.5, status },
];
const SEND: Step = [
  'send_payment_request',
  { customer_id: 'C1001', bill_id: 'B1234321' },
  'Payment request sent to the customer for bill B1234321',
];
const RESUME: Step = [
  'resume_line',
  { customer_id: 'C1001', line_id: 'L1002' },
  { message: 'Line resumed successfully', line: { line_id: 'L1002', status: 'Active' } },
];

describe('a bill', () => {
  const asked = (proposal: string, ...steps: Step[]): Step[] => [
    ...FOUND,
    bill('Overdue'),
    `A: ${proposal} Shall I send a payment request?`,
    'C: Yes.',
    SEND,
    ...steps,
  ];
  const SENT = 'A: I have sent the payment request. Please check it and pay.';
  test.each<[string, Step[], string[]]>([
    ['Bill B1234321 of $75.50 is overdue.', [SENT, 'C: I paid.', bill('Paid'), 'A: Thank you, your bill has been paid.'], []],
    ['A bill is overdue.', [SENT, 'C: Ok.'], ['amount']],
    ['Bill B1234321 of $57.50 is overdue.', [SENT, 'C: Ok.'], ['amount', 'wrong_amount']],
    ['Bill B1234321 of $75.50 is overdue.', ['A: I have sent it. Bye.', 'C: What now?'], ['payment_steps']],
    ['Bill B1234321 of $75.50 is overdue.', [SENT, 'C: I paid.', 'A: Thank you, your bill has been paid.'], ['false_paid']],
  ])('%s', (proposal, steps, rules) => expect(found(asked(proposal, ...steps)).toSorted()).toEqual(rules));
});

test.each([
  ['A: The line has been resumed. Please restart your phone.', []],
  ['A: The line has been resumed.', ['restart']],
  ['A: Please restart your phone.', ['not_reported']],
])('a resumed line: %s', (text, rules) => expect(found([...FOUND, bill('Paid'), RESUME, text, 'C: Ok.'])).toEqual(rules));

describe('data', () => {
  const PLAN: Step = ['get_details_by_id', { id: 'P1002' }, { plan_id: 'P1002', data_refueling_price_per_gb: 2 }];
  const refuel = (proposal: string, report: string): Step[] => [
    ...FOUND,
    PLAN,
    `A: ${proposal} Shall I add it?`,
    'C: Yes, 2 GB.',
    [
      'refuel_data',
      { customer_id: 'C1001', line_id: 'L1002', gb_amount: 2 },
      { message: 'Successfully added 2.0 GB of data for line L1002 for $4.00', charge: '4.0' },
    ],
    report,
    'C: Ok.',
  ];
  test.each([
    ['2 GB cost $4.00.', 'A: 2 GB were added to your line for $4.00.', []],
    ['Data costs 2 dollars per GB.', 'A: 2 GB were added.', []],
    ['I can add 2 GB.', 'A: 2 GB were added.', ['price']],
    ['2 GB cost $5.00.', 'A: 2 GB were added.', ['price', 'wrong_amount']],
    ['2 GB cost $4.00.', 'A: 3 GB were added to your line.', ['wrong_amount']],
  ])('%s %s', (proposal, report, rules) => expect(found(refuel(proposal, report)).toSorted()).toEqual(rules));
});

test('a claim without a call', () =>
  expect(found([...FOUND, 'A: I have enabled roaming on your line.', 'C: Ok.'])).toEqual(['false_claim']));

describe('setbacks', () => {
  test('a second look after the customer did something', () =>
    expect(
      recovery.found([
        ...FOUND,
        bill('Overdue'),
        'A: Please pay.',
        'C: I paid.',
        bill('Overdue'),
        'A: I still see it as overdue.',
        'C: Hm.',
      ]),
    ).toEqual([]));
  test('the same look twice in a turn', () =>
    expect(recovery.found([...FOUND, bill('Overdue'), bill('Overdue'), 'A: It is overdue.', 'C: Hm.'])).toEqual(['read_again']));
  test('a wrong number', () => {
    const steps = (number: string): Step[] => [
      'C: My number is 555-123-2001.',
      ['get_customer_by_phone', { phone_number: '555-123-2001' }, 'Error: Customer not found'],
      'A: I cannot find this number.',
      'C: Sorry, it is 555-123-2002.',
      ['get_customer_by_phone', { phone_number: number }, { customer_id: 'C1001', full_name: 'John Smith' }],
      'A: Hello John.',
    ];
    expect(recovery.found(steps('555-123-2002'))).toEqual([]);
    expect(recovery.found(steps('555-123-2001'))).toEqual(['correction']);
  });
});
