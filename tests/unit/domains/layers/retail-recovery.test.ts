/** @file Setbacks in the shop and their ends, in conversations by hand. */
import { describe, expect, test } from 'vitest';
import { LAYERS } from '../../../../src/domains/retail/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const { found, findings, occasions } = layerOf(LAYERS, 'recovery');

const USER: Step = [
  'get_user_details',
  { user_id: 'mia_li_3668' },
  { name: { first_name: 'Mia', last_name: 'Li' }, email: 'mia.li@example.com', orders: ['#W1111111', '#W2222222'] },
];
const FOUND: Step[] = [
  'C: Hi, my email is mia.li@example.com.',
  ['find_user_id_by_email', { email: 'mia.li@example.com' }, 'mia_li_3668'],
  USER,
];
const order = (id: string, status = 'pending') => ({
  order_id: id,
  user_id: 'mia_li_3668',
  status,
  items: [{ name: 'Lamp', product_id: '9000000001', item_id: '1000000001', price: 120.5, options: { color: 'red' } }],
});
const read = (id: string, status?: string): Step => ['get_order_details', { order_id: id }, order(id, status)];
const cancel = (id: string, result: unknown = order(id, 'cancelled')): Step => [
  'cancel_pending_order',
  { order_id: id, reason: 'no longer needed' },
  result,
];
const pay = (method: string): Step => [
  'modify_pending_order_payment',
  { order_id: '#W1111111', payment_method_id: method },
  order('#W1111111'),
];
const ASK_CANCEL: Step[] = [
  ...FOUND,
  read('#W1111111'),
  'C: Please cancel #W1111111, no longer needed.',
  'A: Shall I cancel order #W1111111, no longer needed?',
];
const BUSY = 'Error: the service is busy, please try again';

describe('a tool that fails', () => {
  const after = (...steps: Step[]): Step[] => [...ASK_CANCEL, 'C: Yes.', cancel('#W1111111', BUSY), ...steps];
  test.each<[string, Step[], string[]]>([
    ['made again', [cancel('#W1111111'), 'A: Order #W1111111 has been cancelled.'], []],
    ['told', ["A: I'm sorry, the system failed, so the order is not cancelled. Shall I try again?", 'C: No.'], []],
    [
      'handed over',
      [['transfer_to_human_agents', { summary: 'Mia Li wants to cancel #W1111111; the cancellation fails.' }, 'Transfer successful']],
      [],
    ],
    ['claimed as done', ['A: Order #W1111111 has been cancelled.', 'C: Thanks.'], ['tool_failure']],
    ['claimed in a word', ['A: Done. Anything else?', 'C: No.'], ['tool_failure']],
    ['given up in silence', ['A: Is there anything else that I can do for you?', 'C: No.'], ['tool_failure']],
    [
      'three times the same',
      [cancel('#W1111111', BUSY), cancel('#W1111111', BUSY), 'A: I am sorry, the system does not work now.', 'C: Ok.'],
      ['same_failing_call'],
    ],
    [
      'refused for another reason',
      [cancel('#W1111111', 'Error: non-pending order cannot be cancelled'), 'A: Done. Anything else?', 'C: No.'],
      ['tool_failure'],
    ],
    [
      'four times the same, with success',
      [...[1, 2, 3].map(() => cancel('#W1111111', BUSY)), cancel('#W1111111'), 'A: It has been cancelled.', 'C: Ok.'],
      [],
    ],
    ['twice the same', [cancel('#W1111111', BUSY), 'A: I am sorry, the system does not work now.', 'C: Ok.'], []],
  ])('%s', (_name, steps, rules) => {
    expect(found(after(...steps))).toEqual(rules);
    expect(occasions(after(...steps))).toMatchObject({ tool_failure: 1 });
  });
  test('a timeout after which the order was cancelled', () =>
    expect(
      found([
        ...ASK_CANCEL,
        'C: Yes.',
        cancel('#W1111111', 'Error: timeout'),
        cancel('#W1111111', 'Error: non-pending order cannot be cancelled'),
        'A: Done. Anything else?',
        'C: No.',
      ]),
    ).toEqual([]));
  test('a lookup that the agent does in another way', () =>
    expect(
      found([
        'C: I am Mia Li, zip 10001, mia@example.com.',
        ['find_user_id_by_email', { email: 'mia@example.com' }, 'Error: user not found'],
        ['find_user_id_by_name_zip', { first_name: 'Mia', last_name: 'Li', zip: '10001' }, 'mia_li_3668'],
        'A: Hello Mia, how can I help?',
        'C: Bye.',
      ]),
    ).toEqual([]));
});

