/** Rows to grade: a small shop of which no domain knows, so that only the rules that need no domain apply. */
import type { ChatMessage } from '../../src/records/conversation.ts';

export const SHOP_TOOLS = [
  {
    type: 'function',
    function: {
      name: 'cancel_order',
      description: 'Cancels an order.',
      parameters: { type: 'object', properties: { order: { type: 'string' }, why: { enum: ['late', 'wrong'] } }, required: ['order'] },
    },
  },
];

const call = (args: unknown): Pick<ChatMessage, 'content' | 'tool_calls'> => ({
  content: '',
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'cancel_order', arguments: args as string } }],
});

/** A good conversation about order `W<number>`. */
export const shopMessages = (number: number): ChatMessage[] => [
  { role: 'system', content: 'You serve a shop. Ask before you cancel.' },
  { role: 'user', content: `Please cancel order W${number}, it is late.` },
  { role: 'assistant', content: `Shall I cancel order W${number}, because it is late?` },
  { role: 'user', content: 'Yes, please.' },
  { role: 'assistant', ...call({ order: `W${number}`, why: 'late' }) },
  { role: 'tool', tool_call_id: 'c1', name: 'cancel_order', content: `{"order": "W${number}", "status": "cancelled"}` },
  { role: 'assistant', content: `Order W${number} is cancelled.` },
  { role: 'user', content: 'Thanks. ###STOP###' },
];

export const shopRow = (number: number, more: object = {}) => ({
  id: `shop/${number}`,
  messages: shopMessages(number),
  tools: SHOP_TOOLS,
  reward: 1,
  ...more,
});

/** The same conversation with another message in one place. */
export const withMessage = (at: number, change: Partial<ChatMessage> | { calls: unknown }, number = 1): ChatMessage[] =>
  shopMessages(number).map((message, i) => (i === at ? { ...message, ...('calls' in change ? call(change.calls) : change) } : message)) as ChatMessage[]; // prettier-ignore
