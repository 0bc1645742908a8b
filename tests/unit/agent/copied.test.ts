/** Which arguments of calls were copied. The expected counts are by hand. */
import { expect, it } from 'vitest';
import { copiedArguments, sumCopied } from '../../../src/agent/copied.ts';
import { runEpisode } from '../../../src/agent/episode.ts';
import { readTrajectory } from '../../../src/exchange/trajectory-schema.ts';
import type { Json } from '../../../src/records/json.ts';
import type { MessageNode } from '../../../src/records/trajectory.ts';
import { stage } from '../../support/episodes.ts';
import { tools } from '../../support/tokenizers.ts';

type Said = Pick<MessageNode, 'role' | 'text'> & Partial<MessageNode>;
const nodes = (...messages: Said[]): MessageNode[] =>
  messages.map((message, id) => ({ id, parent: id === 0 ? null : id - 1, tokens: [], mask: [], logprobs: [], ...message }));
const call = (args: Record<string, Json>): Said => ({ role: 'assistant', text: '', toolCall: { name: 'f', arguments: args } });
const user = (text: string): Said => ({ role: 'user', text });
const count = (...messages: Said[]) => copiedArguments(nodes(...messages), tools);

it('counts values that stand in the conversation before the call', () => {
  expect(count(user('Cancel #W1234567, on 2024-05-01.'), call({ order_id: '#W1234567', date: '2024-05-01' }))).toEqual({
    found: 2,
    of: 2,
  });
});

it.each([
  ['I pay with PayPal.', 'paypal'],
  ['I pay with my credit card.', 'credit_card'],
])('takes “%s” in the form of a tool: %s', (said, value) => {
  expect(count(user(said), call({ value }))).toEqual({ found: 1, of: 1 });
});

it.each<[string, string, Json]>([
  ['another id', 'Cancel #W1234567.', '#W1234568'],
  ['a part of an id', 'Cancel #W1234567.', '#W123456'],
  ['a number inside a number', 'I want 15.', 5],
  ['another spelling', 'I pay with PayPal.', 'pay_pal'],
  ['a word with another ending', 'They are duplicates.', 'duplicate'],
  ['a value with a space before it', 'Cancel #W1, ordered by mistake.', ' ordered by mistake'],
])('does not count %s', (_, said, value) => {
  expect(count(user(said), call({ value }))).toEqual({ found: 0, of: 1 });
});

it('counts values of tool results, also with escapes, and the choices that a schema lists', () => {
  const result: Said = { role: 'tool', text: '{"name": "the \\"big\\" one", "price": 12.5}' };
  const args = { name: 'the "big" one', price: 12.5, reason: 'ordered by mistake' };
  expect(count(result, call(args))).toEqual({ found: 3, of: 3 });
});

it('counts the texts and numbers inside lists and objects, and no other values', () => {
  expect(count(user('a 1'), call({ list: ['a', { n: 1, other: 'b' }], yes: true, none: null, empty: '' }))).toEqual({ found: 2, of: 3 });
});

it("does not count the agent's own words, and what comes after the call", () => {
  const asked: Said = { role: 'assistant', text: 'Cancel #W9?', content: 'Cancel #W9?' };
  expect(count(user('Cancel #W1.'), asked, user('Yes'), call({ id: '#W9' }), user('I said #W9'))).toEqual({ found: 0, of: 1 });
});

it('counts all calls of a turn, and nothing without calls', () => {
  const toolCalls = ['#W1', '#W2'].map((id) => ({ name: 'f', arguments: { id } }));
  expect(count(user('#W1'), { role: 'assistant', text: '', toolCall: toolCalls[0]!, toolCalls })).toEqual({ found: 1, of: 2 });
  expect(count(user('#W1'), { role: 'assistant', text: 'Hello.' })).toEqual({ found: 0, of: 0 });
});

it('reads the counts of earlier versions, which wrote `found` as `exactly`', async () => {
  const played = await runEpisode(stage({ agent: ['Hello.<|im_end|>'], user: ['Hi', '###STOP###'] }).options);
  const earlier = { ...played, copied: { exactly: 1, of: 2 } };
  expect(readTrajectory(earlier, 'f', 'line 1').copied).toEqual({ found: 1, of: 2 });
  expect(() => readTrajectory({ ...played, copied: { of: 2 } }, 'f', 'line 1')).toThrow('f: line 1, copied');
  // The page stores conversations without a check.
  expect(sumCopied([earlier as never, { copied: { found: 3, of: 4 } }, {}])).toEqual({ found: 4, of: 6 });
});
