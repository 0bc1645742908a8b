/** The Python layer against CPython 3.11: tests/reference/bfcl_cases.py has written the values of the first part. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixed, float, int, power, round } from '../../../src/python/conversions.ts';
import { squareRoot } from '../../../src/python/decimal.ts';
import { loads, loadsLines } from '../../../src/python/json.ts';
import { assigned, literalOf } from '../../../src/python/literal.ts';
import { logarithm } from '../../../src/python/mpmath.ts';
import { add, contains, divide, less, multiply, sum } from '../../../src/python/operations.ts';
import { PyRandom } from '../../../src/python/random.ts';
import { readExpression } from '../../../src/python/source.ts';
import { filled, parseTime, splitLines, splitWords } from '../../../src/python/strings.ts';
import { dumps, floatRepr, repr, str } from '../../../src/python/text.ts';
import { unparse } from '../../../src/python/unparse.ts';
import { deepCopy, Dict, equal, PySet, truth, Tuple } from '../../../src/python/values.ts';

interface Reference {
  floats: [repr: string, json: string][];
  texts: [json: string, repr: string][];
  random: [seed: number, bits32: number, bits40: number, random: number, randint: number, uniform: number, five: number][];
  rounded: [number, number, string][];
  fixed: [number, string][];
}
const file = resolve(import.meta.dirname, '../../reference/fixtures/bfcl/cases.json');
const { python } = JSON.parse(readFileSync(file, 'utf8')) as { python: Reference };

describe('as CPython', () => {
  it('prints floats and texts', () => {
    for (const [own, json] of python.floats) expect([floatRepr(Number(own)), dumps(Number(own))]).toEqual([own, json]);
    for (const [json, own] of python.texts) expect([repr(loads(json)), dumps(loads(json))]).toEqual([own, json]);
  });

  it('draws random numbers', () => {
    for (const [seed, bits32, bits40, random, randint, uniform, five] of python.random) {
      const own = new PyRandom(BigInt(seed));
      expect([
        own.getrandbits(32),
        own.getrandbits(40),
        own.random(),
        own.randint(10000n, 99999n),
        own.uniform(-10, 40),
        own.randint(5n, 5n),
      ]).toEqual([BigInt(bits32), BigInt(bits40), random, BigInt(randint), uniform, BigInt(five)]);
    }
  });

  it('rounds the binary value, and ties to the even digit', () => {
    for (const [x, digits, own] of python.rounded) expect([x, digits, repr(round(x, BigInt(digits)))]).toEqual([x, digits, own]);
    for (const [x, own] of python.fixed) expect(fixed(x, 2)).toBe(own);
    expect([round(2.5, null), round(-2.5, null), round(1250n, -2n), round(1350n, -2n), round(true, 0n)]).toEqual([
      2n,
      -2n,
      1200n,
      1400n,
      1n,
    ]);
  });
});

describe('values', () => {
  it('keeps ints and floats apart, also above 2^53', () => {
    const own = loads('{"a": 5, "b": 5.0, "c": 12345678901234567890, "d": [1e5, -0.0, NaN, -Infinity], "5": null, "1": true}');
    expect(dumps(own)).toBe('{"a": 5, "b": 5.0, "c": 12345678901234567890, "d": [100000.0, -0.0, NaN, -Infinity], "5": null, "1": true}');
    expect(repr(own)).toBe("{'a': 5, 'b': 5.0, 'c': 12345678901234567890, 'd': [100000.0, -0.0, nan, -inf], '5': None, '1': True}");
  });

  it('compares by value: 1, 1.0 and True are equal, and one key', () => {
    expect([equal(1n, 1), equal(1, true), equal(9007199254740993n, 9007199254740992), equal([1n, 'a'], [1, 'a']), equal('1', 1n)]).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    const own = new Dict([
      [1n, 'a'],
      ['1', 'b'],
    ])
      .set(1, 'c')
      .set(true, 'd');
    expect(repr(own)).toBe("{1: 'd', '1': 'b'}");
    expect(() => own.has([])).toThrow("unhashable type: 'list'");
    expect(
      equal(
        new Dict([
          [1n, 2n],
          ['x', 3],
        ]),
        new Dict([
          ['x', 3n],
          [1, 2],
        ]),
      ),
    ).toBe(true);
    expect(repr([new Tuple([1n]), new Tuple([]), new PySet(), new PySet([1n])])).toBe('[(1,), (), set(), {1}]');
  });

  it('copies deeply', () => {
    const own = new Dict([['a', [1n]]]);
    (deepCopy(own).get('a') as bigint[]).push(2n);
    expect(repr(own)).toBe("{'a': [1]}");
  });

  it('knows what is true', () => {
    expect([0n, 0, '', [], new Dict(), null, false].map(truth)).toEqual(Array.from({ length: 7 }, () => false));
    expect([1n, NaN, '0', [0n]].map(truth)).toEqual([true, true, true, true]);
  });
});

describe('JSON', () => {
  it.each(['{"a": 1,}', "{'a': 1}", '[1 2]', '"a\nb"', '01', '+1', '1.', '.5', 'nul', '"\\x"', '"\\u12"', '', '[', '1 2'])(
    'refuses %s',
    (text) => {
      expect(() => loads(text)).toThrow(SyntaxError);
    },
  );

  it('takes the last of two equal keys, and escapes', () => {
    expect(dumps(loads(' {"a": 1, "b": "\\u00e9\\ud83d\\ude00\\/\x7f", "a": 2}\n'))).toBe('{"a": 2, "b": "\\u00e9\\ud83d\\ude00/\\u007f"}');
    expect(dumps(loads('{"a": {}, "b": [1, []]}'), { indent: 4 })).toBe('{\n    "a": {},\n    "b": [\n        1,\n        []\n    ]\n}');
    expect(dumps(['é'], { ascii: false })).toBe('["é"]');
  });

  it('names the line that is wrong', () => {
    expect(() => loadsLines('1\n\n{', (line, reason) => new Error(`line ${line}: ${reason}`))).toThrow('line 3: expected a key');
  });
});

describe('arithmetic', () => {
  it('is exact on ints, and has floats as soon as one is a float', () => {
    expect([add(1n, 2), add(true, 1n), divide(7n, 2n), multiply(3n, 0.1), sum([0.1, 0.2, 0.3])]).toEqual([
      3,
      2n,
      3.5,
      0.30000000000000004,
      0.6000000000000001,
    ]);
    expect([power(2n, 100n), power(2n, -1n), power(10, 22n), multiply('ab', 2n)]).toEqual([2n ** 100n, 0.5, 1e22, 'abab']);
    // (2^53 + 1) / 1 is a tie; 10^400 / 10^399 has no float on either side.
    expect([divide(9007199254740993n, 1n), divide(10n ** 400n, 10n ** 399n), divide(1n, 3n * 10n ** 323n)]).toEqual([
      9007199254740992, 10, 5e-324,
    ]);
    expect(() => divide(10n ** 400n, 3n)).toThrow('integer division result too large for a float');
    expect(() => add('a', 1n)).toThrow('can only concatenate str (not "int") to str');
    expect(() => power(0n, -1n)).toThrow('0.0 cannot be raised to a negative power');
    expect(() => less('a', 1n)).toThrow("'<' not supported between instances of 'str' and 'int'");
    expect(contains('abc', 'b') && contains([1n], 1) && !contains(new Dict(), 'a')).toBe(true);
  });

  it('converts', () => {
    expect([float(' 1_0.5 '), float('-inf'), int('  -12 '), int(2.9), int(-2.9)]).toEqual([10.5, -Infinity, -12n, 2n, -2n]);
    expect(() => float('x')).toThrow("could not convert string to float: 'x'");
    expect(() => int('1.5')).toThrow("invalid literal for int() with base 10: '1.5'");
  });

  // Values of mpmath 1.3.0 and of Python's decimal.
  it.each([
    [20n, 10n, 2n, "mpf('1.3027')"],
    [10n, 3n, 50n, "mpf('2.0959032742893846042965675220214012506075180067979298')"],
    [1000n, 7n, 15n, "mpf('3.5498839873648151')"],
    [10n, 3n, -3n, "mpf('2.0')"],
    [-1n, 10n, 3n, "mpc(real='0.0', imag='1.36426')"],
    [0n, 10n, 5n, "mpf('-inf')"],
    ['5', 2n, 5n, "mpf('2.3219299')"],
    [1.0000000004656613, 3110n, 7n, "mpf('5.790094532e-11')"],
  ] as const)('log %s to base %s with %s digits', (value, base, digits, expected) => {
    expect(repr(logarithm(value, base, digits))).toBe(expected);
  });

  it.each([
    [2n, 10n, '1.414213562'],
    [0.1, 50n, '0.31622776601683794197697302588502426416723164097477'],
    [1e300, 5n, '1.0000E+150'],
    [10n ** 12n, 1n, '1E+6'],
    [6.25, 9n, '2.5'],
    [-0, 5n, '-0'],
  ] as const)('the square root of %s with %s digits', (value, digits, expected) => {
    expect(repr(squareRoot(value, digits))).toBe(`Decimal('${expected}')`);
  });
});

describe('source', () => {
  it.each([
    ["{'a': [1, -2.5, None], 'b': ('x', True)}", "{'a': [1, -2.5, None], 'b': ('x', True)}"],
    ["\"it's\" 'b'", '"it\'sb"'],
    ["'''a\nb'''", "'a\\nb'"],
    ["r'\\n' '\\x41\\u00e9\\101\\q'", "'\\\\nAéA\\\\q'"],
    ['[0x10, 0b11, 1_000, .5, 1e3, 0]', '[16, 3, 1000, 0.5, 1000.0, 0]'],
    ['(1,)', '(1,)'],
    ['5 / 9', '0.5555555555555556'],
    ['-7 // 2 + 7 % -3', '-6'],
    ['2 ** -1', '0.5'],
    ['-2 ** 2', '-4'],
    ['set()', 'set()'],
    ["{b'x': 1, b'x': 2}", "{b'x': 2}"],
    ["'%d of %s: %.1f%%, %r' % (3.9, 'a', 0.25, 'b')", `"3 of a: 0.2%, 'b'"`],
    ["'%f' % 2", "'2.000000'"],
    ['[1 << 3 | 5 & 6 ^ ~0, True | False, 5 >> 1]', '[-5, True, 2]'],
    ['[1, # a comment\n 2,\n]', '[1, 2]'],
  ])('evaluates %s', (text, expected) => {
    expect(repr(literalOf(readExpression(text)))).toBe(expected);
  });

  it.each(['f(', '1 2', '(1', "'a", '007', 'a b', '1a', '{1: 2', 'f(a=1, 2)', '"\\u12"', 'x = 1', 'class', '*a', '(*a)', 'f(), *a'])(
    'refuses %s',
    (text) => {
      expect(() => readExpression(text)).toThrow();
    },
  );

  it.each(['open("x")', '[x for x in y]', 'a.b', 'lambda: 1', '1 if a else 2', "f'{x}'", 'a < b'])('runs nothing: %s', (text) => {
    expect(() => literalOf(readExpression(text))).toThrow();
  });

  // Texts of ast.unparse.
  it.each([
    'f(1, a=[2], **b)',
    'f(a=1, a=2)',
    '(a + b) * c',
    'a - (b - c)',
    '-a ** 2',
    'x[1:2]',
    "{'a': 1}",
    'a if b else c',
    'not a or b',
  ])('writes %s', (text) => {
    expect(unparse(readExpression(text))).toBe(text);
  });

  it('finds an assignment, with its type and with earlier names', () => {
    const source =
      'import os\nOTHER = 1\nclass A:\n    def f(self):\n        table: Dict[str, int] = {\n            "a": 1,\n        }\nTEXT = "{x}\\n" + NAME\n';
    expect(repr(assigned(source, 'table')!)).toBe("{'a': 1}");
    expect(assigned(source, 'TEXT', new Map([['NAME', 'end']]))).toBe('{x}\nend');
    expect(assigned(source, 'THER')).toBeNull();
  });
});

describe('texts', () => {
  it('splits at more than line feeds, and counts code points', () => {
    expect(splitLines('a\r\nb\rc\vd\x1ce\x85f\u2028g\n')).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(splitLines('\n\n')).toEqual(['', '']);
    expect(splitWords(' a\u3000b\x1fc\ufeffd ')).toEqual(['a', 'b', 'c\ufeffd']);
    expect(less('\uffff', '😀')).toBe(true);
    expect(str(null)).toBe('None');
  });

  it('fills the named fields of a template, and no other braces', () => {
    expect(filled('{a} {b} {constructor} {toString}', { a: '1' })).toBe('1 {b} {constructor} {toString}');
  });

  it('reads dates', () => {
    expect(parseTime('2024-2-3', '%Y-%m-%d')).toBe(Date.UTC(2024, 1, 3));
    expect(parseTime('2024-02-03 4:05:06', '%Y-%m-%d %H:%M:%S')).toBe(Date.UTC(2024, 1, 3, 4, 5, 6));
    for (const wrong of ['2024-02-30', '2024-02-03x', '24-02-03', '2024-13-01', '0000-01-01'])
      expect(() => parseTime(wrong, '%Y-%m-%d')).toThrow();
  });
});
