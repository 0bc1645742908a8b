/** CPython's numbers and arithmetic. Expected values are what CPython 3.11 prints. */
import { describe, expect, test } from 'vitest';
import { floatRepr } from '../../../src/python/text.ts';
import { pythonJson, pythonStr, round2 } from '../../../src/domains/exact/python.ts';
import { calculate } from '../../../src/domains/retail/calculate.ts';

test.each([
  [2.675, 2.67],
  [1.015, 1.01],
  [0.125, 0.12],
  [0.375, 0.38],
  [-0.125, -0.12],
  [0.015, 0.01],
  [0.005, 0.01],
  [2.5, 2.5],
  [1234567.891, 1234567.89],
  [1e22, 1e22],
  [1.005, 1.0],
  [-2.675, -2.67],
  [0, 0],
])('round(%d, 2) is %d', (x, expected) => {
  expect(round2(x)).toBe(expected);
});

test.each([
  [4, '4.0'],
  [-0, '-0.0'],
  [1e20, '1e+20'],
  [1e16, '1e+16'],
  [123456789012345.6, '123456789012345.6'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1.5e-7, '1.5e-07'],
  [Infinity, 'inf'],
  [0.04999999999999716, '0.04999999999999716'],
])('repr(%d) is %s', (x, expected) => {
  expect(floatRepr(x)).toBe(expected);
});

test('json.dumps', () => {
  expect(pythonJson({ a: [1, 2.5, null, true], 'é"\n': '\u{1F600}\u007f' })).toBe(
    '{"a": [1, 2.5, null, true], "\\u00e9\\"\\n": "\\ud83d\\ude00\\u007f"}',
  );
  expect(
    pythonJson(
      new Map([
        ['9', {}],
        ['10', []],
      ]),
    ),
  ).toBe('{"9": {}, "10": []}');
  expect(pythonStr([null, true, 'a', "it's"])).toBe("[None, True, 'a', \"it's\"]");
});

describe('calculate', () => {
  test.each([
    ['2 + 2', '4.0'],
    ['1/3', '0.33'],
    ['-2**2', '-4.0'],
    ['2**-1', '0.5'],
    ['2**3**2', '512.0'],
    ['(2**3)**2', '64.0'],
    ['-7//2', '-4.0'],
    ['7//-2', '-4.0'],
    ['-7.5//2', '-4.0'],
    ['0.3//0.1', '2.0'],
    ['10/4*2', '5.0'],
    ['--5', '5.0'],
    ['+-+5', '-5.0'],
    ['2*-3', '-6.0'],
    ['1.', '1.0'],
    ['00', '0.0'],
    ['08.5', '8.5'],
    ['-0.001', '-0.0'],
    ['0*-1', '0.0'],
    ['0/-10**30', '-0.0'],
    ['-0.0', '-0.0'],
    ['2**2000/2**1999', '2.0'],
    ['10**30/10**28', '100.0'],
    ['9007199254740993/1', '9007199254740992.0'],
    ['(10**25+1)//10**24', '10.0'],
    ['1e', null],
    ['4**0.5', '2.0'],
    ['99999999999999999999', '1e+20'],
    ['   1', '1.0'],
  ])('%s = %s', (expression, expected) => {
    if (expected === null) expect(() => calculate(expression)).toThrow('invalid characters');
    else expect(calculate(expression)).toBe(expected);
  });
  test.each([
    ['1/0', 'division by zero'],
    ['1.0/0', 'float division by zero'],
    ['1//0', 'integer division or modulo by zero'],
    ['0**-1', '0.0 cannot be raised to a negative power'],
    ['2**2000', 'int too large to convert to float'],
    ['9**9**9', 'too large'],
    ['', 'ends too early'],
    ['()', 'unexpected'],
    ['(1', 'never closed'],
    ['1)', 'unexpected'],
    ['1 2', 'unexpected'],
    ['2(3)', 'unexpected'],
    ['1..2', 'unexpected'],
    ['08', 'leading zeros'],
    ['(-8)**(1/3)', 'not a real number'],
    ['('.repeat(5000), 'too deeply'],
    ['-'.repeat(5000) + '1', 'too deeply'],
    ['1'.repeat(5000), 'digits'],
    ['10.0**400', 'too large'],
    ['10**400/3', 'too large for a float'],
  ])('%s is refused', (expression, reason) => {
    expect(() => calculate(expression)).toThrow(reason);
  });
});
