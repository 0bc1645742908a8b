/** A key that a server repeats, in whatever form JSON allows, is removed; other texts stay. */
import { expect, test } from 'vitest';
import { Dice } from '../../../src/base/dice.ts';
import { KeyFilter, withoutKey } from '../../../src/base/redact.ts';

const KEY = 'sk-Ab/9+z"\\.k';
const escaped = (text: string, each: (letter: string, i: number) => boolean) =>
  [...text]
    .map((letter, i) =>
      each(letter, i) ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : JSON.stringify(letter).slice(1, -1),
    )
    .join('');

const FORMS = [
  KEY,
  JSON.stringify({ error: KEY }),
  JSON.stringify({ error: JSON.stringify({ message: `Bearer ${KEY}` }) }),
  `{"error":"${escaped(KEY, () => true)}"}`,
  `{"error":"${escaped(KEY, () => true)
    .toUpperCase()
    .replaceAll('\\U', '\\u')}"}`,
  `{"error":"${escaped(KEY, (_, i) => i % 2 === 0)} and ${escaped(KEY, () => false).replaceAll('/', '\\/')}"}`,
];

test.each(FORMS)('%s', (body) => {
  const clean = withoutKey(body, KEY);
  const decoded = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  const texts = JSON.stringify(decoded(clean)).replaceAll('\\', '');
  expect(texts).toContain('…');
  expect(texts).not.toContain(KEY.replaceAll('\\', ''));
  expect(JSON.stringify(decoded(body)).replaceAll('\\', '')).toContain(KEY.replaceAll('\\', ''));
});

test('names of fields, other texts and short words stay', () => {
  expect(withoutKey('{"content": "my content"}', 'content')).toBe('{"content": "my …"}');
  expect(withoutKey('a b c', 'b')).toBe('a b c');
  expect(withoutKey('text', undefined)).toBe('text');
});

test('a key in parts is removed, and everything else arrives, wherever the text is cut', () => {
  const dice = new Dice('parts', 1);
  for (const form of FORMS) {
    const text = `data: {"a":"sk-A sk-Ab\\u00"} ${form} the end \\u0073k-`;
    for (let round = 0; round < 30; round++) {
      const filter = new KeyFilter(KEY);
      let out = '';
      for (let at = 0; at < text.length;) {
        const next = at + dice.int(1, 9);
        out += filter.write(text.slice(at, next));
        at = next;
      }
      expect(out + filter.end()).toBe(withoutKey(text, KEY));
    }
  }
});

test('the end of a stream is not held back', () => {
  expect(new KeyFilter(KEY).write('data: [DONE]\n\n')).toBe('data: [DONE]\n\n');
});
