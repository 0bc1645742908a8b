/** The overlay store with the retail domain, over a fake IndexedDB. */
import 'fake-indexeddb/auto';
import { createHash } from 'node:crypto';
import { Dexie } from 'dexie';
import { describe, expect, test, vi } from 'vitest';
import type { DomainDefinition } from '../../../src/environments/domain.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { canonicalJson } from '../../../src/base/json.ts';
import { retail } from '../../../src/domains/retail/definition.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import type { Task, ToolCall } from '../../../src/records/task.ts';
import { reportFaults } from '../../support/faults.ts';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';

let databases = 0;
const fresh = () => createEnvironments({ databaseName: `test-${databases++}`, domains: GENERATED_DOMAINS });
const query = { domain: 'retail', level: 'nano', split: 'train', seed: 0 } as const;

const isWrite = ({ name }: ToolCall) => /^(cancel|modify|return|exchange)/.test(name);

/** A task whose gold makes a write, and that write. */
async function writingTask(environments: ReturnType<typeof fresh>, from = 0): Promise<{ task: Task; write: ToolCall }> {
  const tasks = await environments.tasks({ ...query, count: 64, from });
  const task = tasks.find(({ actions }) => actions.filter(isWrite).length === 1)!;
  return { task, write: task.actions.find(isWrite)! };
}

async function play(environments: ReturnType<typeof fresh>, task: Task, calls: readonly ToolCall[]): Promise<string> {
  const episode = await environments.start(task);
  for (const call of calls) await environments.call(episode, call);
  return episode;
}

test('200 parallel episodes of one world do not see the changes of each other', async () => {
  const environments = fresh();
  const { task, write } = await writingTask(environments);
  const order = String(write.arguments.order_id);
  const read = { name: 'get_order_details', arguments: { order_id: order } };
  const episodes = await Promise.all(Array.from({ length: 200 }, () => environments.start(task)));
  const before = (await environments.call(episodes[0]!, read)).text;
  const verdicts = await Promise.all(
    episodes.map(async (episode, i) => {
      if (i % 2) await environments.call(episode, write);
      const seen = (await environments.call(episode, read)).text;
      expect(seen === before).toBe(i % 2 === 0);
      return (await environments.verify(episode)).reward;
    }),
  );
  expect(verdicts).toEqual(episodes.map((_, i) => i % 2));
  await Promise.all(episodes.map((episode) => environments.close(episode)));
  await expect(environments.call(episodes[0]!, read)).rejects.toThrow(/does not exist or was closed/);
});

test('parallel calls of one episode run one after another', async () => {
  const environments = fresh();
  const { task, write } = await writingTask(environments);
  const episode = await environments.start(task);
  const results = await Promise.all([write, write, write].map((call) => environments.call(episode, call)));
  expect(results.map((result) => [result.index, result.error])).toEqual([
    [0, false],
    [1, true],
    [2, true],
  ]);
  expect((await environments.verify(episode)).reward).toBe(1);
});

test('a failed call leaves only its log entry', async () => {
  const halfway: DomainDefinition = {
    ...retail,
    execute: (rows, call, level) => {
      if (call.name !== 'half') return retail.execute(rows, call, level);
      rows.put('users', rows.keys('users')[0]!, { broken: true });
      rows.put('orders', 'new', {});
      throw new Error('no more');
    },
  };
  const environments = createEnvironments({ databaseName: 'test-half', domains: [halfway] });
  const { task, write } = await writingTask(environments);
  const episode = await environments.start(task);
  expect(await environments.call(episode, { name: 'half', arguments: {} })).toEqual({
    index: 0,
    text: 'Error: no more',
    error: true,
    changes: [],
    terminal: false,
  });
  const verdict = await environments.verify(episode);
  expect(verdict).toMatchObject({ reward: 0, changes: [], progress: 0 });
  expect((await environments.log(episode)).map((entry) => [entry.index, entry.text, entry.changes])).toEqual([[0, 'Error: no more', []]]);
  await environments.call(episode, write);
  expect((await environments.verify(episode)).changes.map((change) => change.call)).toEqual(verdict.goal.map(() => 1));
});

