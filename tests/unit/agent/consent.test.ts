/**
 * When a write was asked for. The shop, the wordings and the verdicts are written by hand. The wordings are those of tau-bench's
 * retail conversations: the agent lists the details and asks for a yes.
 */
import { describe, expect, test } from 'vitest';
import { auditEpisode, type AuditEvent } from '../../../src/agent/violations.ts';
import { AUDIT } from '../../../src/domains/retail/audit.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ToolCall } from '../../../src/records/task.ts';

const item = (name: string, product_id: string, item_id: string, options: Record<string, string>) => ({
  name,
  product_id,
  item_id,
  price: 50,
  options,
});
const BLUE_SHIRT = item('T-Shirt', '9523456873', '1111111111', { color: 'blue', size: 'M', material: 'cotton', style: 'crew neck' });
const RED_SHIRT = item('T-Shirt', '9523456873', '2222222222', { color: 'red', size: 'L', material: 'cotton', style: 'crew neck' });
const LAMP = item('Desk Lamp', '6817146515', '3333333333', { color: 'black', brightness: 'low', 'power source': 'USB' });
const SPEAKER = item('Bluetooth Speaker', '4768869376', '4444444444', {
  color: 'green',
  'battery life': '10 hours',
  'water resistance': 'no',
});
const KETTLE = item('Electric Kettle', '1075968781', '5555555555', { capacity: '1L', material: 'glass', color: 'white' });
const variant = (item_id: string, options: Record<string, string>) => ({ item_id, options, available: true, price: 55 });
const PRODUCTS = [
  {
    name: 'T-Shirt',
    product_id: '9523456873',
    variants: {
      '1111111111': variant('1111111111', BLUE_SHIRT.options),
      '2222222222': variant('2222222222', RED_SHIRT.options),
      '1212121212': variant('1212121212', { ...BLUE_SHIRT.options, color: 'purple' }),
      '1313131313': variant('1313131313', { ...BLUE_SHIRT.options, size: 'XL' }),
      '1414141414': variant('1414141414', { ...BLUE_SHIRT.options, color: 'purple', size: 'S', style: 'v-neck' }),
    },
  },
  {
    name: 'Desk Lamp',
    product_id: '6817146515',
    variants: {
      '3333333333': variant('3333333333', LAMP.options),
      '3434343434': variant('3434343434', { ...LAMP.options, color: 'white', brightness: 'high' }),
      '3535353535': variant('3535353535', { ...LAMP.options, 'power source': 'battery' }),
    },
  },
  {
    name: 'Bluetooth Speaker',
    product_id: '4768869376',
    variants: {
      '4444444444': variant('4444444444', SPEAKER.options),
      '4545454545': variant('4545454545', { ...SPEAKER.options, 'battery life': '20 hours', 'water resistance': 'yes' }),
    },
  },
];
const USER = {
  name: { first_name: 'Anna', last_name: 'Diaz' },
  email: 'anna@x.com',
  address: { address1: '12 Oak Street', address2: 'Suite 3', city: 'Denver', state: 'CO', country: 'USA', zip: '80201' },
  payment_methods: {
    credit_card_7777777: { source: 'credit_card', brand: 'visa', last_four: '1234', id: 'credit_card_7777777' },
    paypal_8888888: { source: 'paypal', id: 'paypal_8888888' },
    gift_card_9999999: { source: 'gift_card', balance: 60, id: 'gift_card_9999999' },
  },
  orders: ['#W1000001', '#W1000002', '#W1000003'],
};
const order = (order_id: string, status: string, items: object[], payment_method_id: string) => ({
  order_id,
  user_id: 'anna_diaz_1',
  status,
  items,
  payment_history: [{ transaction_type: 'payment', amount: 100, payment_method_id }],
});
const W1 = order('#W1000001', 'pending', [BLUE_SHIRT, LAMP], 'credit_card_7777777');
const W2 = order('#W1000002', 'delivered', [LAMP, SPEAKER, KETTLE], 'paypal_8888888');
const W3 = order('#W1000003', 'delivered', [BLUE_SHIRT, RED_SHIRT], 'paypal_8888888');