describe('a change of mind', () => {
  const change = (text: string, ...steps: Step[]): Step[] => [...ASK_CANCEL, `C: ${text}`, ...steps];
  test.each<[string, Step[], string[]]>([
    ["Wait, I changed my mind, don't cancel it.", ['A: All right, I leave order #W1111111 as it is.', 'C: Thanks.'], []],
    [
      "Wait, I changed my mind, don't cancel it.",
      [cancel('#W1111111'), 'A: Order #W1111111 has been cancelled.', 'C: What?'],
      ['change_of_mind'],
    ],
    ['Never mind, I will keep it.', [cancel('#W1111111'), 'A: Done.', 'C: What?'], ['change_of_mind']],
    [
      'Actually, cancel order #W2222222 instead.',
      [
        read('#W2222222'),
        'A: Shall I cancel order #W2222222, no longer needed?',
        'C: Yes.',
        cancel('#W2222222'),
        'A: Order #W2222222 has been cancelled.',
      ],
      [],
    ],
    [
      'Actually, cancel order #W2222222 instead.',
      [cancel('#W1111111'), 'A: Order #W1111111 has been cancelled.', 'C: What?'],
      ['change_of_mind'],
    ],
    [
      'Actually, I want to pay with my gift card instead.',
      ['A: Shall I change the payment of order #W1111111 to your gift card?', 'C: Yes.', pay('gift_card_2'), 'A: The payment was changed.'],
      [],
    ],
    [
      'Actually, I want to pay with my gift card instead.',
      [cancel('#W1111111'), 'A: It has been cancelled.', 'C: What?'],
      ['change_of_mind'],
    ],
    [
      'Actually, I want to pay with my gift card instead.',
      ['A: Shall I change the payment of order #W1111111 to your gift card?', 'C: Yes.', pay('paypal_3'), 'A: The payment was changed.'],
      ['change_of_mind'],
    ],
    [
      'I changed my mind. I want to change the address of #W1111111 instead.',
      ['A: Thank you for calling. Goodbye.', 'C: Hello?', 'A: Goodbye.'],
      ['change_of_mind'],
    ],
  ])('%s', (text, steps, rules) => {
    expect(found(change(text, ...steps))).toEqual(rules);
    expect(occasions(change(text, ...steps))).toMatchObject({ change_of_mind: 1 });
  });
  test.each(['Yes, I changed nothing. Go ahead.', "Yes, I can't wait.", 'Yes, it is no longer needed.', 'Actually, yes.'])(
    'is not: %s',
    (text) =>
      expect(occasions(change(text, cancel('#W1111111'), 'A: Order #W1111111 has been cancelled.'))).not.toHaveProperty('change_of_mind'),
  );
});

describe('a correction', () => {
  const zip = (value: string, result: string): Step => [
    'find_user_id_by_name_zip',
    { first_name: 'Mia', last_name: 'Li', zip: value },
    result,
  ];
  const wrong: Step[] = [
    'C: I am Mia Li, zip 10001.',
    zip('10001', 'Error: user not found'),
    'A: I cannot find you. Is the zip right?',
    'C: Sorry, my zip is 10002.',
  ];
  test.each<[string, Step[], string[]]>([
    ['used', [zip('10002', 'mia_li_3668'), 'A: Hello Mia. How can I help?'], []],
    ['ignored', [zip('10001', 'Error: user not found'), 'A: I am sorry, I cannot find you.', 'C: Hm.'], ['correction']],
    ['not tried', ['A: Goodbye.', 'C: Hello?'], ['correction']],
  ])('%s', (_name, steps, rules) => {
    expect(found([...wrong, ...steps])).toEqual(rules);
    expect(occasions([...wrong, ...steps])).toMatchObject({ correction: 1 });
  });
  test('of an order', () => {
    const steps = (id: string): Step[] => [
      ...FOUND,
      'C: Cancel order #W1111111, no longer needed.',
      'A: Shall I cancel order #W1111111?',
      'C: No, I meant #W2222222.',
      read('#W2222222'),
      'A: Shall I cancel order #W2222222?',
      'C: Yes.',
      cancel(id),
      'A: It has been cancelled.',
    ];
    expect(found(steps('#W2222222'))).toEqual([]);
    expect(found(steps('#W1111111'))).toContain('correction');
  });
});

