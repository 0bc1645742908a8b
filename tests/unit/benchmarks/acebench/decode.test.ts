/** How ACEBench reads a message of the agent. The expected texts are those of upstream's `decode_function_list`. */
import { describe, expect, it } from 'vitest';
import { decode, isForExecution } from '../../../../src/benchmarks/acebench/decode.ts';

describe('decoding', () => {
  it.each([
    ['[f(a=1)]', ['f(a=1)']],
    [' [f()]', ['f()']],
    ["'[[f()]]'", ['f()']],
    ['[f(x, a=b)]', ["f(a='b')"]],
    ['[f(a=-1, b=+1, c=not True)]', ['f(a=-1, b=-1, c=-1)']],
    ["[f(a={'b': {'c': 1}})]", ['f(a=b(c=1))']],
    ["[f(a=[{'b': 1}])]", ["f(a=[{'b': 1}])"]],
    ['[a.b(), g()]', ['a.b()', 'g()']],
    ['[5]', []],
  ])('%s', (text, calls) => {
    expect(decode(text)).toEqual(calls);
  });

  it.each([
    '',
    '[]',
    '  [f()]',
    '[f()] ',
    '[f(), 5]',
    '[f()]\n[g()]',
    '```[f()]```',
    'Call: [f()]',
    "[f(a={'b': 1})]",
    '[f(a={})]',
    '[\n f()]',
    '[*f()]',
  ])('refuses %j', (text) => {
    expect(() => decode(text)).toThrow();
    expect(isForExecution(text)).toBe(false);
  });

  it('sends only text in brackets to the execution', () => {
    expect(isForExecution('f()')).toBe(false);
    expect(isForExecution('[f()]')).toBe(true);
    expect(isForExecution('[f(a=1,\nb=2)]')).toBe(false);
    expect(isForExecution('[f(a=1,\nb=[2])]')).toBe(true);
  });
});