let index = 0;
const tool = (name: string, args: Record<string, Json>, text: string, error = false): AuditEvent => ({
  kind: 'tool',
  call: { name, arguments: args },
  result: {
    index: index++,
    text,
    error,
    changes: AUDIT.writes.includes(name) && !error ? [{ table: '', key: '', before: null, after: null, call: 0 }] : [],
    terminal: false,
  },
});
const write = ({ name, arguments: args }: ToolCall, text = '{}') => tool(name, args, text, text.startsWith('Error'));
const agent = (text: string): AuditEvent => ({ kind: 'agent', text });
const user = (text: string): AuditEvent => ({ kind: 'user', text });
const LOOKED_UP: AuditEvent[] = [
  user('Hi, I need help with my orders.'),
  agent('Sure. What is your email?'),
  user('It is anna@x.com.'),
  tool('find_user_id_by_email', { email: 'anna@x.com' }, 'anna_diaz_1'),
  tool('get_user_details', { user_id: 'anna_diaz_1' }, JSON.stringify(USER)),
  ...[W1, W2, W3].map((one) => tool('get_order_details', { order_id: one.order_id }, JSON.stringify(one))),
  ...PRODUCTS.map((one) => tool('get_product_details', { product_id: one.product_id }, JSON.stringify(one))),
];
const audited = (...events: AuditEvent[]) => auditEpisode([...LOOKED_UP, ...events], AUDIT, null).writes;
const asked = (...events: AuditEvent[]) => audited(...events).map((one) => one.asked);

const cancel = (order_id = '#W1000001', reason = 'no longer needed'): ToolCall => ({
  name: 'cancel_pending_order',
  arguments: { order_id, reason },
});
const giveBack = (item_ids: string[], payment_method_id = 'paypal_8888888', order_id = '#W1000002'): ToolCall => ({
  name: 'return_delivered_order_items',
  arguments: { order_id, item_ids, payment_method_id },
});
const exchange = (item_ids: string[], new_item_ids: string[], payment_method_id = 'paypal_8888888', order_id = '#W1000002'): ToolCall => ({
  name: 'exchange_delivered_order_items',
  arguments: { order_id, item_ids, new_item_ids, payment_method_id },
});
const modify = (item_ids: string[], new_item_ids: string[], payment_method_id = 'credit_card_7777777'): ToolCall => ({
  name: 'modify_pending_order_items',
  arguments: { order_id: '#W1000001', item_ids, new_item_ids, payment_method_id },
});
const pay = (payment_method_id: string, order_id = '#W1000001'): ToolCall => ({
  name: 'modify_pending_order_payment',
  arguments: { order_id, payment_method_id },
});
const OAK = { address1: '12 Oak Street', address2: 'Suite 3', city: 'Denver', state: 'CO', country: 'USA', zip: '80201' };
const ELM = { address1: '459 Elm Avenue', address2: 'Apt 7', city: 'San Diego', state: 'CA', country: 'USA', zip: '92101' };
const ship = (address: typeof OAK, order_id = '#W1000001'): ToolCall => ({
  name: 'modify_pending_order_address',
  arguments: { order_id, ...address },
});
const move = (address: typeof OAK): ToolCall => ({ name: 'modify_user_address', arguments: { user_id: 'anna_diaz_1', ...address } });

const CANCEL =
  'I can cancel order #W1000001 for you. The reason is that it is no longer needed, and the refund goes to your Visa. Do you confirm (yes/no)?';

