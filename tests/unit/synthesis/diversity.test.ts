/** Measures of how much conversations differ, against counts by hand and by another program. */
import { expect, test } from 'vitest';
import { contaminationOf } from '../../../src/synthesis/contamination.ts';
import { diversityOf } from '../../../src/synthesis/diversity.ts';
import { nearDuplicates } from '../../../src/synthesis/near-duplicates.ts';
import { readGradedRow } from '../../../src/synthesis/rows.ts';
import { masked, wordsOf } from '../../../src/base/words.ts';
import { hash32 } from '../../../src/base/random.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { shopMessages, shopRow } from '../../support/graded-rows.ts';

const rows = (...all: object[]) => all.map((row, i) => readGradedRow(row, `line ${i + 1}`));

test('rows that differ only in numbers have one opener and one sequence, and repeat each other', () => {
  const found = diversityOf(rows(shopRow(1), shopRow(22), shopRow(333)))!;
  expect(found).toMatchObject({ rows: 3, openers: 1, agent_texts: 2, sequences: 1, sequence_entropy: 0, calls: 1, turns: 3 });
  expect(found.near_duplicates).toBeCloseTo(2 / 3, 12);
  expect(found.tools).toEqual({ offered: 1, called: 1, never: [] });
});

test('entropy, distinct runs, tools that nobody calls and failed calls, by hand', () => {
  const said = (text: string, more: object[] = []) => ({
    messages: [{ role: 'user', content: text }, ...more, { role: 'assistant', content: 'No.' }],
  });
  const call = (name: string) => [
    { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name, arguments: {} } }] },
    { role: 'tool', content: name === 'b' ? 'Error: closed' : 'ok' },
  ];
  const tools = ['a', 'b', 'c'].map((name) => ({ type: 'function', function: { name, parameters: {} } }));
  // Sequences: a (2), b (1), none (1): entropy 1.5 bits. Runs of three: x y z, y z x, x y z, y z w: 3 of 4.
  const all = [said('x y z x', call('a')), said('x y z w', call('a')), said('n', call('b')), said('o')].map((row) => ({ ...row, tools }));
  const found = diversityOf(rows(...all))!;
  expect(found).toMatchObject({
    sequences: 3,
    sequence_entropy: 1.5,
    calls: 0.75,
    turns: 1,
    failed_calls: 0.25,
    openers: 4,
    agent_texts: 1,
  });
  expect(found.distinct_3).toEqual({ customer: 3 / 4, agent: null });
  expect(found.tools).toEqual({ offered: 3, called: 2, never: ['c'] });
  expect(diversityOf([])).toBeNull();
});

test('names and numbers are masked, and words are words of any language', () => {
  expect(masked('Hello, I am Ana Diaz: order #W12 of 3 May, ana@x.com, McCoy')).toBe('N, I am N N: order #W0 of 0 N, ana@x.com, McCoy');
  expect(wordsOf('Give_me 2 über-Äpfel, 订单 7')).toEqual(['give_me', '2', 'über', 'äpfel', '订', '单', '7']);
});

test('near duplicates are those of the comparison of all pairs', () => {
  const sets = Array.from({ length: 120 }, (_, i) => {
    // Copies of twelve sets of 10 to 40 runs, in which every fifth or tenth run differs.
    const base = i % 12;
    return new Set(Array.from({ length: 10 + 30 * ((base * 7) % 12) / 11 }, (_, k) => (hash32(i, k) % (i % 3 ? 10 : 5) ? `${base} ${k}` : `${i} ${k}`)));
  }); // prettier-ignore
  const jaccard = (a: Set<string>, b: Set<string>) => {
    const common = [...a].filter((run) => b.has(run)).length;
    return common / (a.size + b.size - common);
  };
  const expected = sets.flatMap((set, i) => (sets.slice(0, i).some((other) => jaccard(set, other) > 0.8) ? [i] : []));
  expect(expected.length).toBeGreaterThan(10);
  expect(expected.length).toBeLessThan(100);
  expect(nearDuplicates(sets)).toEqual(expected);
});

test('exactly 80 % in common is no near duplicate, more is', () => {
  const numbered = (from: number, to: number) => new Set(Array.from({ length: to - from }, (_, i) => String(from + i)));
  // 8 of 10 different runs are common; then 9 of 11.
  expect(nearDuplicates([numbered(0, 9), numbered(1, 10)])).toEqual([]);
  expect(nearDuplicates([numbered(0, 10), numbered(1, 11)])).toEqual([1]);
});

test('contamination: common runs of eight words, equal openers, equal ids', () => {
  const own = rows(shopRow(1), shopRow(2), { id: 'x', messages: [{ role: 'user', content: 'one two three four five six seven eight nine' }, { role: 'assistant', content: 'Ok.' }] }); // prettier-ignore
  const held = [
    { id: 'shop/2', texts: ['They say: two three four five six seven eight nine.'] },
    { id: null, texts: [shopMessages(9)[1]!.content] },
  ];
  const found = contaminationOf(own, held)!;
  // The third row has two runs, of which one is held out. Each shop row has no run: its message has 7 words.
  expect(found).toEqual({ against: 2, rows: 1 / 3, runs: 1 / 2, openers: 2 / 3, ids: 1 });
});

test('our generator has the diversity that another program measured', async () => {
  const stage = {
    environments: createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true }),
    users: new ScriptedUsers(customerScripts),
  };
  const made = await synthesize(stage, { domain: 'retail', level: 'nano', count: 500, seed: 1 });
  expect([made.tried, made.solved]).toEqual([576, 545]);
  const found = diversityOf(made.conversations.map((row, i) => readGradedRow(row, `line ${i + 1}`)))!;
  expect(found).toMatchObject({ openers: 234, agent_texts: 15, sequences: 45 });
  expect(found.sequence_entropy).toBeCloseTo(3.5, 2);
  expect(found.distinct_3.customer).toBeCloseTo(0.262, 3);
  expect(found.distinct_3.agent).toBeCloseTo(0.145, 3);
  expect(Math.round(100 * found.near_duplicates)).toBe(2);
});