test('a failed transaction changes neither the database nor the memory', async () => {
  const name = `test-${databases}`;
  const environments = fresh();
  const { task, write } = await writingTask(environments);
  const episode = await environments.start(task);
  await environments.call(episode, task.actions[0]!);
  // Meanwhile another worker has written the next entry. This call must follow that entry and use its state.
  const other = createEnvironments({ databaseName: name, domains: GENERATED_DOMAINS });
  await other.call(episode, write);
  const late = await environments.call(episode, write);
  expect(late).toMatchObject({
    index: 2,
    error: true,
    text: expect.stringMatching(
      /^Error: (non-(pending|delivered) order|the new payment method should be different|there should be exactly one payment)/,
    ) as string,
  });
  expect((await environments.log(episode)).map((entry) => entry.call.name)).toEqual([task.actions[0]!.name, write.name, write.name]);
});

test('a reopened store continues an episode', async () => {
  const name = `test-${databases}`;
  const environments = fresh();
  const { task, write } = await writingTask(environments);
  const episode = await play(environments, task, [task.actions[0]!, write]);
  const verdict = await environments.verify(episode);
  const reopened = createEnvironments({ databaseName: name, domains: GENERATED_DOMAINS });
  expect(await reopened.verify(episode)).toEqual(verdict);
  expect((await reopened.call(episode, write)).index).toBe(2);
});

test('stored worlds keep their order, and are generated again when the generator has changed', async () => {
  let made = 0;
  const counting = (version: number): DomainDefinition => ({ ...retail, version, world: (id) => (made++, retail.world(id)) });
  const open = (version: number) => createEnvironments({ databaseName: 'test-worlds', domains: [counting(version)] });
  const [task] = await open(1).tasks({ ...query, level: 'full', count: 1 });
  const products = { name: 'list_all_product_types', arguments: {} };
  const texts: string[] = [];
  for (const version of [1, 1, 2]) {
    const environments = open(version);
    const episode = await environments.start(task!);
    const details = await environments.call(episode, {
      name: 'get_product_details',
      arguments: { product_id: Object.values(JSON.parse((await environments.call(episode, products)).text) as Record<string, string>)[3]! },
    });
    texts.push(details.text);
  }
  expect(made).toBe(2);
  expect(new Set(texts).size).toBe(1);
});

test('the most recently used generated worlds stay in storage', async () => {
  const environments = createEnvironments({ databaseName: 'test-many-worlds', domains: GENERATED_DOMAINS });
  const worlds = (await Promise.all(Array.from({ length: 70 }, (_, i) => environments.tasks({ ...query, count: 1, from: 64 * i })))).flat();
  expect(new Set(worlds.map(({ world }) => world)).size).toBe(70);
  for (const [i, task] of worlds.entries()) {
    if (i === 60) await await createEnvironments({ databaseName: 'test-many-worlds', domains: GENERATED_DOMAINS }).start(worlds[0]!); // this read counts as a use
    await environments.start(task);
  }
  const db = await new Dexie('test-many-worlds').open();
  const stored = new Set(await db.table('worlds').toCollection().primaryKeys());
  expect(stored.size).toBe(64);
  expect([worlds[0]!, worlds[69]!, worlds[1]!].map(({ world }) => stored.has(world))).toEqual([true, true, false]);
  expect(new Set(((await db.table('rows').toArray()) as { world: string }[]).map(({ world }) => world))).toEqual(stored);
  db.close();
});

test("SHA-256 equals the platform's", () => {
  for (const text of ['', 'abc', 'ü€😀', 'x'.repeat(55), 'x'.repeat(56), 'x'.repeat(64), 'y'.repeat(10_000)])
    expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
});