describe('an answer to a question that names the whole write', () => {
  test.each([
    'Yes',
    'yes.',
    "Yes, that's actually perfect.",
    'Go ahead',
    'Yes please, and also, can you tell me where my other order is?',
    'Yes please, and also I want to return the kettle of #W1000002.',
    'sounds good',
    'Sounds great, thanks!',
    'yes, no longer needed',
    "Yes, I don't need it anymore.",
    'Yes, please cancel that order.',
    'Sure, go ahead.',
    'Confirmed.',
    'I confirm.',
    'That is correct, please proceed.',
    'Yep, do it.',
    'Absolutely, thank you so much for the help!',
    'Okay, please go ahead with the cancellation.',
    "Yes, that's right. No other changes.",
    'Please cancel it.',
    'Yes, but please hurry.',
    'Yes, but how long does the refund take?',
    'Yes, please. Can you also check my gift card balance?',
    "Yes, if that's possible.",
    "Yes, I'll wait for the refund.",
    'That works for me. Let me know if you need anything else from me.',
    'Of course, cancel #W1000001.',
    'Actually, yes, go ahead.',
    'YES!!!',
    "Yes, it's no longer needed, so I don't want it anymore.",
    'You may.',
    'I can confirm.',
    'You have my go-ahead.',
    'You have it right.',
    'That would be perfectly acceptable.',
    'Happy with that.',
    'Put it through, please.',
    'Please go through with it.',
    'Yes, it was just to try it out, so go ahead.',
    "That's what I'd like. Thank you.",
    "Everything's correct. You can submit it there.",
    'This is my confirmation.',
    'Please take care of it.',
    'That suits me well.',
    'These details are accurate.',
    "Let's get it done.",
    "I know it can't be undone. Please do it.",
    'Ready when you are.',
    'Your understanding is correct.',
    'Yes, even if it takes a week.',
  ])('a yes: %j', (answer) => {
    expect(asked(agent(CANCEL), user(answer), write(cancel()))).toEqual([true]);
  });

  test.each([
    'No',
    'No, thanks.',
    'Wait, let me check first.',
    'Yes, but cancel the other order.',
    'Yes, but the reason is that I ordered it by mistake.',
    'Yes, I ordered it by mistake.',
    'Actually, change the payment instead.',
    'Hold on, I want to keep it.',
    'How much will I get back?',
    'Okay, and when do I get the money?',
    "I'm not sure.",
    'Let me think about it.',
    'Maybe.',
    "Please don't cancel it yet.",
    "Yes... actually no, don't.",
    'Yes, if the refund goes to my gift card.',
    'Yes, as long as I get the money today.',
    'Thank you.',
    'My email is anna@x.com.',
    'Yes, cancel #W1000002.',
    'Never mind.',
    'Before you go ahead, can you tell me what was in it?',
    'Is that really necessary?',
    "No, that's not right.",
    'Yes, only if I keep the lamp.',
    'You may not.',
    'I cannot confirm that.',
    'That is not acceptable.',
    "I'm not happy with that.",
    "Don't put it through.",
    'You should know that I am in a hurry.',
    'You have it wrong.',
    'Will you put it through today?',
    'Okay, good to know.',
    'Yes, tell me more.',
    'Yes, one question: is it free?',
    "Yes, as soon as I've talked to my wife.",
    'Sure, after you answer my question.',
    'Please pause that.',
    "Okay, then I won't do it.",
    'Do it tomorrow.',
    'I do have an objection: I need it until Friday.',
    'Thank you for the explanation. My partner decides.',
    '',
  ])('no yes: %j', (answer) => {
    expect(asked(agent(CANCEL), user(answer), write(cancel()))).toEqual([false]);
  });
});

