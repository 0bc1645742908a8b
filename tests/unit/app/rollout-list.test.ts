/** The list of rollouts: filters with their counts, order, search in text, CSV; and the slots of an active step. */
import { describe, expect, test } from 'vitest';
import type { RolloutSummary } from '../../../src/records/rollout.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { csv } from '../../../src/base/csv.ts';
import { groupRollouts } from '../../../src/app/run-data/groups.ts';
import { playing } from '../../../src/app/runs/step-slots.ts';
import { listOrder, RolloutIndex } from '../../../src/app/run-data/rollout-filter.ts';
import { readQuery } from '../../../src/app/routes/routes.ts';
import { TextIndex, type TextSearch } from '../../../src/app/run-data/text-index.ts';
import { listedIds, listText, readList } from '../../../src/app/rollouts/list.ts';
import { valueLabel } from '../../../src/app/rollouts/labels.ts';

const rollout = (id: string, more: Partial<RolloutSummary> = {}): RolloutSummary => {
  const [step, t, index] = id.split('-').map(Number) as [number, number, number];
  return {
    id,
    group: `${step}-${t}`,
    index,
    step,
    task: 't',
    intent: 'cancel',
    reward: 0,
    advantage: null,
    termination: 'user_stop',
    turns: 4,
    tokens: 100,
    violations: 0,
    writes: 0,
    domain: 'telecom',
    rules: [],
    tools: [],
    ...more,
  };
};
const rows = listOrder([
  rollout('1-0-0', { reward: 1, tools: ['get', 'cancel'], domain: 'retail', rules: [] }),
  rollout('1-0-1', { termination: 'max_turns', turns: 9, tools: ['get'], domain: 'retail', rules: ['unconfirmed_write'], violations: 2 }),
  rollout('2-10-0', { reward: null, termination: 'user_error', intent: '', domain: 'retail', rules: [], tools: [] }),
  rollout('2-2-0', { reward: 1, turns: 2, intent: 'return' }),
  rollout('2-2-1', { reward: 0.5, turns: 9, intent: 'return' }),
]);
const ask = (search: string, found: ReadonlySet<string> | null = null) =>
  new RolloutIndex(rows).filter(readQuery('rollouts', new URLSearchParams(search)), found);
const ids = (search: string, found?: ReadonlySet<string>) => ask(search, found).rows.map(({ id }) => id);

describe('the list that a visitor comes from', () => {
  const queryOf = (search: string) => readQuery('rollouts', new URLSearchParams(search));
  const run = {
    rollouts: rows.toReversed(),
    texts: new TextIndex({
      ids: async () => ['1-0-0', '2-2-1'],
      trajectories: async (ids) =>
        ids.map((id) => ({ id, leaf: 0, nodes: [{ id: 0, parent: null, role: 'user', text: `words of ${id}` }] }) as unknown as Trajectory),
    }),
  };
  const { signal } = new AbortController();

  test('is in the address with its filters and its order, without the opened row', () => {
    const query = queryOf('reward=1&sort=turns&q=a b&at=1-0-0&step=2');
    expect(readList(listText(query))).toEqual({ ...query, at: '' });
    expect(listText(queryOf('at=1-0-0'))).not.toBe('');
    expect(readList(listText(queryOf('at=1-0-0')))).toEqual(queryOf(''));
  });

  test.each(['', 'reward=1', 'sort=turns', 'q=WORDS of 2&step=2'])('with %j it has the rows that the list shows', async (search) => {
    const found = search.includes('q=') ? new Set(['2-2-1']) : null;
    expect(await listedIds(run, listText(queryOf(search)), signal)).toEqual(ask(search, found).rows.map(({ id }) => id));
  });
});

