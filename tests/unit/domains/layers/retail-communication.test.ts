/** @file What the shop's agent must say. The conversations and the amounts are by hand: 120.50 + 30 = 150.50; 140 − 120.50 = 19.50. */
import { describe, expect, test } from 'vitest';
import { LAYERS } from '../../../../src/domains/retail/layers/index.ts';
import { layerOf, type Step } from '../../../support/layer-steps.ts';

const { found, findings, details } = layerOf(LAYERS, 'communication');

const LOOKUP: Step[] = [
  'C: Hi, my email is mia.li@example.com.',
  ['find_user_id_by_email', { email: 'mia.li@example.com' }, 'mia_li_3668'],
  [
    'get_user_details',
    { user_id: 'mia_li_3668' },
    {
      name: { first_name: 'Mia', last_name: 'Li' },
      email: 'mia.li@example.com',
      payment_methods: {
        credit_card_1: { source: 'credit_card', id: 'credit_card_1' },
        gift_card_2: { source: 'gift_card', balance: 60, id: 'gift_card_2' },
      },
      orders: ['#W1111111', '#W2222222'],
    },
  ],
];
const ITEMS = [
  { name: 'Lamp', product_id: '9000000001', item_id: '1000000001', price: 120.5, options: { color: 'red' } },
  { name: 'Mug', product_id: '9000000002', item_id: '1000000002', price: 30, options: { size: 'small' } },
];
const order = (id: string, status: string, method = 'credit_card_1') => ({
  order_id: id,
  user_id: 'mia_li_3668',
  status,
  items: ITEMS,
  payment_history: [{ transaction_type: 'payment', amount: 150.5, payment_method_id: method }],
});
const read = (status: string, method?: string): Step => [
  'get_order_details',
  { order_id: '#W1111111' },
  order('#W1111111', status, method),
];
const cancelled = (method?: string): Step => [
  'cancel_pending_order',
  { order_id: '#W1111111', reason: 'no longer needed' },
  order('#W1111111', 'cancelled', method),
];
const CANCEL_ASKED: Step[] = [
  ...LOOKUP,
  read('pending'),
  'C: Please cancel order #W1111111, I no longer need it.',
  'A: Shall I cancel order #W1111111 (no longer needed)? Please confirm.',
  'C: Yes.',
];
const REFUND = 'The refund of $150.50 goes to your original payment method in 5 to 7 business days.';

describe('a cancellation', () => {
  const after = (...steps: Step[]) => [...CANCEL_ASKED, cancelled(), ...steps];
  test('with when and where the refund comes', () =>
    expect(found(after(`A: Order #W1111111 has been cancelled. ${REFUND}`, 'C: Thanks.'))).toEqual([]));
  test('without when', () =>
    expect(found(after('A: Order #W1111111 has been cancelled. The refund goes to your credit card.', 'C: Thanks.'))).toEqual([
      'refund_time',
    ]));
  test('without where', () =>
    expect(found(after('A: Order #W1111111 has been cancelled. The money is back in 5-7 business days.', 'C: Ok.'))).toEqual([
      'refund_method',
    ]));
  test.each([
    ['in 2 to 3 business days', ['refund_time']],
    ['within 24 to 48 hours', ['refund_time']],
    ['immediately', ['refund_time']],
    ['tomorrow', ['refund_time']],
    ['in a few hours', ['refund_time']],
    ['within 5-7 business days', []],
    ['in five to seven business days', []],
  ])('the refund comes %s', (when, rules) =>
    expect(found(after(`A: Order #W1111111 has been cancelled. You will be refunded to your credit card ${when}.`, 'C: Ok.'))).toEqual(
      rules,
    ),
  );
  test.each([
    ['150.50', []],
    ['150.5', []],
    ['120.50', ['wrong_amount']],
    ['1,150.50', ['wrong_amount']],
  ])('a refund of $%s', (amount, rules) =>
    expect(
      found(
        after(`A: Order #W1111111 has been cancelled. A refund of $${amount} goes to your credit card in 5 to 7 business days.`, 'C: Ok.'),
      ),
    ).toEqual(rules),
  );
  test('in other words', () => {
    expect(
      found(after('A: Order #W1111111 has been cancelled, and $150.50 will go back to your Visa card in 5 to 7 business days.', 'C: Ok.')),
    ).toEqual([]);
    expect(
      found(after('A: Order #W1111111 has been cancelled, and $150.50 will go back to your Visa card in two weeks.', 'C: Ok.')),
    ).toEqual(['refund_time']);
    expect(
      found(
        after('A: Order #W1111111 has been cancelled, and $150.50 will go back to your PayPal account in 5 to 7 business days.', 'C: Ok.'),
      ),
    ).toEqual(['wrong_refund_method']);
  });
  test('to another method', () =>
    expect(
      found(after('A: Order #W1111111 has been cancelled. The refund goes to your PayPal account in 5 to 7 business days.', 'C: Ok.')),
    ).toEqual(['wrong_refund_method']));
  test('paid by gift card, which gets the money at once', () => {
    const gift = (text: string) =>
      found([
        ...LOOKUP,
        read('pending', 'gift_card_2'),
        'C: Cancel #W1111111, no longer needed.',
        'A: Shall I cancel order #W1111111?',
        'C: Yes.',
        cancelled('gift_card_2'),
        text,
        'C: Ok.',
      ]);
    expect(gift('A: Order #W1111111 is cancelled and $150.50 has been refunded to your gift card immediately.')).toEqual([]);
    expect(gift('A: Order #W1111111 is cancelled. Your gift card gets the refund in 5 to 7 business days.')).toEqual(['refund_time']);
  });
  test('is a duty only where the policy says so', () => {
    const bare = after('A: Done. Anything else?', 'C: No.');
    expect(found(bare)).toEqual(['refund_time', 'refund_method']);
    expect(found(bare, 'Cancel orders. Ask for a yes before each change.')).toEqual([]);
    const [time] = findings(bare, 'Be kind.\n- The total will be refunded via the original payment method in 5 to 7 business days.');
    expect(time).toMatchObject({
      rule: 'refund_time',
      sentence: 'The total will be refunded via the original payment method in 5 to 7 business days.',
    });
  });
  test('that nobody tells the customer of', () =>
    expect(
      found(after('A: Can I help you with something else? A refund to your credit card comes in 5 to 7 business days.', 'C: No.')),
    ).toEqual(['not_reported']));
});

