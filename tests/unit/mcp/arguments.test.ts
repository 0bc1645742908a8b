/** Arguments are checked against schemas of strangers, in bounded time. */
import { expect, test } from 'vitest';
import { checkArguments } from '../../../src/mcp/arguments.ts';
import type { Json } from '../../../src/records/json.ts';

/** A chain of definitions, each of which names the next one twice. */
const chain = (levels: number) => {
  const level = (i: number): Json => (i < levels ? { allOf: [0, 1].map(() => ({ $ref: `#/$defs/d${i + 1}` })) } : { type: 'string' });
  const $defs = Object.fromEntries(Array.from({ length: levels + 1 }, (_, i) => [`d${i}`, level(i)]));
  return { name: 'pay', inputSchema: { type: 'object', $defs, properties: { x: { $ref: '#/$defs/d0' } } } };
};

test('references are followed', () => {
  expect(() => checkArguments(chain(5), { x: 'a' })).not.toThrow();
  expect(() => checkArguments(chain(5), { x: 1 })).toThrow('pay: x is 1: ');
});

test('a schema whose references take long to follow is left to the server', () => {
  const start = performance.now();
  checkArguments(chain(20), { x: 'a' });
  expect(performance.now() - start).toBeLessThan(500);
});

test('a value that fits no alternative is told what each of them expects', () => {
  // As pydantic writes `date | None`.
  const optional = { type: 'object', properties: { when: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
  expect(() => checkArguments({ name: 'add', inputSchema: optional }, { when: null })).not.toThrow();
  expect(() => checkArguments({ name: 'add', inputSchema: optional }, { when: 5 })).toThrow(/^add: when is 5: .*"string".*"null"/);
  const either = { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] };
  expect(() => checkArguments({ name: 'add', inputSchema: either }, {})).toThrow(/^add: the arguments are {}: .*"a".*"b"/);
  expect(() => checkArguments({ name: 'add', inputSchema: either }, { a: 1, b: 1 })).toThrow(/exactly one subschema \(2 matches\)/);
});