describe('verify', () => {
  const table = (rows: Record<string, unknown>) => new Map(Object.entries(rows)) as never;
  const toy: DomainDefinition = {
    name: 'toy',
    levels: ['one'],
    version: 1,
    domain: () => ({ name: 'toy', level: 'one', policy: '', tools: [], terminalTools: [] }),
    tasks: () => [],
    world: () => new Map([['rows', table({ a: { x: 1, list: [1, 2] }, b: {} })]]),
    execute: (rows, { name, arguments: { key, value } }) => {
      if (name === 'delete') rows.delete('rows', key as string);
      else rows.put('rows', key as string, value!);
      return { text: '', error: false };
    },
  };
  const put = (key: string, value: object): ToolCall => ({ name: 'put', arguments: { key, value: value as never } });
  const reward = async (gold: ToolCall[], calls: ToolCall[]) => {
    const environments = createEnvironments({ databaseName: `toy-${databases++}`, domains: [toy] });
    const task = {
      id: 't',
      domain: 'toy',
      level: 'one',
      split: 'train',
      world: 'toy/w',
      scenario: {} as never,
      actions: gold,
      noop: false,
    };
    const { reward: value, progress } = await environments.verify(await play(environments, task, calls));
    return [value, progress];
  };
  test.each<[string, ToolCall[], ToolCall[], [number, number]]>([
    ['key order is irrelevant', [put('a', { x: 2, list: [] })], [put('a', { list: [], x: 2 })], [1, 1]],
    ['list order is significant', [put('a', { x: 1, list: [2, 1] })], [put('a', { x: 1, list: [1, 2] })], [0, 0]],
    ['numbers are JavaScript numbers', [put('a', { x: 5 })], [put('a', { x: 5.0 })], [1, 1]],
    ['a number differs from a text', [put('a', { x: 5 })], [put('a', { x: '5' })], [0, 0]],
    ['a row written back is unchanged', [], [put('a', {}), put('a', { list: [1, 2], x: 1 })], [1, 1]],
    ['an inserted and deleted row is no change', [], [put('c', {}), { name: 'delete', arguments: { key: 'c' } }], [1, 1]],
    ['a deleted row is a change', [{ name: 'delete', arguments: { key: 'b' } }], [], [0, 0]],
    ['one row too many', [put('a', {})], [put('a', {}), put('c', {})], [0, 0.5]],
    ['one of two rows', [put('a', {}), put('c', {})], [put('c', {})], [0, 0.5]],
    [
      'keys of the prototype are keys',
      [put('__proto__', { x: 1 }), put('constructor', {})],
      [put('constructor', {}), put('__proto__', { x: 1 })],
      [1, 1],
    ],
  ])('%s', async (_, gold, calls, expected) => {
    expect(await reward(gold, calls)).toEqual(expected);
  });
});

test('an error names the wrong field', async () => {
  const environments = fresh();
  const [task] = await environments.tasks({ ...query, count: 1 });
  await expect(environments.domain('retail', 'huge')).rejects.toThrow("level: 'huge' is unknown; expected one of nano, small, full");
  await expect(environments.domain('bank', 'nano')).rejects.toThrow(
    "domain: 'bank' is unknown; expected one of bookings, chat, contacts, courses, desk, jobs, library, multiturn, plans, rentals, retail, rooms, telecom",
  );
  await expect(environments.tasks({ ...query, count: -1 })).rejects.toThrow('count: -1 is not a whole number');
  await expect(environments.tasks({ ...query, count: 1, split: 'test' as 'train' })).rejects.toThrow("split: 'test'");
  await expect(environments.start({ ...task!, world: 'elsewhere' })).rejects.toThrow("world: 'elsewhere'");
  const episode = await environments.start(task!);
  for (const name of ['modify_user_address', '__proto__', 'constructor', 'toString']) {
    expect(await environments.call(episode, { name, arguments: {} })).toMatchObject({
      error: true,
      text: `Unknown action ${name}`,
      changes: [],
    });
  }
  for (const id of ['__proto__', 'constructor', 'nobody'])
    expect((await environments.call(episode, { name: 'get_user_details', arguments: { user_id: id } })).text).toBe('Error: user not found');
  expect(await environments.call(episode, { name: 'transfer_to_human_agents', arguments: { summary: 'x' } })).toMatchObject({
    error: false,
    terminal: true,
    text: 'Transfer successful',
  });
});