test.each<[string, Step[], number]>([
  ['of a silent failure: at the next answer', [...ASK_CANCEL, 'C: Yes.', cancel('#W1111111', BUSY), 'A: Goodbye.', 'C: Bye.'], 8],
  ['of a false claim: at the claim', [...ASK_CANCEL, 'C: Yes.', cancel('#W1111111', BUSY), 'A: Done.', 'C: Ok.'], 8],
  ['of a wish that was taken back: at the call', [...ASK_CANCEL, 'C: Never mind, keep it.', cancel('#W1111111'), 'A: Done.'], 7],
])('the place of a finding is a message of the agent, %s', (_name, steps, place) => {
  expect(findings(steps).map(({ message }) => message)).toEqual([place]);
});

describe('a refusal', () => {
  const refuse = (...steps: Step[]): Step[] => [...FOUND, read('#W1111111', 'delivered'), 'C: Cancel #W1111111.', ...steps];
  test.each<[string, Step[], string[]]>([
    ['with an alternative', ["A: I can't cancel it because it is delivered. You can return it instead.", 'C: Ok.'], []],
    ['with another offer', ["A: I can't cancel it because it is delivered. Anything else?", 'C: No.'], []],
    ['with a reason', ["A: I can't cancel order #W1111111 because it is delivered.", 'C: Oh.', 'A: Goodbye.', 'C: Bye.'], []],
    ['and nothing else', ["A: I can't cancel order #W1111111.", 'C: Oh.', 'A: Goodbye.', 'C: Bye.'], ['refusal']],
    [
      'with a human',
      [
        "A: I can't cancel order #W1111111 because it is delivered.",
        'C: Oh.',
        ['transfer_to_human_agents', { summary: 'Mia Li wants to cancel a delivered order.' }, 'Transfer successful'],
      ],
      [],
    ],
  ])('%s', (_name, steps, rules) => expect(found(refuse(...steps))).toEqual(rules));
});

describe('needless turns', () => {
  test.each<[string, Step[], string[]]>([
    ['the email after the lookup', [...FOUND, 'A: What is your email address?', 'C: I said it.'], ['asked_again']],
    [
      'the email that was given',
      ['C: Hi, I am mia.li@example.com.', 'A: Could you provide your email, please?', 'C: I said it.'],
      ['asked_again'],
    ],
    [
      'the email after a failed lookup',
      [
        'C: I am mia@example.com.',
        ['find_user_id_by_email', { email: 'mia@example.com' }, 'Error: user not found'],
        'A: What is your email address?',
        'C: Hm.',
      ],
      [],
    ],
    [
      'the order that was just named',
      [...FOUND, 'C: Cancel #W1111111.', 'A: Which order do you want to cancel?', 'C: I said it.'],
      ['asked_again'],
    ],
    ['the order that was not named', [...FOUND, 'C: Cancel my order.', 'A: Which order do you want to cancel?', 'C: #W1111111.'], []],
    ['the same record', [...FOUND, read('#W1111111'), 'C: And?', read('#W1111111'), 'A: It is pending.'], ['read_again']],
    [
      'the same record after a write',
      [...FOUND, read('#W1111111'), 'C: Cancel #W1111111.', cancel('#W1111111'), read('#W1111111', 'cancelled'), 'A: It is cancelled.'],
      [],
    ],
    [
      'the same record when the customer asks to look again',
      [...FOUND, read('#W1111111'), 'C: Please double-check.', read('#W1111111'), 'A: It is pending.'],
      [],
    ],
    [
      'the same question after a yes',
      [...ASK_CANCEL, 'C: Yes.', 'A: Shall I cancel order #W1111111, no longer needed?', 'C: Yes!'],
      ['same_question'],
    ],
    [
      'the same question after no answer',
      [...ASK_CANCEL, 'C: What does that cost?', 'A: Shall I cancel order #W1111111, no longer needed?', 'C: Yes!'],
      [],
    ],
  ])('%s', (_name, steps, rules) => expect(found(steps)).toEqual(rules));
});

test('a hand-over has a useful summary', () => {
  const transfer = (summary: string): Step[] => [
    ...FOUND,
    'C: Price match!',
    ['transfer_to_human_agents', { summary }, 'Transfer successful'],
  ];
  expect(found(transfer('Mia Li wants a price match.'))).toEqual([]);
  expect(found(transfer('The customer needs help from a human agent.'))).toEqual(['handover_summary']);
});
