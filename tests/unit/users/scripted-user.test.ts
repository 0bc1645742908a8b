import { describe, expect, it } from 'vitest';
import type { UserScenario, Wish } from '../../../src/records/task.ts';
import { isConfirmation } from '../../../src/agent/answers.ts';
import { scriptedCustomer } from '../../../src/domains/retail/customer/customer.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { STOP } from '../../../src/users/types.ts';
import { byEmail, byName, cancelOrder, customer, returnLamp } from '../../support/customers.ts';
import { customerScripts } from '../../../src/domains/registry.ts';

const SEEDS = [0, 1, 2, 3, 4, 5, 6, 7];

/** The customer's words: the opening, and an answer to each line until they stop. */
function talk(scenario: UserScenario, lines: string[], seed = 5): string[] {
  const user = scriptedCustomer(scenario, seed);
  const said = [user.open()];
  for (const line of lines) {
    if (said.at(-1)!.includes(STOP)) break;
    said.push(user.reply(line));
  }
  return said;
}

const answer = (scenario: UserScenario, line: string, seed?: number) => talk(scenario, [line], seed)[1]!;

describe('personas', () => {
  it('upfront tells identity and the whole wish at once', () => {
    for (const seed of SEEDS) {
      const [opening] = talk(customer('upfront', [returnLamp]), [], seed);
      for (const fact of [byEmail.email, '#W1234567', 'lamp', 'gift card']) expect(opening).toContain(fact);
    }
  });

  it('on_request first tells only the topic, then each fact only after a question', () => {
    for (const seed of SEEDS) {
      const said = talk(
        customer('on_request', [returnLamp]),
        [
          'What is your email?',
          'Which order?',
          'Which items?',
          'Refund to which payment method?',
          'Return lamp of order #W1234567, refund to gift_card_1111111. Yes or no?',
          'Done. Anything else?',
        ],
        seed,
      );
      expect(said[0]).toMatch(/return items of an order/);
      const facts = [byEmail.email, '#W1234567', 'lamp', 'gift card'];
      facts.forEach((fact, i) =>
        facts.forEach((other, j) => expect(said[i + 1]!.includes(other), `${fact}: ${said[i + 1]}`).toBe(i === j)),
      );
      expect(isConfirmation(said[5]!)).toBe(true);
      expect(said[6]).toContain(STOP);
    }
  });

  it('changes_mind asks for one wish, then for another wish instead, and confirms only the second', () => {
    const insteadOf = {
      ...returnLamp,
      slots: { ...returnLamp.slots, payment_method_id: 'paypal_2222222' },
      words: { items: ['lamp'], payment: ['PayPal'] },
    };
    const first = 'Return lamp of order #W1234567, refund to paypal_2222222. Yes or no?';
    for (const seed of SEEDS) {
      const said = talk(
        customer('changes_mind', [{ ...returnLamp, insteadOf }]),
        ['Refund to which payment method?', first, first, first.replace('paypal_2222222', 'gift_card_1111111')],
        seed,
      );
      expect(said[1]).toContain('PayPal');
      expect(said[2]).toMatch(/^(Actually|Wait), .*gift card instead\.$/);
      expect(isConfirmation(said[2]!)).toBe(false);
      expect(said[3]).toMatch(/^No, .*gift card/);
      expect(isConfirmation(said[4]!)).toBe(true);
    }
  });

  it('reserved tells a second wish only when the agent asks for more', () => {
    const reserved = customer('reserved', [cancelOrder, returnLamp]);
    const first = 'Cancel order #W7654321, no longer needed. Yes or no?';
    for (const seed of SEEDS) {
      const [opening, yes, second] = talk(reserved, [first, 'Done. Anything else?'], seed);
      expect(opening).not.toMatch(/lamp|#W1234567/);
      expect(isConfirmation(yes!)).toBe(true);
      expect(second).toContain('return');
      expect(second).not.toContain(STOP);
      for (const end of ['Done.', 'Sorry, I cannot do that.']) expect(talk(reserved, [first, end], seed).at(-1), end).toContain(STOP);
    }
    expect(talk(customer('upfront', [cancelOrder, returnLamp]), [first, 'Done.']).at(-1)).toContain('return');
  });

  it('tellsAll opens with every fact of the wish, also where chance would decide', () => {
    const insteadOf = { ...cancelOrder, slots: { ...cancelOrder.slots, order_id: '#W4321' } };
    for (const seed of SEEDS) {
      const scenario = { ...customer('changes_mind', [{ ...cancelOrder, insteadOf }], { first_name: 'Mia' }), tellsAll: true };
      expect(talk(scenario, [], seed)[0]).toMatch(/^(Hi|Hello)\. (I want to|Please) cancel order #W4321, .*no longer needed\.$/);
    }
  });

  it('pushy insists once after a refusal, then continues', () => {
    const refusal = 'Sorry, I cannot do that: the order is delivered. Anything else?';
    const said = talk(customer('pushy', [{ ...cancelOrder, impossible: true }, returnLamp]), [refusal, refusal, refusal]);
    expect(said[1]).toMatch(/exception|just this once/);
    expect(said[2]).toMatch(/also want to return/);
    expect(said[3]).toContain(STOP);
    // Other personas accept the refusal at once.
    expect(answer(customer('upfront', [{ ...cancelOrder, impossible: true }]), refusal)).toContain(STOP);
  });
});

describe('answers by question', () => {
  const asked = customer('on_request', [returnLamp]);

  it.each([
    ["I'd be happy to help! Could you please provide your email address so I can verify your identity?", byEmail.email],
    ['Thank you, Mia. Could you please provide the order ID?', '#W1234567'],
    ['Which item or items would you like to return from order #W1234567?', 'lamp'],
    ['How should we refund you: which payment method?', 'gift card'],
    ['Your refund can go to the original payment method (paypal_2222222) or to a gift card. Which would you prefer?', 'gift card'],
    ['Would you like me to refund to PayPal or to your gift card?', 'gift card'],
    ['There are two options: your original payment method and a gift card. Which one do you prefer?', 'gift card'],
  ])('%s', (question, fact) => {
    for (const seed of SEEDS) {
      const said = answer(asked, question, seed);
      const facts = [byEmail.email, '#W1234567', 'lamp', 'gift card'];
      expect(
        facts.filter((other) => said.includes(other)),
        said,
      ).toEqual([fact]);
    }
  });

  it('several facts in one answer', () => {
    const said = answer(asked, 'Which order, which items, and refund to which payment method?');
    for (const fact of ['#W1234567', 'lamp', 'gift card']) expect(said).toContain(fact);
  });

  it('does not know facts outside the scenario', () => {
    expect(answer(customer('on_request', [cancelOrder], byName), 'What is your email?')).toMatch(/don't (know|remember) my email/);
    expect(answer(customer('on_request', [cancelOrder], byName), 'What is your email, or your name and zip?')).toMatch(
      /Mia Garcia, zip 78712/,
    );
    expect(answer(customer('on_request', [cancelOrder], byEmail), 'What is your full name and zip?')).toMatch(/don't know/);
    expect(answer(customer('on_request', [cancelOrder]), 'What is the new address?')).toMatch(/don't know/);
  });
});

describe('confirmation', () => {
  const upfront = customer('upfront', [returnLamp]);

  it.each([
    'Return lamp of order #W1234567, refund to gift_card_1111111. Yes or no?',
    'I will return the lamp from order #W1234567 and refund your gift card. Do you confirm (yes/no)?',
    'Here is a summary:\n- Order: #W1234567\n- Item: Lamp (1111111111)\n- Refund: gift_card_1111111\nDo you confirm these details (yes/no)?',
    'To confirm:\n\n* **Order:** #W1234567\n* **Items to return:** Lamp (ID 1111111111), color: black\n* **Refund:** gift card\n\nShall I proceed?',
    'I can process a return for the following item from order #W1234567:\n- Lamp\nRefund: gift card. Is this correct?',
  ])('accepts its wish: %s', (proposal) => {
    for (const seed of SEEDS) expect(isConfirmation(answer(upfront, proposal, seed))).toBe(true);
  });

  it.each([
    ['another order', 'Return the lamp of order #W9999999, refund to gift_card_1111111? (yes/no)'],
    ['no order', 'Return the lamp, refund to gift_card_1111111? (yes/no)'],
    ['another act', 'Cancel order #W1234567? (yes/no)'],
    ['another payment method', 'Return lamp of order #W1234567, refund to paypal_2222222? (yes/no)'],
    ['one item more', 'Return lamp, mug of order #W1234567, refund to gift_card_1111111? (yes/no)'],
    [
      'one item more in a list',
      '- Order: #W1234567\n- Items:\n  - Lamp (1111111111)\n  - Mug (3333333333)\n- Refund: gift card\nDo you confirm?',
    ],
    ['another payment method in a list', '- Order: #W1234567\n- Item: Lamp\n- Refund: paypal_2222222\nDo you confirm?'],
  ])('corrects %s', (_, proposal) => {
    for (const seed of SEEDS) {
      const said = answer(upfront, proposal, seed);
      expect(said).toMatch(/^No, I want to return the lamp (of|from) order #W1234567, refund to my gift card\.$/);
      expect(isConfirmation(said)).toBe(false);
    }
  });

  it('understands short order ids, and payment methods whose kind is their id', () => {
    const pay: Wish = {
      intent: 'modify_payment',
      slots: { order_id: '#W1234', payment_method_id: 'gift_card' },
      words: { payment: ['gift card'] },
      impossible: false,
    };
    const says = (proposal: string) => isConfirmation(answer(customer('upfront', [pay]), proposal));
    expect(says('Pay order #W1234 with gift_card. Yes or no?')).toBe(true);
    expect(says('Pay order #W1235 with gift_card. Yes or no?')).toBe(false);
    expect(says('Pay order #W1234 with credit_card. Yes or no?')).toBe(false);
  });

  it('corrects reasons, options and addresses', () => {
    const of = (wish: Wish, proposal: string) => isConfirmation(answer(customer('upfront', [wish]), proposal));
    expect(of(cancelOrder, 'Cancel order #W7654321, no longer needed. Yes or no?')).toBe(true);
    expect(of(cancelOrder, 'Cancel order #W7654321, ordered by mistake. Yes or no?')).toBe(false);
    const swap: Wish = {
      ...returnLamp,
      intent: 'exchange',
      slots: { ...returnLamp.slots, new_item_ids: ['2222222222'] },
      words: { ...returnLamp.words, new_items: ['color red'] },
    };
    expect(of(swap, 'Exchange lamp for color red in order #W1234567, difference on gift_card_1111111. Yes or no?')).toBe(true);
    expect(of(swap, 'Exchange lamp for color blue in order #W1234567, difference on gift_card_1111111. Yes or no?')).toBe(false);
    const move: Wish = {
      intent: 'modify_address',
      slots: { zip: '80201' },
      words: { address: ['12 Oak Street, Denver, CO 80201'] },
      impossible: false,
    };
    expect(of(move, 'Change your default address to 12 Oak Street, Denver, CO 80201. Yes or no?')).toBe(true);
    expect(of(move, 'Change your default address to 12 Oak Street, Denver, CO 80202. Yes or no?')).toBe(false);
  });
});

describe('claims of the agent', () => {
  const both = customer('upfront', [cancelOrder, returnLamp]);

  it('continues with the next wish and stops after the last wish', () => {
    const said = talk(both, [
      'I have cancelled order #W7654321.',
      'Your return request for order #W1234567 has been submitted successfully. Is there anything else?',
    ]);
    expect(said[1]).toMatch(/also want to return/);
    expect(said[2]).toContain(STOP);
  });

  it('does not take a status or a plan as a claim', () => {
    for (const line of [
      'Order #W7654321 is pending.',
      'Order #W7654321 has been delivered.',
      'Order #W7654321 will be cancelled, no longer needed.',
    ]) {
      expect(answer(both, line)).toMatch(/cancel order #W7654321/);
    }
  });

  it('objects when another order was changed', () => {
    expect(answer(both, 'Order #W9999999 has been cancelled.')).toMatch(/^No, I want to cancel order #W7654321/);
  });

  it('understands a report and a proposal for the next wish in one message', () => {
    const report = 'Order #W7654321 has been cancelled.';
    const yes = talk(both, [
      `${report} Next, return the lamp of order #W1234567, refund to gift_card_1111111. Do you confirm? (yes/no)`,
      'Done.',
    ]);
    expect(isConfirmation(yes[1]!)).toBe(true);
    expect(yes[2]).toContain(STOP);
    expect(answer(both, `${report} Shall I also return the mug of order #W1234567?`)).toMatch(/^No, I want to return the lamp/);
    expect(answer(both, `${report} Is that ok?`)).toMatch(/also want to return the lamp/);
    expect(answer(customer('upfront', [cancelOrder]), `${report} Shall I also cancel order #W1234567?`)).toContain(STOP);
  });

  it('leaves when transferred', () => {
    expect(answer(both, 'You are being transferred to a human agent.')).toContain(STOP);
  });
});

describe('patience', () => {
  const asked = customer('on_request', [cancelOrder]);

  it('ends after three replies without progress', () => {
    const said = talk(asked, ['', 'aa bb', 'order the the', 'lamp']);
    expect(said).toHaveLength(4);
    expect(said[3]).toContain(STOP);
  });

  it('ends when a question is repeated too often', () => {
    const said = talk(asked, Array<string>(14).fill('What is your email?'));
    expect(said).toHaveLength(5);
    expect(said[4]).toContain(STOP);
  });

  it('is renewed by a useful question', () => {
    const said = talk(asked, ['', 'aa bb', 'What is your email?', 'order the the', 'aa', 'Which order?', 'lamp', 'the']);
    expect(said).toHaveLength(9);
    expect(said.join()).not.toContain(STOP);
  });

  it('has a limit, also with useful questions', () => {
    const questions = ['What is your email?', 'Which order?'];
    const said = talk(
      asked,
      Array.from({ length: 30 }, (_, i) => questions[i % 2]!),
    );
    expect(said).toHaveLength(13);
    expect(said[12]).toContain(STOP);
  });
});

describe('seeds', () => {
  const lines = [
    'Your email please, or your name and zip?',
    'Which order, and why?',
    'Cancel order #W7654321, no longer needed. Yes or no?',
    'Done. Anything else?',
  ];

  it('determine every word', () => {
    const all = SEEDS.map((seed) => talk(customer('on_request', [cancelOrder]), lines, seed).join('|'));
    expect(SEEDS.map((seed) => talk(customer('on_request', [cancelOrder]), lines, seed).join('|'))).toEqual(all);
    expect(new Set(all).size).toBeGreaterThan(4);
  });

  it('make sessions independent of each other', async () => {
    const users = new ScriptedUsers(customerScripts);
    const [a, b] = [1, 1].map((seed) => users.session(customer('on_request', [cancelOrder]), seed));
    const opening = await a!.open();
    const first = await a!.reply(lines[0]!);
    expect(await b!.open()).toBe(opening);
    expect(await b!.reply(lines[0]!)).toBe(first);
  });

  it('a cancelled session fails as aborted', async () => {
    const session = new ScriptedUsers(customerScripts).session(customer('upfront', [cancelOrder]), 1);
    await expect(session.open(AbortSignal.abort())).rejects.toMatchObject({ name: 'UserError', kind: 'aborted' });
  });
});