describe('claims', () => {
  test('of a cancellation that no call made', () => {
    expect(found([...CANCEL_ASKED, `A: I have cancelled order #W1111111. ${REFUND}`, 'C: Thanks.'])).toEqual(['false_claim']);
    expect(found([...CANCEL_ASKED, 'A: Done. Anything else?', 'C: No.'])).toEqual(['false_claim']);
  });
  test('after an error', () =>
    expect(
      details([
        ...CANCEL_ASKED,
        ['cancel_pending_order', { order_id: '#W1111111', reason: 'x' }, 'Error: invalid reason'],
        `A: Your order has been cancelled. ${REFUND}`,
        'C: Ok.',
      ])[0],
    ).toMatch(/cancel_pending_order had failed/));
  test('about another order than the one that was cancelled', () =>
    expect(found([...CANCEL_ASKED, cancelled(), `A: Order #W2222222 has been cancelled. ${REFUND}`, 'C: Ok.'])).toContain('false_claim'));
  test.each([
    'A: Once you confirm, the order will be cancelled.',
    'A: Your order has not been cancelled yet.',
    'A: Would you like me to have it cancelled?',
    'A: If the order is cancelled, you get your money back.',
  ])('are not: %s', (text) => expect(found([...LOOKUP, read('pending'), 'C: Cancel #W1111111.', text, 'C: Ok.'])).toEqual([]));
  test('about what a record shows', () =>
    expect(found([...LOOKUP, read('cancelled'), 'C: What about #W1111111?', 'A: Order #W1111111 has been cancelled.', 'C: Ok.'])).toEqual(
      [],
    ));
});

const NEW = { '1000000003': { item_id: '1000000003', options: { color: 'blue' }, available: true, price: 140 } };
describe('an exchange', () => {
  const exchange = (proposal: string) => [
    ...LOOKUP,
    read('delivered'),
    ['get_product_details', { product_id: '9000000001' }, { name: 'Lamp', product_id: '9000000001', variants: NEW }] as Step,
    'C: I want the blue lamp instead of the red one in #W1111111.',
    `A: ${proposal} Shall I exchange it?`,
    'C: Yes.',
    [
      'exchange_delivered_order_items',
      { order_id: '#W1111111', item_ids: ['1000000001'], new_item_ids: ['1000000003'], payment_method_id: 'credit_card_1' },
      order('#W1111111', 'exchange requested'),
    ] as Step,
    'A: The exchange has been requested. You will get an email.',
    'C: Ok.',
  ];
  test.each([
    ['The price difference is $19.50, charged to your credit card.', []],
    ['The blue lamp is $140.00, so you pay $19.50 more with your credit card.', []],
    ['The price difference is $29.50, charged to your credit card.', ['wrong_amount']],
    ['The price difference of $19.50 will be refunded to your credit card.', ['wrong_amount']],
    ['I exchange the red lamp for the blue lamp with your credit card.', ['difference']],
    ['The red lamp ($120.50) is exchanged for the blue lamp ($140.00).', ['difference']],
  ])('%s', (proposal, rules) => expect(found(exchange(proposal))).toEqual(rules));
});