test('canonical JSON sorts keys and keeps lists', () => {
  expect(canonicalJson({ b: [2, 1], a: { d: null, c: 'é' }, 10: 1, 9: 2 })).toBe('{"10":1,"9":2,"a":{"c":"é","d":null},"b":[2,1]}');
});

test('rows that a failed call keeps are also kept in the gold; rows of a thrown error are dropped', async () => {
  const half: DomainDefinition = {
    name: 'half',
    levels: ['nano'],
    version: 1,
    domain: () => ({ name: 'half', level: 'nano', policy: '', tools: [], terminalTools: [] }),
    tasks: () => [],
    world: () => new Map([['t', new Map([['k', 0]])]]),
    execute(rows, { name }) {
      rows.put('t', 'k', 1);
      if (name === 'trip') throw new Error('tripped');
      return { text: 'Error: late', error: true, ...(name === 'keep' && { kept: true as const }) };
    },
  };
  const environments = createEnvironments({ databaseName: `test-${databases++}`, domains: [half] });
  const changed = async (gold: string[], made: string[]) => {
    const task: Task = {
      id: gold.join(),
      domain: 'half',
      level: 'nano',
      split: 'train',
      world: 'w',
      scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: '' },
      actions: gold.map((name) => ({ name, arguments: {} })),
      noop: false,
    };
    const { reward, goal } = await environments.verify(
      await play(
        environments,
        task,
        made.map((name) => ({ name, arguments: {} })),
      ),
    );
    return [reward, goal.length];
  };
  expect(await changed(['keep'], ['keep'])).toEqual([1, 1]);
  expect(await changed(['keep'], ['fail'])).toEqual([0, 1]);
  expect(await changed(['trip', 'fail'], [])).toEqual([1, 0]);
});

test('a clock that jumps two days deletes no episode of a living tab; those of a dead tab go at once', async () => {
  const held = new Set<string>();
  const locks = {
    request: (name: string, _: LockOptions, work: (lock: object) => unknown) => (held.add(name), work({ name })),
    query: async () => ({ held: [...held].map((name) => ({ name })) }),
  };
  vi.stubGlobal('navigator', { locks });
  const databaseName = `test-${databases++}`;
  const [living, dying] = [
    createEnvironments({ databaseName, domains: GENERATED_DOMAINS }),
    createEnvironments({ databaseName, domains: GENERATED_DOMAINS }),
  ];
  const { task, write } = await writingTask(living);
  const [kept, lost] = [await play(living, task, [write]), await play(dying, task, [write])];
  for (const days of [2, -2]) {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + days * 86_400_000);
    await createEnvironments({ databaseName, domains: GENERATED_DOMAINS }).deleteAbandoned();
    vi.restoreAllMocks();
  }
  expect(await Promise.all([kept, lost].map(async (id) => (await living.verify(id)).reward))).toEqual([1, 1]);
  expect(held.size).toBe(4);
  held.delete([...held][1]!);
  await createEnvironments({ databaseName, domains: GENERATED_DOMAINS }).deleteAbandoned();
  const later = createEnvironments({ databaseName, domains: GENERATED_DOMAINS });
  expect((await later.verify(kept)).reward).toBe(1);
  await expect(later.verify(lost)).rejects.toThrow('does not exist or was closed');
  vi.unstubAllGlobals();
  reportFaults({
    fault: 'the clock jumps by two days, forward or back, while another tab opens',
    how: 'Date.now is changed, with two tabs on one database of episodes',
    times: 2,
    lost: 'nothing',
    test: 'tests/unit/environments/environments.test.ts',
  });
});
