import 'fake-indexeddb/auto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Act } from '../../../src/agent/acts.ts';
import { createExpert } from '../../../src/domains/retail/expert.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { Domain } from '../../../src/environments/types.ts';
import type { SynthesizedConversation } from '../../../src/records/dataset.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { STOP } from '../../../src/users/types.ts';
import { GENERATED_DOMAINS, customerScripts } from '../../../src/domains/registry.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS });
const users = new ScriptedUsers(customerScripts);

/** The share of tried tasks that the careful demonstrator solves, and their conversations. */
async function play(level: string, tasks: number): Promise<{ solved: number; conversations: SynthesizedConversation[] }> {
  // Tasks are tried in order until enough conversations are kept. Tasks after the first `tasks` replace failures.
  const { conversations } = await synthesize(
    { environments, users },
    { domain: 'retail', level, count: tasks, seed: 7, styles: ['careful'] },
  );
  const indices = conversations.map(({ id }) => Number(id.split('/').at(-1)));
  return { solved: indices.filter((index) => index < tasks).length / tasks, conversations };
}

describe('expert × scripted user × environment', () => {
  let nano: Awaited<ReturnType<typeof play>>;
  beforeAll(async () => {
    nano = await play('nano', 128);
  }, 60_000);

  it('solves at least 97 % of nano tasks', () => {
    expect(nano.solved).toBeGreaterThanOrEqual(0.97);
  });

  it.each([
    ['glimpse', 0.9],
    ['small', 0.9],
    ['full', 0.85],
  ])(
    'solves most tasks at level %s',
    async (level, share) => {
      expect((await play(level, 64)).solved).toBeGreaterThanOrEqual(share);
    },
    60_000,
  );

  it('is short: at most 25 words per message and 250 words per nano conversation', () => {
    const words = (text: string) => text.split(/\s+/).filter(Boolean).length;
    for (const { messages } of nano.conversations) {
      for (const { role, content } of messages) if (role === 'assistant') expect(words(content), content).toBeLessThanOrEqual(25);
    }
    const lengths = nano.conversations.map(({ messages }) =>
      words(
        messages
          .slice(1)
          .map(({ content, tool_calls }) => content + (tool_calls ? JSON.stringify(tool_calls) : ''))
          .join(' '),
      ),
    );
    expect(lengths.reduce((sum, length) => sum + length, 0) / lengths.length).toBeLessThan(250);
  });

  it('makes complete conversations: the policy first, and the customer or a transfer ends them', () => {
    for (const { messages, tools } of nano.conversations) {
      expect(messages[0]!.role).toBe('system');
      const last = messages.at(-1)!;
      expect(last.role === 'user' ? last.content.includes(STOP) : last.name === 'transfer_to_human_agents').toBe(true);
      expect(tools.length).toBeGreaterThan(0);
    }
  });

  it('makes the same conversations for the same seed', async () => {
    const again = await synthesize({ environments, users }, { domain: 'retail', level: 'nano', count: 8, seed: 7, styles: ['careful'] });
    expect(again.conversations).toEqual(nano.conversations.slice(0, 8));
  });
});