describe('a return', () => {
  const returned = (text: string) => [
    ...LOOKUP,
    read('delivered'),
    'C: Return the mug of #W1111111 to my credit card.',
    'A: Shall I return the mug of order #W1111111 and refund your credit card?',
    'C: Yes.',
    [
      'return_delivered_order_items',
      { order_id: '#W1111111', item_ids: ['1000000002'], payment_method_id: 'credit_card_1' },
      order('#W1111111', 'return requested'),
    ] as Step,
    text,
    'C: Ok.',
  ];
  test.each([
    ['A: The return has been requested. $30.00 will be refunded to your credit card. An email explains how to send it back.', []],
    ['A: The return has been requested. $30.00 will be refunded to your credit card.', ['email']],
    ['A: The return has been requested. A refund of $150.50 will go to your credit card. You will get an email.', ['wrong_amount']],
    ['A: The return has been requested. The refund will go to your gift card. You will get an email.', ['wrong_refund_method']],
  ])('%s', (text, rules) => expect(found(returned(text))).toEqual(rules));
});

describe('facts', () => {
  const say = (text: string) => found([...LOOKUP, read('pending'), 'C: Tell me about order #W1111111. I paid $99.', text, 'C: Thanks.']);
  test.each([
    ['A: Order #W1111111 is pending. The lamp costs $120.50 and the mug $30, a total of $150.50.', []],
    ['A: Order #W1111111 is delivered.', ['wrong_status']],
    ['A: Order #W1111112 is pending.', ['unknown_order']],
    ['A: The lamp costs $125.50.', ['wrong_amount']],
    ['A: You say that you paid $99, but the total is $150.50.', []],
    ['A: The total of order #W1111111 is $140.50.', ['wrong_amount']],
    ['A: Your gift card has a balance of $60.', []],
    ['A: The gift card lacks $90.50.', []],
  ])('%s', (text, rules) => expect(say(text)).toEqual(rules));
});

describe('a refusal', () => {
  const refuse = (text: string) => found([...LOOKUP, read('delivered'), 'C: Cancel #W1111111.', text, 'C: Why?']);
  test.each([
    ["A: I'm sorry, I can't cancel it. Is there anything else?", ['refusal_without_reason']],
    ["A: I'm sorry, I can't cancel it because it has been delivered.", []],
    ['A: Sorry, I cannot do that: the order is delivered. Anything else?', []],
    ["A: Unfortunately I'm unable to process that request. Can I help with something else?", ['refusal_without_reason']],
    ["A: I can't cancel it without your email.", []],
  ])('%s', (text, rules) => expect(refuse(text)).toEqual(rules));
});

test('a reason counts for the next refusals, and not for those before', () => {
  const BARE = "A: I'm sorry, I can't cancel it. Is there anything else?";
  const WHY = "A: I can't cancel it because it has been delivered.";
  const steps = (...said: string[]): Step[] => [
    ...LOOKUP,
    read('delivered'),
    'C: Cancel #W1111111.',
    ...said.flatMap((text) => [text, 'C: Please.']),
  ];
  expect(found(steps(BARE, BARE))).toEqual(['refusal_without_reason', 'refusal_without_reason']);
  expect(found(steps(WHY, BARE))).toEqual([]);
  expect(found(steps(BARE, WHY))).toEqual(['refusal_without_reason']);
});

describe('a hand-over', () => {
  const transfer = (summary: string, ...before: Step[]) => [
    ...LOOKUP,
    'C: I want a price match for my lamp.',
    ...before,
    ['transfer_to_human_agents', { summary }, 'Transfer successful'] as Step,
  ];
  test.each([
    ['Mia Li (mia_li_3668) wants a price match for a lamp.', []],
    ['The customer wants a price match for a lamp.', ['handover_summary']],
    ['Mia Li needs help.', ['handover_summary']],
    ['', ['handover_summary']],
  ])('“%s”', (summary, rules) => expect(found(transfer(summary))).toEqual(rules));
  test('after a write', () => {
    const write: Step[] = [cancelled(), `A: Order #W1111111 has been cancelled. ${REFUND}`, 'C: And the price match?'];
    expect(found(transfer('Mia Li wants a price match for a lamp.', ...write))).toEqual(['handover_summary']);
    expect(found(transfer('Mia Li wants a price match for a lamp. Order #W1111111 was cancelled.', ...write))).toEqual([]);
  });
  test('with the sentence that the policy wants', () => {
    const policy =
      "To transfer, call the tool, then send the message 'YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.' to the user.";
    const steps = transfer('Mia Li (mia_li_3668) wants a price match for a lamp.');
    expect(found([...steps, 'A: YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.'], policy)).toEqual([]);
    expect(found([...steps, 'A: Bye.'], policy)).toEqual(['handover_message']);
    expect(found([...steps, 'A: Bye.'])).toEqual([]);
  });
});
