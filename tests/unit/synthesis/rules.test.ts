/** What the rules say about conversations with one known fault each. */
import { expect, test } from 'vitest';
import { RULES } from '../../../src/records/grades.ts';
import { ruleGrades } from '../../../src/synthesis/grade.ts';
import { decide } from '../../../src/synthesis/keep.ts';
import { readGradedRow, readGrades } from '../../../src/synthesis/rows.ts';
import { domainRules } from '../../../src/synthesis/rules.ts';
import { shopMessages, shopRow, SHOP_TOOLS, withMessage } from '../../support/graded-rows.ts';

const rulesOf = (row: object) => ruleGrades(readGradedRow(row, 'line 1'), null).rules;
const failed = (row: object) => RULES.filter((name) => rulesOf(row)[name].ok === false);

test('a good conversation has no fault, and what cannot be checked is not called good', () => {
  expect(failed(shopRow(1))).toEqual([]);
  const unknown = RULES.filter((name) => rulesOf(shopRow(1))[name].ok === null);
  expect(unknown).toEqual(['audit', 'policy', 'communication', 'safety', 'recovery']);
  expect(rulesOf({ messages: shopMessages(1) }).reward.ok).toBeNull();
  expect(rulesOf({ messages: shopMessages(1) }).schema).toMatchObject({ ok: null, why: 'the row has calls and no tools' });
});

test.each([
  ['a reward below 1', { reward: 0 }, 'reward', undefined],
  ['a reward of half', { reward: 0.5 }, 'reward', undefined],
  ['an unknown tool', { tools: [] }, 'schema', 4],
  ['a missing argument', { messages: withMessage(4, { calls: { why: 'late' } }) }, 'schema', 4],
  ['an argument of another type', { messages: withMessage(4, { calls: { order: 7 } }) }, 'schema', 4],
  ['a value that the schema does not list', { messages: withMessage(4, { calls: { order: 'W1', why: 'bored' } }) }, 'schema', 4],
  ['arguments that are not JSON', { messages: withMessage(4, { calls: '{"order": "W1"' }) }, 'schema', 4],
  ['arguments that are a list', { messages: withMessage(4, { calls: '["W1"]' }) }, 'schema', 4],
  ['a call without a result', { messages: shopMessages(1).filter((_, i) => i !== 5) }, 'results', 4],
  ['a result without a call', { messages: shopMessages(1).filter((_, i) => i !== 4) }, 'results', 4],
  ['an end with the customer', { messages: withMessage(7, { content: 'And order W2?' }) }, 'end', 7],
  ['an end with a result', { messages: shopMessages(1).slice(0, 6) }, 'end', 5],
  ['an empty message', { messages: withMessage(6, { content: ' ' }) }, 'length', 6],
  ['a message of 30,000 characters', { messages: withMessage(5, { content: 'x'.repeat(30_000) }) }, 'length', 5],
  ['a hint', { messages: withMessage(2, { content: 'As my hint says, shall I cancel order W1?' }) }, 'leak', 2],
  ['the gold', { messages: withMessage(6, { content: 'The gold actions are done.' }) }, 'leak', 6],
  ['a call as text', { messages: withMessage(2, { content: 'One moment. <tool_call>' }) }, 'leak', 2],
  ['a customer who knows the tools', { messages: withMessage(3, { content: 'Yes, call cancel_order.' }) }, 'leak', 3],
  ['an agent who says the stop word', { messages: withMessage(6, { content: 'Done. ###STOP###' }) }, 'leak', 6],
])('%s', (_, change, rule, message) => {
  const row = { ...shopRow(1), ...change };
  expect(failed(row)).toEqual([rule]);
  expect(rulesOf(row)[rule as 'reward'].message).toBe(message);
  expect(decide(ruleGrades(readGradedRow(row, 'line 1'), null)).keep).toBe('no');
});

test('a call that failed may be tried again five times', () => {
  const call = shopMessages(1)[4]!;
  const tried = (times: number, content: string) =>
    failed({ ...shopRow(1), messages: [...shopMessages(1).slice(0, 4), ...Array.from({ length: times }, () => [call, { role: 'tool', content }]).flat(), ...shopMessages(1).slice(4)] }); // prettier-ignore
  const busy = 'Error: the service is busy, please try again';
  expect([tried(4, busy), tried(5, busy)]).toEqual([[], ['length']]);
  expect([tried(1, '{"status":"open"}'), tried(2, '{"status":"open"}')]).toEqual([[], ['length']]);
});