describe('the next act', () => {
  let domain: Domain;
  beforeAll(async () => {
    domain = await environments.domain('retail', 'nano');
  });
  const act = (messages: ChatMessage[]): Act => createExpert(domain, 3).act(messages);
  const user = (content: string): ChatMessage => ({ role: 'user', content });
  const call = (name: string, args: Record<string, unknown>): ChatMessage => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ type: 'function', function: { name, arguments: args } }],
  });
  const tool = (content: string): ChatMessage => ({ role: 'tool', content });

  const known: ChatMessage[] = [
    user('Hi. My email is mia@example.com. I want to cancel an order.'),
    call('find_user_id_by_email', { email: 'mia@example.com' }),
    tool('mia_garcia_1'),
    call('get_user_details', { user_id: 'mia_garcia_1' }),
    tool('{"name":"Mia Garcia","payment_methods":["paypal_1"],"orders":["#W1234567"]}'),
  ];
  const order = [
    ...known,
    { role: 'assistant', content: 'Which order, and why?' } as const,
    user('Order #W1234567, no longer needed.'),
    call('get_order_details', { order_id: '#W1234567' }),
    tool(
      '{"order_id":"#W1234567","user_id":"mia_garcia_1","status":"pending","items":[{"name":"Lamp","item_id":"1"}],"payment_method_id":"paypal_1"}',
    ),
  ];
  const proposal = 'Cancel order #W1234567, no longer needed. Yes or no?';
  const proposed = [...order, { role: 'assistant', content: proposal } as const];

  it('authenticates the customer first', () => {
    expect(act([user('Hi. I want to cancel order #W1234567, no longer needed.')])).toEqual({
      say: expect.stringMatching(/email/) as string,
    });
    expect(act(known.slice(0, 1))).toEqual({ call: { name: 'find_user_id_by_email', arguments: { email: 'mia@example.com' } } });
    expect(act([user('I am Mia Garcia, zip 78712.')])).toEqual({
      call: { name: 'find_user_id_by_name_zip', arguments: { first_name: 'Mia', last_name: 'Garcia', zip: '78712' } },
    });
  });

  it('asks for missing facts, looks up data, and proposes an action with its ids', () => {
    expect(act(known)).toEqual({ say: 'Which order, and why?' });
    expect(act(order.slice(0, -2))).toEqual({ call: { name: 'get_order_details', arguments: { order_id: '#W1234567' } } });
    expect(act(order)).toEqual({ say: proposal });
  });

  it('writes only after the customer accepts exactly its proposal', () => {
    const write = { call: { name: 'cancel_pending_order', arguments: { order_id: '#W1234567', reason: 'no longer needed' } } };
    expect(act([...proposed, user('Yes.')])).toEqual(write);
    expect(act([...proposed, user('Hm?')])).toEqual({ say: proposal });
    expect(
      act([...order, { role: 'assistant', content: proposal.replace('no longer needed', 'ordered by mistake') }, user('Yes.')]),
    ).toEqual({ say: proposal });
    expect(act([...proposed, user('No, I want to cancel order #W1234567, ordered by mistake.')])).toEqual({
      say: proposal.replace('no longer needed', 'ordered by mistake'),
    });
  });

  it('refuses actions that the order’s state or owner forbids', () => {
    const delivered = order.map((message) => ({ ...message, content: message.content.replace('"pending"', '"delivered"') }));
    expect(act(delivered)).toEqual({ say: expect.stringMatching(/^Sorry, I cannot do that: the order is delivered/) as string });
    expect(act([...known, { role: 'assistant', content: 'Which order, and why?' }, user('Order #W7777777, no longer needed.')])).toEqual({
      say: expect.stringMatching(/not yours/) as string,
    });
  });

  it('needs no customer and no look-up where no tool has them', async () => {
    const glimpse = await environments.domain('retail', 'glimpse');
    const ask = 'Hi. Please change the payment of order #W1234 to my gift card.';
    const proposal = 'Pay order #W1234 with gift_card. Yes or no?';
    const write = {
      call: { name: 'modify_pending_order_payment', arguments: { order_id: '#W1234', payment_method_id: 'gift_card' } },
    };
    expect(createExpert(glimpse, 3, { style: 'brisk' }).act([user(ask)])).toEqual(write);
    const careful = createExpert(glimpse, 3);
    expect(careful.act([user(ask)])).toEqual({ say: proposal });
    expect(careful.act([user(ask), { role: 'assistant', content: proposal }, user('Yes.')])).toEqual(write);
    expect(careful.act([user('Hi. Please cancel an order.')])).toEqual({ say: 'Which order, and why?' });
  });

  it('names item and product before it looks up the product, then the item, all options and the new item', async () => {
    const small = await environments.domain('retail', 'small');
    const careful = createExpert(small, 3);
    const brisk = createExpert(small, 3, { style: 'brisk' });
    const asked = [
      user('Hi. My email is mia@example.com. Please exchange the water bottle for one with capacity 1 l in order #W1234567, my PayPal.'),
      ...known.slice(1),
      call('get_order_details', { order_id: '#W1234567' }),
      tool(
        '{"order_id":"#W1234567","status":"delivered","items":[{"name":"Mug","item_id":"11","product_id":"21","options":"color red, size small"},{"name":"Water Bottle","item_id":"12","product_id":"22","options":"color red, capacity 500 ml"}],"payment_method_id":"paypal_1"}',
      ),
    ];
    const lookUp = { call: { name: 'get_product_details', arguments: { product_id: '22' } }, note: 'Water Bottle 12 22' };
    expect(careful.act(asked)).toEqual(lookUp);
    const seen = [
      ...asked,
      call('get_product_details', { product_id: '22' }),
      tool('{"name":"Water Bottle","variants":{"color blue, capacity 1 l":"31","color red, capacity 1 l":"32"}}'),
    ];
    const text = 'Exchange Water Bottle 12 for color red, capacity 1 l 32 in order #W1234567, difference on paypal_1.';
    const write = {
      call: {
        name: 'exchange_delivered_order_items',
        arguments: { order_id: '#W1234567', item_ids: ['12'], new_item_ids: ['32'], payment_method_id: 'paypal_1' },
      },
    };
    expect(careful.act(seen)).toEqual({ say: `${text} Yes or no?` });
    expect(careful.act([...seen, { role: 'assistant', content: `${text} Yes or no?` }, user('Yes.')])).toEqual(write);
    expect(brisk.act(seen)).toEqual({ ...write, note: text });
    const sold = seen.map((message) => ({ ...message, content: message.content.replace(',"color red, capacity 1 l":"32"', '') }));
    expect(careful.act(sold)).toEqual({ say: 'Sorry, I cannot do that: there is no such water bottle. Anything else?' });
  });

  it('transfers wishes that no tool can fulfil', () => {
    const move = [...known, user('I want to change the address of order #W1234567 to 12 Oak Street, Denver, CO 80201.')];
    expect(act(move)).toEqual({
      call: { name: 'transfer_to_human_agents', arguments: { summary: 'The customer wants to change an address.' } },
    });
  });
});