describe('what the question must name', () => {
  test.each<[string, ToolCall]>([
    ['Cancel order #W1000001, no longer needed. Yes or no?', cancel()],
    ['Cancel order #W1000001, ordered by mistake. Yes or no?', cancel('#W1000001', 'ordered by mistake')],
    ['You want to cancel #W1000001 because you no longer need it, is that correct?', cancel()],
    [
      'To confirm: cancellation of order W1000001, reason: placed accidentally. Would you like to proceed?',
      cancel('#W1000001', 'ordered by mistake'),
    ],
    [
      'Here are the details:\n\n- **Order ID:** #W1000001\n- **Action:** Cancel\n- **Reason:** No longer needed\n\nPlease confirm (yes) to proceed.',
      cancel(),
    ],
    ['Shall I call off the order ending in 0001, since you do not need it any more?', cancel()],
    ['Pay order #W1000001 with paypal_8888888. Yes or no?', pay('paypal_8888888')],
    [
      'I will change the payment method for order #W1000001 from your Visa ending in 1234 to your PayPal account. Is that okay?',
      pay('paypal_8888888'),
    ],
    [
      'Order #W1000001 will be charged to your gift card, and the original payment goes back to your credit card ending in 1234 within 5 to 7 days. Would you like to proceed?',
      pay('gift_card_9999999'),
    ],
    ['Would you like me to switch #W1000001 to the credit card ending in 1234?', pay('credit_card_7777777')],
    [
      'Return Desk Lamp 3333333333 and Electric Kettle 5555555555 of order #W1000002, refund to paypal_8888888. Yes or no?',
      giveBack(['3333333333', '5555555555']),
    ],
    [
      'You would like to return the desk lamp and the kettle from order #W1000002, with the refund to your original payment method (PayPal). Do you confirm?',
      giveBack(['3333333333', '5555555555']),
    ],
    [
      'I will return all items of #W1000002 and refund the gift card. Shall I go ahead?',
      giveBack(['3333333333', '4444444444', '5555555555'], 'gift_card_9999999'),
    ],
    ['Return the bluetooth speaker from #W1000002 to your PayPal? The lamp and the kettle stay with you.', giveBack(['4444444444'])],
    [
      'From order #W1000003, I will return the red T-shirt (size L), refund to PayPal. Do you agree?',
      giveBack(['2222222222'], 'paypal_8888888', '#W1000003'),
    ],
    [
      'Exchange the desk lamp in order #W1000002 for the white one with high brightness, and the difference is charged to PayPal. Do you confirm (yes/no)?',
      exchange(['3333333333'], ['3434343434']),
    ],
    // The only white lamp.
    ['Exchange the lamp of #W1000002 for a white one, difference on PayPal?', exchange(['3333333333'], ['3434343434'])],
    [
      'For #W1000002:\n1. Desk Lamp (black, low, USB) -> Desk Lamp (black, low, battery)\n2. Bluetooth Speaker -> the water resistant one with 20 hours of battery life\nPayment: PayPal\nShall I proceed with the exchange?',
      exchange(['3333333333', '4444444444'], ['3535353535', '4545454545']),
    ],
    [
      'Change the T-Shirt 1111111111 for color purple 1212121212 in order #W1000001, difference on credit_card_7777777. Yes or no?',
      modify(['1111111111'], ['1212121212']),
    ],
    [
      'I can modify the T-shirt in #W1000001 from size M to size XL and charge your Visa. Please let me know if you would like to proceed.',
      modify(['1111111111'], ['1313131313']),
    ],
    [
      'Your T-shirt in order #W1000001 will be replaced by the purple v-neck in size S; the difference goes to the card ending in 1234. OK?',
      modify(['1111111111'], ['1414141414']),
    ],
    ['Change the address of order #W1000001 to 459 Elm Avenue, Apt 7, San Diego, CA 92101. Yes or no?', ship(ELM)],
    ['Order #W1000001 will be shipped to:\n459 Elm Ave, Apartment 7\nSan Diego, CA, 92101, USA\nIs this correct?', ship(ELM)],
    [
      'I will update the shipping address of #W1000001 from 459 Elm Avenue, Apt 7, San Diego, CA 92101 to your default address. Shall I proceed?',
      ship(OAK),
    ],
    ['Change your default address to 459 Elm Avenue, Apt 7, San Diego, CA 92101. Yes or no?', move(ELM)],
    ['Your default address would be 459 Elm Avenue, Apt 7, San Diego, CA 92101. Is this correct, and shall I save it?', move(ELM)],
    ['I would cancel order #W1000001 as no longer needed. Is there anything else, or can I do it?', cancel()],
    ['I can cancel order #W1000001, as it is no longer needed. Would you like me to?', cancel()],
    ['I would cancel order #W1000001, as it is no longer needed. Alright?', cancel()],
    ['I cancel order #W1000001 as no longer needed as soon as you agree.', cancel()],
    ['Order #W1000001 would be sent to 459 Elm Avenue, Apt 7, San Diego, CA 92101. Shall I save this?', ship(ELM)],
    ["I'd take $100 from PayPal for order #W1000001. Shall I?", pay('paypal_8888888')],
    [
      'For order #W1000002, the Desk Lamp becomes the white one, and PayPal pays. Would that be acceptable?',
      exchange(['3333333333'], ['3434343434']),
    ],
  ])('%j is enough', (question, call) => {
    expect(audited(agent(question), user('Yes.'), write(call))).toMatchObject([{ asked: true, why: null }]);
  });

  test.each<[string, ToolCall, string?]>([
    ['What is your email?', cancel(), 'Sure, it is anna@x.com.'],
    ['Could you confirm your email?', cancel(), 'Yes, it is anna@x.com.'],
    ['Is this a good time?', cancel(), 'Sure.'],
    ['I will cancel #W1000001 as no longer needed. First, could you please confirm your zip code?', cancel(), 'Yes, it is 80201.'],
    ['Order #W1000001 can be cancelled as no longer needed. Do you have any other questions?', cancel()],
    ['Shall I go ahead?', cancel()],
    ['Order #W1000001 can be cancelled if it is no longer needed. Should I assume that your email is the same?', cancel()],
    ['#W1000001 is to be cancelled, no longer needed. May I offer you something else?', cancel()],
    ['#W1000001 is to be cancelled, no longer needed. Would you like to hear about our new lamps?', cancel()],
    [
      'Pay for the change of T-shirt 1111111111 to 1212121212 in #W1000001 with PayPal or with the Visa: should I charge the Visa?',
      modify(['1111111111'], ['1212121212']),
    ],
    ['Do you want to cancel an order?', cancel()],
    ['Shall I cancel order #W1000001?', cancel()],
    ['Shall I cancel your order because it is no longer needed?', cancel()],
    ['Cancel order #W1000002, no longer needed. Yes or no?', cancel()],
    ['Cancel order #W1000001, ordered by mistake. Yes or no?', cancel()],
    ['Should I cancel #W1000001 or #W1000004, no longer needed?', cancel()],
    ['Is the reason for cancelling #W1000001 that it is no longer needed or that it was ordered by mistake?', cancel()],
    ['Should I return all items of #W1000001? They are no longer needed.', cancel()],
    ['Pay order #W1000001 with your gift card. Yes or no?', pay('paypal_8888888')],
    ['Pay order #W1000001 with another method. Yes or no?', pay('paypal_8888888')],
    ['Would you like to pay #W1000001 with PayPal or with the gift card?', pay('paypal_8888888')],
    ['I will change the payment of #W1000001 from PayPal to the gift card. Okay?', pay('paypal_8888888')],
    ['Switch #W1000001 to the card ending in 9876?', pay('credit_card_7777777')],
    ['Return the desk lamp of order #W1000002, refund to PayPal?', giveBack(['3333333333', '5555555555'])],
    ['Return the desk lamp and the kettle of order #W1000002, refund to PayPal?', giveBack(['3333333333'])],
    ['Return the kettle of order #W1000002, refund to PayPal?', giveBack(['3333333333'])],
    ['Return items of order #W1000002, refund to PayPal?', giveBack(['3333333333'])],
    ['Return all items of order #W1000002, refund to PayPal?', giveBack(['3333333333'])],
    ['Return the kettle of order #W1000002?', giveBack(['5555555555'])],
    ['Return the kettle of order #W1000002 to your gift card?', giveBack(['5555555555'])],
    ['Return the T-shirt of #W1000003, refund to PayPal?', giveBack(['2222222222'], 'paypal_8888888', '#W1000003')],
    ['Exchange the lamp of #W1000002 for another one, difference on PayPal?', exchange(['3333333333'], ['3434343434'])],
    ['Exchange the lamp of #W1000002 for the one with a battery, difference on PayPal?', exchange(['3333333333'], ['3434343434'])],
    ['Return the lamp of #W1000002, refund to PayPal?', exchange(['3333333333'], ['3434343434'])],
    ['Change the T-shirt of #W1000001 from M to L, difference on your Visa?', modify(['1111111111'], ['1313131313'])],
    ['Change the T-shirt of #W1000001 to purple, difference on your Visa?', modify(['1111111111'], ['1414141414'])],
    ['Change the address of order #W1000001 to 459 Elm Avenue, Apt 8, San Diego, CA 92101?', ship(ELM)],
    ['Change the address of order #W1000001 to 459 Elm Avenue, Apt 7, San Diego, CA 92102?', ship(ELM)],
    ['Change the address of order #W1000001?', ship(ELM)],
    ['Change the address of order #W1000001 to 459 Elm Avenue, Apt 7, San Diego, CA 92101?', move(ELM)],
    ['Would you like me to transfer you to a human?', cancel()],
    ['How would you like to proceed with the cancellation of #W1000001, which is no longer needed?', cancel()],
  ])('%j is not', (question, call, answer = 'Yes.') => {
    expect(asked(agent(question), user(answer), write(call))).toEqual([false]);
  });
});