describe('filters', () => {
  test('no filter: the newest step first, groups by number', () => {
    expect(ids('')).toEqual(['2-2-0', '2-2-1', '2-10-0', '1-0-0', '1-0-1']);
  });

  test.each([
    ['reward=1', ['2-2-0', '1-0-0']],
    ['reward=0', ['2-2-1', '1-0-1']],
    ['reward=null', ['2-10-0']],
    ['end=max_turns', ['1-0-1']],
    ['violation=unconfirmed_write', ['1-0-1']],
    ['tool=get', ['1-0-0', '1-0-1']],
    ['tool=get&reward=1', ['1-0-0']],
    ['domain=retail&step=2', ['2-10-0']],
    ['intent=return', ['2-2-0', '2-2-1']],
    ['step=2', ['2-2-0', '2-2-1', '2-10-0']],
    ['tool=nothing', []],
    ['reward=2&step=x&sort=nope', ['2-2-0', '2-2-1', '2-10-0', '1-0-0', '1-0-1']],
  ])('%s', (search, expected) => expect(ids(search)).toEqual(expected));

  test('matches in the text are a filter too', () => {
    expect(ids('reward=0', new Set(['1-0-1', '1-0-0']))).toEqual(['1-0-1']);
    expect(ids('', new Set())).toEqual([]);
  });

  test.each([
    ['sort=turns', ['2-2-1', '1-0-1', '2-10-0', '1-0-0', '2-2-0']],
    ['sort=reward', ['2-2-0', '1-0-0', '2-2-1', '1-0-1', '2-10-0']],
  ])('%s sorts by falling value, keeps the order of equal values, and puts missing values last', (search, expected) =>
    expect(ids(search)).toEqual(expected),
  );

  test('a count is the number of rollouts after choosing the value', () => {
    const { counts } = ask('tool=get');
    // The counts of a facet ignore the choice in this facet.
    expect(Object.fromEntries(counts.tool)).toEqual({ get: 2, cancel: 1 });
    expect(Object.fromEntries(counts.reward)).toEqual({ '1': 1, '0': 1 });
    expect(counts.violation.get('unconfirmed_write')).toBe(1);
    for (const [facet, values] of Object.entries(ask('reward=0').counts)) {
      for (const [value, n] of values)
        expect(ids(facet === 'reward' ? `reward=${value}` : `reward=0&${facet}=${value}`).length, `${facet}=${value}`).toBe(n);
    }
  });

  test('known values get names; unknown values stay unchanged', () => {
    expect(valueLabel('end', 'user_stop')).toBe('the customer ended it');
    expect(valueLabel('end', '<img src=x>')).toBe('<img src=x>');
    expect(valueLabel('end', 'constructor')).toBe('constructor');
    expect(valueLabel('intent', 'modify_items+cancel')).toBe('modify items + cancel');
  });
});

describe('search in text', () => {
  const trajectory = (id: string, ...texts: string[]) =>
    ({
      id,
      leaf: texts.length - 1,
      nodes: texts.map((text, i) => ({ id: i, parent: i ? i - 1 : null, role: i ? 'user' : 'system', text })),
    }) as unknown as Trajectory;
  const stored = new Map(
    Array.from({ length: 70 }, (_, i) => [`r${i}`, trajectory(`r${i}`, 'Policy: cancel', i % 10 ? 'Hello' : 'My Shoes, please')]),
  );
  let reads = 0;
  const source = {
    ids: async () => [...stored.keys(), 'gone'],
    trajectories: async (asked: string[]) => {
      reads += asked.length;
      return asked.map((id) => stored.get(id));
    },
  };

  test('ignores case and the system prompt, reports progress, and reads no conversation twice', async () => {
    const index = new TextIndex(source);
    const heard: TextSearch[] = [];
    const { found, done, total } = await index.search('my SHOES', (search) => heard.push(search), new AbortController().signal);
    expect([...found]).toEqual(['r0', 'r10', 'r20', 'r30', 'r40', 'r50', 'r60']);
    expect([done, total]).toEqual([71, 71]);
    expect(heard.map((search) => search.found.size)).toEqual([4, 7, 7]);
    expect((await index.search('policy', () => {}, new AbortController().signal)).found.size).toBe(0);
    expect(reads).toBe(71 + 1); // a missing conversation is requested again
    index.forget('r0');
    await index.search('x', () => {}, new AbortController().signal);
    expect(reads).toBe(71 + 1 + 2);
  });

  test('stops when its caller aborts', async () => {
    const abort = new AbortController();
    let chunks = 0;
    await new TextIndex(source).search('hello', () => (chunks++, abort.abort()), abort.signal);
    expect(chunks).toBe(1);
  });
});

test('CSV quotes what needs it and defuses formulas', () => {
  expect(
    csv(
      ['a', 'b'],
      [
        ['x,"y"', 1],
        ['=1+1', -2],
        ['line\nbreak', null],
      ],
    ),
  ).toBe('a,b\r\n"x,""y""",1\r\n\'=1+1,-2\r\n"line\nbreak",\r\n');
});

test('an active step has a slot for every rollout', () => {
  const config = { train_batch_size: 2, n: 3 };
  const groups = playing({ step: 3, phase: 'rollout' }, config, groupRollouts([rollout('3-1-2')]));
  expect(groups.map(({ id, open, slots }) => [id, open, slots.map((slot) => slot?.id ?? null)])).toEqual([
    ['3-0', false, [null, null, null]],
    ['3-1', true, [null, null, '3-1-2']],
  ]);
  expect(playing({ step: 3, phase: 'rollout' }, config, [])).toHaveLength(2);
  expect(playing({ step: 3, phase: 'evaluate' }, config, groupRollouts([rollout('3-1-2')]))).toHaveLength(2);
});

test.each(['compile', 'evaluate'] as const)('no rollout is active in the phase %s before training', (phase) => {
  expect(playing({ step: 0, phase }, { train_batch_size: 2, n: 3 }, [])).toEqual([]);
});
