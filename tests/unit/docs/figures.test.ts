/** Each figure in README, results, model cards, home and lessons is that of the bundled results, or is listed with its command. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { figuresOf } from '../../support/figures.ts';
import { type Claim, CLAIMS, ELSEWHERE, TEXTS } from './figure-table.ts';

const text = (path: string) => readFileSync(path, 'utf8');

/** The places of the values of a claim in a text; null if the text does not have the claim. */
function placesOf({ text: template, values }: Claim, whole: string): [number, number][] | null {
  const parts = template.split('{}');
  if (parts.length !== values.length + 1) throw new Error(`${template}: ${values.length} values, expected ${parts.length - 1}`);
  const filled = parts.map((part, i) => part + (values[i] ?? '')).join('');
  const places: [number, number][] = [];
  for (let start = whole.indexOf(filled); start >= 0; start = whole.indexOf(filled, start + 1)) {
    let at = start;
    for (const [i, value] of values.entries()) {
      at += parts[i]!.length;
      places.push([at, at + value.length]);
      at += value.length;
    }
  }
  return places.length > 0 ? places : null;
}

const filled = ({ text: template, values }: Claim) => values.reduce((rest, value) => rest.replace('{}', value), template);

/** The figures of a text that are not among the values of its claims. */
function unclaimed(path: string, whole: string): string[] {
  const places = CLAIMS.filter((claim) => claim.in === path).flatMap((claim) => placesOf(claim, whole) ?? []);
  return figuresOf(path, whole).flatMap(({ at, number }) => (places.some(([from, to]) => from <= at && at < to) ? [] : [number]));
}

test.each(CLAIMS.map((claim) => [claim.in, claim.text, claim] as const))('%s: %s', (path, _, claim) => {
  expect(placesOf(claim, text(path)), `expected in ${path}: ${filled(claim)}`).not.toBeNull();
});

test.each(TEXTS)('each figure of %s is in the table of figures', (path) => {
  const listed = ELSEWHERE[path] ?? [];
  expect(unclaimed(path, text(path)).join(' ')).toBe(listed.map(({ figures }) => figures).join(' '));
  for (const { by } of listed) expect(existsSync(by) || text(path).includes(by), by).toBe(true);
});

test('the table has no text that is not checked', () => {
  for (const path of [...CLAIMS.map((claim) => claim.in), ...Object.keys(ELSEWHERE)]) expect(TEXTS).toContain(path);
});

describe('the search for figures', () => {
  const found = (path: string, part: string) => figuresOf(path, part).map(({ number }) => number);

  test('finds shares, points, lists, intervals and the numbers of tables', () => {
    expect(found('a.md', 'It rises by 3.5 points, from 1,024 % to 7 %. 1, 2 and 3 % of 40 tasks; about ten percentage points.')).toEqual([
      '3.5',
      '1,024',
      '7',
      '1',
      '2',
      '3',
      'ten',
    ]);
    expect(found('a.md', '13.7 (8.6 to 18.9, five seeds), 5 % (95 % interval −1 to 2), (interval 3 to 4)')).toEqual([
      '13.7',
      '8.6',
      '18.9',
      '5',
      '−1',
      '2',
      '3',
      '4',
    ]);
    expect(found('a.md', '| a | 1 |\n|---|--:|\n| seed 4 | 5.5 of 6 |\n\n| b |\n')).toEqual(['5.5', '6']);
  });

  test('finds nothing in code, in links, in styles and in the level of an interval', () => {
    expect(found('a.md', '`--share 5 %` [10 %](20%20%20.md) with 95 % intervals\n```\n5 points\n```\n')).toEqual(['10']);
    expect(found('a.svelte', '<p>5 %</p><style>\n.a { width: 10%; }\n</style>')).toEqual(['5']);
    expect(found('a.ts', "// 5 %\n/* 6 % */\nconst a = 'It has 7 %.';")).toEqual(['7']);
  });
});

test('a changed figure and a new figure are found', () => {
  const readme = text('README.md');
  const [claim] = CLAIMS.filter((one) => one.in === 'README.md');
  expect(placesOf(claim!, readme.replace('about ten percentage points', 'about eleven percentage points'))).toBeNull();
  expect(unclaimed('README.md', `${readme}\nGRPO gains 12.3 % more.`)).toEqual(['12.3']);
});