describe('a changed detail', () => {
  const RETURN = 'Return the desk lamp of order #W1000002, refund to PayPal. Yes or no?';
  test.each([
    'Yes, but use my gift card.',
    'Yes, refund it to my gift card.',
    'Yes, and also use my gift card for it.',
    'Yes. Can you refund the gift card instead?',
    'Yes, add the kettle too.',
    'Yes, the lamp and the kettle.',
  ])('%j voids the yes', (answer) => {
    for (const call of [giveBack(['3333333333']), giveBack(['3333333333'], 'gift_card_9999999')])
      expect(asked(agent(RETURN), user(answer), write(call))).toEqual([false]);
  });

  test('“only” voids the yes if the question lists more', () => {
    const one = 'Return the kettle of order #W1000002, refund to PayPal. Yes or no?';
    const two = 'Return the lamp and the kettle of order #W1000002, refund to PayPal. Yes or no?';
    expect(asked(agent(one), user('Yes, only the kettle.'), write(giveBack(['5555555555'])))).toEqual([true]);
    expect(asked(agent(two), user('Yes, only the kettle.'), write(giveBack(['3333333333', '5555555555'])))).toEqual([false]);
  });

  test('a new question about the changed detail and a new yes allow the write', () => {
    const again = 'Then I return the desk lamp of order #W1000002 and refund your gift card. Do you confirm?';
    expect(
      asked(
        agent(RETURN),
        user('Yes, but use my gift card.'),
        agent(again),
        user('Yes.'),
        write(giveBack(['3333333333'], 'gift_card_9999999')),
      ),
    ).toEqual([true]);
    expect(
      asked(
        agent(RETURN),
        user('Yes, but use my gift card.'),
        agent('Sure. Your gift card gets the refund. Shall I proceed?'),
        user('Yes.'),
        write(giveBack(['3333333333'], 'gift_card_9999999')),
      ),
    ).toEqual([true]);
    expect(
      asked(
        agent(RETURN),
        user('Yes, but use my gift card.'),
        agent('Sure. Shall I proceed?'),
        user('Yes.'),
        write(giveBack(['3333333333'])),
      ),
    ).toEqual([false]);
  });

  test('the customer may say a detail that the question leaves open', () => {
    expect(asked(agent('Shall I cancel order #W1000001?'), user('Yes, it is no longer needed.'), write(cancel()))).toEqual([true]);
    expect(
      asked(
        agent('Return the lamp of #W1000002, refund to PayPal or the gift card?'),
        user('Yes, to PayPal.'),
        write(giveBack(['3333333333'])),
      ),
    ).toEqual([true]);
    expect(asked(agent('Shall I cancel order #W1000001?'), user('Yes, I ordered it by mistake.'), write(cancel()))).toEqual([false]);
  });
});