test('25 words in a row of the prompt are a leak, 24 are not, and neither is a sentence that the policy quotes', () => {
  const words = Array.from({ length: 26 }, (_, i) => `word${i}`);
  const saying = (said: string, policy: string, instruction?: string) =>
    failed({ ...shopRow(1), instruction, messages: withMessage(6, { content: said }).map((one, i) => (i === 0 ? { ...one, content: policy } : one)) }); // prettier-ignore
  const all = words.join(' ');
  expect(saying(words.slice(0, 25).join(' '), all)).toEqual(['leak']);
  expect(saying(words.slice(0, 24).join(' '), all)).toEqual([]);
  expect(saying(all, `Say “${all}” at the end.`)).toEqual([]);
  // The agent cannot know the customer's instruction, so twelve words are enough.
  expect(saying(words.slice(0, 12).join(' '), 'Serve.', all)).toEqual(['leak']);
  expect(saying(words.slice(0, 11).join(' '), 'Serve.', all)).toEqual([]);
});

test('three equal acts of the agent in a row are a loop, two are not', () => {
  const asking = (times: number) => [
    ...Array.from({ length: times }, () => [
      { role: 'assistant', content: 'Which order?' },
      { role: 'user', content: 'W1.' },
    ]).flat(),
    ...shopMessages(1).slice(1),
  ];
  expect(failed({ ...shopRow(1), messages: asking(2) })).toEqual([]);
  expect(failed({ ...shopRow(1), messages: asking(3) })).toEqual(['length']);
});

test('a schema that cannot be read checks nothing, and a pattern of a stranger is not run', () => {
  const tool = (parameters: object) => ({ ...shopRow(1), tools: [{ type: 'function', function: { name: 'cancel_order', parameters } }] });
  expect(rulesOf(tool({ type: 'dict' })).schema).toMatchObject({ ok: null, why: 'the schema of "cancel_order" cannot be read' });
  const slow = tool({ type: 'object', properties: { order: { type: 'string', pattern: '^(W+)+$' } } });
  const long = { ...slow, messages: withMessage(4, { calls: { order: `${'W'.repeat(5000)}!` } }) };
  const begin = performance.now();
  expect(failed(long)).toEqual([]);
  expect(performance.now() - begin).toBeLessThan(1000);
  // A parameter may be called like a key word of the schema.
  expect(failed({ ...tool({ type: 'object', properties: { format: { type: 'string' } }, required: ['format'] }) })).toEqual(['schema']);
});

test('schemas of strangers end no grading, and their texts do not make grades that cannot be read', () => {
  const tool = (parameters: object) => ({ ...shopRow(1), tools: [{ type: 'function', function: { name: 'cancel_order', parameters } }] });
  const endless = tool({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' });
  expect(rulesOf(endless).schema).toMatchObject({ ok: null, why: 'the schema of "cancel_order" cannot be read' });
  expect(rulesOf(tool({ type: 'object', properties: { order: { type: 'string', maxLength: 9007199254740993n } } })).schema.ok).toBe(true);
  const values = Array.from({ length: 900 }, (_, i) => `value ${i}`);
  const grades = ruleGrades(readGradedRow(tool({ type: 'object', properties: { order: { enum: values } } }), 'line 1'), null);
  expect(grades.rules.schema.ok).toBe(false);
  expect(readGrades({ grades }, 'line 1')).toEqual(grades);
});

test('in a known domain, a write without a yes breaks the audit', async () => {
  const rules = await domainRules('retail');
  const messages = [
    { role: 'system', content: 'Ask for a yes before each change.' },
    { role: 'user', content: 'I am a@b.com. Cancel order #W1, it is no longer needed.' },
    { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name: 'find_user_id_by_email', arguments: { email: 'a@b.com' } } }] }, // prettier-ignore
    { role: 'tool', content: 'anna_1' },
    { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name: 'cancel_pending_order', arguments: { order_id: '#W1', reason: 'no longer needed' } } }] }, // prettier-ignore
    { role: 'tool', content: '{"order_id":"#W1","user_id":"anna_1","status":"cancelled"}' },
    { role: 'assistant', content: 'That is done.' },
  ];
  const { audit } = ruleGrades(readGradedRow({ id: 'retail/small/train/1/0', messages }, 'line 1'), rules).rules;
  expect(audit).toMatchObject({ ok: false, message: 4, found: ['unconfirmed_write'] });
});

test('a row that is no conversation, or whose label has another form, is an error that names the field', () => {
  const read = (more: object) => () => readGradedRow({ ...shopRow(1), ...more }, 'line 3');
  expect(read({ near_miss: { kind: 'odd', first_wrong: 4, of: 'x' } })).toThrow(
    /line 3: near_miss is .*: expected kind \(one of unasked_write/,
  );
  expect(read({ near_miss: { kind: 'wrong_record', first_wrong: 8, of: 'x' } })).toThrow(
    'near_miss.first_wrong is 8: expected the index of one of 8 messages',
  );
  expect(read({ reward: 'good' })).toThrow('line 3: reward is "good": expected a number');
  expect(read({ messages: [] })).toThrow('line 3: messages is []');
  expect(readGradedRow({ ...shopRow(1), reward: true, tools: SHOP_TOOLS }, 'line 3').reward).toBe(1);
});
