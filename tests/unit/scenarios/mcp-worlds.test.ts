/** Worlds whose state is in MCP servers: the same calls give the same answers and rows in both hosts, and no write is lost. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import bookings from '../../../src/domains/bookings/scenario.json';
import contacts from '../../../src/domains/contacts/scenario.json';
import desk from '../../../src/domains/desk/scenario.json';
import plans from '../../../src/domains/plans/scenario.json';
import { Dice } from '../../../src/base/dice.ts';
import type { Played } from '../../support/hosted-worlds.ts';
import { inProcess, playIn, read } from '../../support/hosted-worlds.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { connect as here } from '../../../src/mcp/index.ts';
import { connect } from '../../../src/mcp/node/index.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ToolCall } from '../../../src/records/task.ts';
import { connectWith } from '../../../src/scenarios/hosted/connect.ts';
import { hostedDomain } from '../../../src/scenarios/hosted/hosted-domain.ts';

const CALLS = 200;

beforeAll(() => connectWith(connect));
afterAll(() => connectWith(here));

/** Values for the parameters of the tools: those of the rows, and others. */
const POOLS: Record<string, Record<string, readonly string[]>> = {
  contacts: {
    group: ['choir', 'chess club', 'book club', 'Oslo', 'no group'],
    fact: ['sings alto', 'has a dog', 'is a nurse', 'likes\ttabs', ''],
    city: ['Oslo', 'Turin', 'nowhere'],
    text: ['a', 'dog', 'zzz'],
  },
  desk: {
    folder: ['inbox', 'invoices', 'letters', 'archive', 'nowhere', '..'],
    to: ['inbox', 'invoices', 'letters', 'archive', 'new'],
    new_name: ['x.txt', 'about.txt', 'y/z.txt'],
    old: ['open', 'paid', 'late'],
    new: ['paid', 'open', 'late'],
    text: ['Status: open', 'ü💡\n', '*'],
  },
  plans: { plan: ['req-1', 'req-2', 'req-3', 'req-4', 'req-9'], title: ['buy lamps', 'ü💡', ''] },
};

test.each([
  ['contacts', contacts, 'person', 'entity', 'name'],
  ['desk', desk, 'name', 'paper', 'name'],
  ['plans', plans, 'task', 'task', 'id'],
] as const)(
  '%s: 200 calls give the same answers and the same rows in the tab and in a process',
  async (name, file, parameter, table, field) => {
    const own = read(file);
    const [task] = await hostedDomain(own).tasks({ domain: name, level: 'small', split: 'train', seed: 3, count: 1 });
    const rows = (await playIn(own, task!, [])).start;
    const known = [...rows.tables.get(table)!.values()].map((row) => (row as Record<string, string>)[field]!);
    const pools = { ...POOLS[name], [parameter]: [...known, ...known, 'No One'] };
    const tools = own.scenario.tools.filter(({ server }) => server);
    const dice = new Dice('mcp-worlds', name);
    const calls = Array.from({ length: CALLS }, (): ToolCall => {
      const { name: tool, parameters } = dice.pick(tools);
      const args = Object.fromEntries(Object.keys(parameters).map((one): [string, Json] => [one, dice.pick(pools[one]!)]));
      return { name: tool, arguments: args };
    });
    const [tab, process] = [await playIn(own, task!, calls), await playIn(read(inProcess(file)), task!, calls)];
    const [ours, theirs] = [tab, process].map(({ answers, changes }: Played) => ({ answers, changes }));
    expect(ours).toEqual(theirs);
    // The calls do something, and some fail.
    expect(ours!.changes.length).toBeGreaterThan(10);
    expect(ours!.answers.filter(({ error }) => error).length).toBeGreaterThan(0);
    expect(ours!.answers.filter(({ changes }) => changes!.length > 0).length).toBeGreaterThan(20);
  },
);

test.each([
  ['bookings', bookings],
  ['contacts', contacts],
  ['desk', desk],
  ['plans', plans],
] as const)('%s: 64 episodes at once lose no write, and see nothing of each other', async (name, file) => {
  const own = read(file);
  const environments = createEnvironments({ domains: [hostedDomain(own)], inMemory: true });
  const tasks = await environments.tasks({ domain: name, level: 'small', split: 'heldout', seed: 5, count: 64 });
  const play = async (task: (typeof tasks)[number]) => {
    const episode = await environments.start(task);
    // Nobody waits for the answer before the next call.
    await Promise.all(task.actions.map((action) => environments.call(episode, action)));
    const tell = (task.scenario.facts as { people: { tell: string[] } }).people.tell;
    const verdict = await environments.verify(episode, [tell.join(', ')]);
    await environments.close(episode);
    return verdict;
  };
  const together = await Promise.all(tasks.map(play));
  expect(together.map(({ reward }) => reward)).toEqual(tasks.map(() => 1));
  const alone = await playIn(own, tasks[0]!, tasks[0]!.actions);
  expect(together[0]!.changes).toEqual(alone.changes);
});

test('contacts: 20 writes of one episode at once all stay, although the server would lose most of them', async () => {
  const environments = createEnvironments({ domains: [hostedDomain(read(contacts))], inMemory: true });
  const [task] = await environments.tasks({ domain: 'contacts', level: 'nano', split: 'train', seed: 1, count: 1, conditions: { customers: { upfront: 1 } } as never }); // prettier-ignore
  const person = (task!.scenario.wishes[0]!.slots as { person: string }).person;
  const facts = Array.from({ length: 20 }, (_, i) => `knows song ${i}`);
  const episode = await environments.start(task!);
  const results = await Promise.all(facts.map((fact) => environments.call(episode, { name: 'add_fact', arguments: { person, fact } })));
  expect(results.map(({ error }) => error)).toEqual(facts.map(() => false));
  const shown = await environments.call(episode, { name: 'find_person', arguments: { person } });
  for (const fact of facts) expect(shown.text).toContain(`"${fact}"`);
  const { reward, changes } = await environments.verify(episode);
  expect([reward, changes.length]).toEqual([0, 1]);
  await environments.close(episode);
});

test('bookings: the number of a booking and its time of making may differ between equal ends', async () => {
  const own = read(bookings);
  const environments = createEnvironments({ domains: [hostedDomain(own)], inMemory: true });
  const query = { domain: 'bookings', level: 'nano', split: 'train', seed: 1, count: 1, conditions: { intents: ['book_boat'] } } as never;
  const [task] = await environments.tasks(query);
  const [book] = task!.actions;
  const cancel = (booking: string): ToolCall => ({ name: 'cancel_booking', arguments: { booking } });
  // The world has ten bookings, so the first new one is number 11. SQLite does not use its number again.
  for (const [calls, reward] of [
    [[book!, cancel('booking_11'), book!], 1],
    [[book!, cancel('booking_11')], 0],
    [[book!, cancel('booking_10')], 0],
    [[{ ...book!, arguments: { ...book!.arguments, people: 1e6 } }, book!], 1],
  ] as const) {
    const episode = await environments.start(task!);
    for (const call of calls) await environments.call(episode, call);
    expect((await environments.verify(episode)).reward).toBe(reward);
    await environments.close(episode);
  }
});