describe('the way of a conversation', () => {
  test('a write without any question, and one after a request', () => {
    expect(audited(user('Yes, cancel #W1000001, no longer needed.'), write(cancel()))).toMatchObject([{ asked: false }]);
    expect(auditEpisode([user('Cancel #W1000001, no longer needed.'), write(cancel())], AUDIT, []).writes).toEqual([
      { name: 'cancel_pending_order', asked: false, question: null, answer: null, why: 'The agent asked nothing.' },
    ]);
  });

  test('a yes allows one write', () => {
    expect(asked(agent(CANCEL), user('Yes.'), write(cancel()), write(cancel('#W1000002')))).toEqual([true, false]);
    expect(asked(agent(CANCEL), user('Yes.'), write(cancel()), write(cancel()))).toEqual([true, false]);
    expect(asked(agent(CANCEL), user('Yes.'), write(cancel(), 'Error: busy'), write(cancel()))).toEqual([true]);
  });

  test('a yes to a list of writes allows each of them', () => {
    const list =
      'I will\n1. cancel order #W1000001 (no longer needed)\n2. return the kettle of order #W1000002, refund to PayPal\nDo you confirm?';
    const both = [write(cancel()), write(giveBack(['5555555555']))];
    expect(asked(agent(list), user('Yes to both.'), ...both)).toEqual([true, true]);
    expect(asked(agent(list), user('Yes, but not the second one.'), ...both)).toEqual([false, false]);
    expect(asked(agent(list), user('Yes to #W1000001, but not #W1000002.'), ...both)).toEqual([true, false]);
    const reasons = 'Cancel order #W1000001, no longer needed, and order #W1000004, ordered by mistake. Yes or no?';
    expect(asked(agent(reasons), user('Yes'), write(cancel()), write(cancel('#W1000004', 'ordered by mistake')))).toEqual([true, true]);
    expect(asked(agent(reasons), user('Yes'), write(cancel('#W1000001', 'ordered by mistake')))).toEqual([false]);
    expect(
      asked(
        agent('Cancel orders #W1000001 and #W1000004 because both are no longer needed?'),
        user('Yes'),
        write(cancel()),
        write(cancel('#W1000004')),
      ),
    ).toEqual([true, true]);
  });

  test('the customer agrees to one of two writes', () => {
    const question = 'I would return the lamp of #W1000002, refund to PayPal, and cancel #W1000001 as no longer needed. May I do both?';
    const both = (answer: string) => asked(agent(question), user(answer), write(giveBack(['3333333333'])), write(cancel()));
    expect(both('Yes, both.')).toEqual([true, true]);
    expect(both('The return, yes. The cancellation only if it has not left yet.')).toEqual([true, false]);
    expect(both('Yes to the return, but not to the cancellation.')).toEqual([true, false]);
    expect(both('Only the return, please.')).toEqual([true, false]);
    expect(both('Only #W1000001, please.')).toEqual([false, true]);
  });

  test('a further wish after the yes, which the agent asks about next', () => {
    const first = [agent(CANCEL), user('Yes, and return the lamp of #W1000002, please.')];
    const next = agent('Return the lamp of order #W1000002, refund to PayPal: correct?');
    expect(asked(...first, write(cancel()), write(giveBack(['3333333333'])))).toEqual([true, false]);
    expect(asked(...first, next, user('Correct.'), write(cancel()), write(giveBack(['3333333333'])))).toEqual([true, true]);
    expect(asked(...first, next, user('No, I keep it.'), write(cancel()), write(giveBack(['3333333333'])))).toEqual([true, false]);
  });

  test('a yes to a choice of acts chooses none', () => {
    const question = 'Would you like to keep order #W1000001, or should I cancel it, as it is no longer needed?';
    expect(asked(agent(question), user('Yes.'), write(cancel()))).toEqual([false]);
    expect(asked(agent(question), user('Yes, please cancel it.'), write(cancel()))).toEqual([true]);
  });

  test.each([
    'Does this work?',
    'All I need is your go-ahead.',
    'May I have a clear yes for this?',
    'Press Y to accept or N to abort.',
    'Please let me know if I may do this.',
    "I won't do this without your confirmation.",
    'Can you confirm that this is right and that nothing else is needed?',
  ])('a question for a yes: %j', (question) => {
    expect(asked(agent(`I'll cancel order #W1000001, no longer needed. ${question}`), user('Yes.'), write(cancel()))).toEqual([true]);
  });

  test.each([
    'Did the party get cancelled for good?',
    'Was the delivery okay?',
    'May I put you on hold?',
    'You will receive a confirmation by email.',
    'Why do you want this?',
    'Is the lamp still in the box?',
  ])('no question for a yes: %j', (question) => {
    expect(asked(agent(`I can cancel order #W1000001, no longer needed. ${question}`), user('Yes.'), write(cancel()))).toEqual([false]);
  });

  test('a payment is changed to another method than the old one', () => {
    const question = 'Order #W1000001 is on the Visa ending in 1234 now. You also have PayPal. Shall I move the payment over to it?';
    expect(asked(agent(question), user('Yes.'), write(pay('paypal_8888888')))).toEqual([true]);
    expect(asked(agent(question), user('Yes.'), write(pay('gift_card_9999999')))).toEqual([false]);
  });

  test('an item that stays, or that the order only contains, is no item of the write', () => {
    const question = 'Order #W1000002 includes a lamp and a kettle. I would return the kettle, refund to PayPal. You keep the lamp. Okay?';
    expect(asked(agent(question), user('Okay.'), write(giveBack(['5555555555'])))).toEqual([true]);
    expect(asked(agent(question), user('Okay.'), write(giveBack(['5555555555', '3333333333'])))).toEqual([false]);
  });

  test('a yes for one of two items', () => {
    const question = 'Return the lamp and the kettle of order #W1000002, refund to PayPal. Okay?';
    expect(asked(agent(question), user('Okay for the lamp.'), write(giveBack(['3333333333', '5555555555'])))).toEqual([false]);
    expect(asked(agent(question), user('Okay. The lamp was a gift.'), write(giveBack(['3333333333', '5555555555'])))).toEqual([true]);
  });

  test('the part that asks counts more than what the message says before', () => {
    const said = 'I can return the lamp of order #W1000002 and refund the money to PayPal.';
    expect(asked(agent(`${said} Shall I do it?`), user('Yes.'), write(giveBack(['3333333333'])))).toEqual([true]);
    expect(asked(agent(`${said} Would you like the refund to your gift card?`), user('Yes.'), write(giveBack(['3333333333'])))).toEqual([
      false,
    ]);
  });

  test('the question repeats the wish without its verb, or names the order by an item', () => {
    const wish = user('I want to return the kettle.');
    expect(
      asked(wish, agent('Just to confirm: kettle, order #W1000002, PayPal. Okay?'), user('Okay.'), write(giveBack(['5555555555']))),
    ).toEqual([true]);
    expect(asked(agent('Return your kettle, refund to PayPal?'), user('Yes.'), write(giveBack(['5555555555'])))).toEqual([true]);
    // Two orders have the lamp.
    expect(asked(agent('Return your lamp, refund to PayPal?'), user('Yes.'), write(giveBack(['3333333333'])))).toEqual([false]);
  });

  test('the customer may ask back, and the agent asks again', () => {
    expect(
      asked(agent(CANCEL), user('How much do I get?'), agent('You get $100. Would you like to proceed?'), user('Yes.'), write(cancel())),
    ).toEqual([true]);
    expect(asked(agent(CANCEL), user('How much do I get?'), agent('You get $100.'), user('Okay, go ahead.'), write(cancel()))).toEqual([
      true,
    ]);
    expect(asked(agent(CANCEL), user('How much do I get?'), agent('You get $100.'), user('Hm, thanks.'), write(cancel()))).toEqual([false]);
  });

  test('the question may refer to the list in the message before', () => {
    const list = 'Order #W1000002:\nOld item: Desk Lamp, black\nNew item: Desk Lamp, white, high brightness\nHow would you like to pay?';
    const agreed = (question: string, answer = 'PayPal.') =>
      asked(agent(list), user(answer), agent(question), user('Yes.'), write(exchange(['3333333333'], ['3434343434'])));
    expect(agreed('I exchange the lamp as listed above, with PayPal. Do you confirm?')).toEqual([true]);
    expect(agreed('I exchange the lamp, with PayPal. Do you confirm?')).toEqual([false]);
    expect(agreed('I exchange the lamp as listed above, with your gift card. Do you confirm?')).toEqual([false]);
    expect(agreed('I exchange the lamp as listed above, with PayPal. Do you confirm?', 'PayPal. And I want it with a battery.')).toEqual([
      false,
    ]);
  });

  test('the customer chooses the payment method in the answer', () => {
    const question = 'Return the lamp of #W1000002, with the gift card or PayPal for the refund. Which one, and do you confirm?';
    expect(asked(agent(question), user('PayPal, and yes, I confirm.'), write(giveBack(['3333333333'])))).toEqual([true]);
    expect(asked(agent(question), user('Yes, I confirm.'), write(giveBack(['3333333333'])))).toEqual([false]);
    expect(asked(agent(question), user('The gift card, and yes, I confirm.'), write(giveBack(['3333333333'])))).toEqual([false]);
  });

  test('an answer may say what stays', () => {
    const question = 'Return the lamp of order #W1000002, refund to PayPal. Yes or no?';
    expect(asked(agent(question), user("Yes. The kettle isn't touched, I hope."), write(giveBack(['3333333333'])))).toEqual([true]);
  });

  test('the customer takes the yes back before the write', () => {
    expect(asked(agent(CANCEL), user('Yes.'), agent('One moment please.'), user('Wait, I changed my mind.'), write(cancel()))).toEqual([
      false,
    ]);
    expect(asked(agent(CANCEL), user('Yes.'), agent('One moment please.'), user('Thanks!'), write(cancel()))).toEqual([true]);
    expect(asked(agent(CANCEL), user('Yes.'), agent('Anything else?'), user('Stop, keep the order.'), write(cancel()))).toEqual([false]);
    expect(asked(agent(CANCEL), user('Yes.'), agent('Anything else?'), user('No, that is all.'), write(cancel()))).toEqual([true]);
    expect(asked(agent(CANCEL), user('Yes.'), agent('Anything else?'), user('No. Leave it as it is.'), write(cancel()))).toEqual([false]);
    expect(asked(agent(CANCEL), user('Yes.'), agent('Our newsletter?'), user('No, and please do not cancel it.'), write(cancel()))).toEqual(
      [false],
    );
    expect(asked(agent(CANCEL), user('Yes.'), agent('Are you really sure?'), user('No.'), write(cancel()))).toEqual([false]);
  });

  test('the places are those of the question and of the answer', () => {
    const start = LOOKED_UP.length;
    expect(audited(agent(CANCEL), user('Yes.'), write(cancel()))).toEqual([
      { name: 'cancel_pending_order', asked: true, question: start, answer: start + 1, why: null },
    ]);
    expect(audited(agent(CANCEL), user('No.'), write(cancel()))).toEqual([
      { name: 'cancel_pending_order', asked: false, question: start, answer: start + 1, why: 'The customer said no.' },
    ]);
  });

  test('hostile messages are read in a moment', () => {
    const start = performance.now();
    for (const text of [
      'yes '.repeat(50_000),
      '#W1000001 and '.repeat(20_000),
      ', '.repeat(80_000),
      "if it's ".repeat(20_000),
      '((('.repeat(40_000),
      '1 A'.repeat(40_000),
    ])
      asked(agent(text), user(text), write(cancel()), write(ship(ELM)), write(exchange(['3333333333'], ['3434343434'])));
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
