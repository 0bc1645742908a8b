/** Expressions. Expected values are those of the CEL specification or arithmetic by hand. */
import { expect, it } from 'vitest';
import { Expressions, type Scope } from '../../../src/scenarios/cel.ts';
import type { Json } from '../../../src/records/json.ts';

const ROWS = [
  { id: 'a_1', n: 3n, x: 1.5, t: '09:30' },
  { id: 'a_9', n: 1n, x: 2, t: '10:00' },
  { id: 'b_7', n: 2n, x: 4, t: '08:15' },
];
const SCOPE: Scope = { tables: { a: ROWS }, n: 7n, x: 2.5, none: null, text: 'Room 12', both: [1n, 2n], big: 9007199254740993n };
const cel = new Expressions('file.json');
const value = (expression: string): Json => cel.json(expression, SCOPE, 'place');

it.each<[string, Json]>([
  ['n / 2', 3],
  ['n % 4', 3],
  ['-n / 2', -3],
  ['n / x', 2.8],
  ['n * x + 1', 18.5],
  ['x == 2.5 && n > x && x < n', true],
  ['n == 7.0', true],
  ['none == null ? 1 : 2', 1],
  ['text == 7', false],
  ['tables.a.filter(r, r.n >= 2).map(r, r.id)', ['a_1', 'b_7']],
  ['tables.a.exists_one(r, r.x == 2.0)', true],
  ['one(tables.a.filter(r, r.n == 2)).id', 'b_7'],
  ['sort_by(tables.a, "n").map(r, r.id)', ['a_9', 'b_7', 'a_1']],
  ['sort_by(tables.a, "t")[0].id', 'b_7'],
  ['sum(tables.a.map(r, r.n))', 6],
  ['sum(tables.a.map(r, r.x))', 7.5],
  ['min(both) + max(both)', 3],
  ['round(0.1 * 3.0, 2)', 0.3],
  ['round(-0.001, 2)', 0],
  ['round(x, 0)', 3],
  ['round(n, 2)', 7],
  ['next_id(tables.a.map(r, r.id), "a")', 'a_10'],
  ['next_id([], "b")', 'b_1'],
  ['minutes("09:30")', 570],
  ['add_minutes("09:30", 45)', '10:15'],
  ['add_minutes("09:30", -30)', '09:00'],
  ['is_time("24:00") || is_time("9:30") || is_time(none)', false],
  ['text.lowerAscii().contains("room")', true],
  ['{"a": n, "b": [x, none, true]}', { a: 7, b: [2.5, null, true] }],
  ['has(tables.b)', false],
])('%s', (expression, expected) => {
  expect(value(expression)).toEqual(expected);
});

it.each<[string, string]>([
  ['n / 0', 'division by zero'],
  ['n +', 'place'],
  ['one(tables.a)', 'one: the list has 3 entries: expected 1'],
  ['tables.a[3].id', 'out of bounds'],
  ['none < 2', 'no such overload'],
  ['add_minutes("23:30", 45)', 'is not on the same day'],
  ['minutes("9:30")', 'the time is "9:30": expected HH:MM'],
  ['sort_by(tables.a, "y")', 'sort_by: no field "y"'],
  ['round(text, 2)', 'round: expected a number'],
  ['round(x, 11)', 'round: decimals is 11: expected 0 to 10'],
  ['max([])', 'max: the list is empty'],
  ['big', 'expected a number below 2^53'],
  ['1e308 * 1e308', 'expected a finite number'],
  ['timestamp("2024-01-01T00:00:00Z")', 'is a time, a type or bytes'],
  ['type(n)', 'is a time, a type or bytes'],
  ['text.matches("(a+)+$")', '"matches" cannot be used: use contains'],
  ['cel.bind(a, n, a + a)', '"bind" cannot be used: use an entry of values'],
  ['process.exit(1)', 'Unknown variable: process'],
  ['tables.constructor', 'No such key'],
  ['tables.a.map(r, r.__proto__)', '__proto__'],
  ['globalThis', 'Unknown variable'],
])('the error of %s names file, place and expression', (expression, reason) => {
  expect(() => value(expression)).toThrow(/^file\.json: place: "/);
  expect(() => value(expression)).toThrow(reason);
});

it('is limited in size, depth and work', () => {
  expect(() => value(Array(1500).fill('1').join('+'))).toThrow('has 2999 characters: expected at most 2000');
  expect(() => value(Array(500).fill('1').join('+'))).toThrow('file.json: place');
  expect(() => value(`${'('.repeat(60)}1${')'.repeat(60)}`)).toThrow('file.json: place');
  const rows: Scope = { many: Array.from({ length: 300 }, (_, i) => BigInt(i)) };
  const started = performance.now();
  expect(() => cel.json('many.filter(a, many.exists(b, many.exists(c, a + b + c < 0)))', rows, 'place')).toThrow(
    'needs more than 100000 steps',
  );
  // An error inside an `or` is dropped by CEL. The limit is not.
  expect(() => cel.json('many.all(a, many.all(b, many.all(c, a + b + c >= 0))) || true', rows, 'place')).toThrow(
    'needs more than 100000 steps',
  );
  expect(() => cel.json('many.map(a, many.map(b, many))', rows, 'place')).toThrow('more than 20000 parts');
  expect(performance.now() - started).toBeLessThan(4000);
  expect(cel.json('size(many.filter(a, many.exists(b, b == a)))', rows, 'place')).toBe(300);
});

it('wants true or false where a condition stands', () => {
  expect(cel.true('n > 1', SCOPE, 'place')).toBe(true);
  expect(() => cel.true('n', SCOPE, 'place')).toThrow('the value is 7: expected true or false');
});
