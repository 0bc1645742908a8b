/** The file of a shadow, as anyone may send it. */
import { expect, test } from 'vitest';
import { readShadow } from '../../../src/exchange/shadow-schema.ts';

const HEAD = {
  shadow: {
    version: 1,
    domain: 'retail',
    agent: { baseUrl: 'http://localhost:1/v1', model: 'm' },
    temperature: 0,
    seed: 1,
    conversations_sha256: 'a'.repeat(64),
    turns: 2,
  },
};
const CONVERSATION = { conversation: { id: 1, messages: [{ message: 0, role: 'user', text: 'Hi' }, { message: 1, role: 'assistant', text: 'Yes?', calls: [] }] } }; // prettier-ignore
const ACT = { content: 'Yes?', calls: [] };
const TURN = { turn: { conversation: 1, message: 1, kind: 'both_text', recorded: ACT, candidate: ACT, writes: [], requests: [] } };
const textOf = (...rows: unknown[]) => rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
const failed = { turn: { ...TURN.turn, kind: 'failed', candidate: null, error: 'HTTP 500' } };

test('the newest answer of a turn counts, and a last line without an end is left out', () => {
  const { turns, conversations, head } = readShadow('s.jsonl', `${textOf(HEAD, CONVERSATION, failed, TURN)}{"turn": {`);
  expect([turns.map(({ kind }) => kind), conversations.length, head.turns]).toEqual([['both_text'], 1, 2]);
});

test('the candidate can be a model of this computer', () => {
  const agent = { model: 'nano', model_sha256: 'b'.repeat(64), precision: 'int8' };
  expect(readShadow('s.jsonl', textOf({ shadow: { ...HEAD.shadow, agent } })).head.agent).toEqual(agent);
});

test.each([
  [[], 's.jsonl: it has no line'],
  [['[1'], 's.jsonl: line 1: is not JSON'],
  [['7'], 'line 1: expected an object'],
  [[CONVERSATION], 'line 1: expected the head of a shadow'],
  [[HEAD, HEAD], 'line 2: expected a conversation or a turn'],
  [[HEAD, TURN], 'line 2: the turn is of no message of the agent'],
  [[HEAD, CONVERSATION, { turn: { ...TURN.turn, message: 0 } }], 'line 3: the turn is of no message of the agent'],
  [[HEAD, CONVERSATION, { turn: { ...TURN.turn, kind: 'best' } }], 'line 3, turn.kind: is "best": expected "same_call"'],
  [[HEAD, CONVERSATION, { turn: { ...TURN.turn, candidate: null } }], 'expected null exactly if the kind is "failed"'],
  [[{ shadow: { ...HEAD.shadow, agent: { baseUrl: 1, model: 'm' } } }], 'line 1, shadow.agent.baseUrl: is 1: expected a string'],
  [[HEAD, { conversation: { id: {}, messages: [] } }], 'line 2, conversation.id: is {}'],
  [['{"shadow": '.repeat(20_000)], 'line 1: is not JSON'],
])('%# is refused', (rows, message) => {
  expect(() => readShadow('s.jsonl', textOf(...rows))).toThrow(message);
});

test('a __proto__ in arguments stays data', () => {
  const line = JSON.stringify({ turn: { ...TURN.turn, kind: 'called_instead', candidate: { content: '', calls: [{ name: 'x', arguments: { a: 1 } }] } } }); // prettier-ignore
  const { turns } = readShadow('s.jsonl', textOf(HEAD, CONVERSATION, line.replace('"a":1', '"__proto__":{"x":1}')));
  expect(Object.keys(turns[0]!.candidate!.calls[0]!.arguments)).toEqual(['__proto__']);
  expect(({} as { x?: number }).x).toBeUndefined();
});
