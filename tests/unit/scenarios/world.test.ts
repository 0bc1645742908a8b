/** Worlds, calls and tasks of a scenario whose rows were worked out by hand. */
import { describe, expect, it } from 'vitest';
import { shares } from '../../../src/environments/conditions.ts';
import { Overlay, World } from '../../../src/environments/overlay.ts';
import type { Json } from '../../../src/records/json.ts';
import type { Task, ToolCall } from '../../../src/records/task.ts';
import { execute } from '../../../src/scenarios/execute.ts';
import { peopleOf } from '../../../src/scenarios/people/told.ts';
import { tableDomain } from '../../../src/scenarios/table-domain.ts';
import { says } from '../../../src/scenarios/verdict.ts';
import { makeWorld } from '../../../src/scenarios/world.ts';
import { type Draft, readToy } from '../../support/toy-scenario.ts';

/** The toy with its fixed rows alone. */
const fixed = (change: (toy: Draft) => void = () => {}) =>
  readToy((toy) => {
    delete toy.tables.locker.count;
    change(toy);
  });
const KEY = { level: 'hard', split: 'train', seed: 1, number: 0 } as const;

describe('a world', () => {
  const rows = (own = readToy(), key: Parameters<typeof makeWorld>[1] = KEY) =>
    [...makeWorld(own, key).get('locker')!.values()] as { id: string; owner: string; size: number; rent: number; tags: string[] }[];

  it('has the fixed rows and as many generated rows as its level', () => {
    expect(rows().slice(0, 3).map(({ id }) => id)).toEqual(['locker_1', 'locker_2', 'locker_3']); // prettier-ignore
    expect([rows().length, rows(readToy(), { ...KEY, level: 'easy' }).length]).toEqual([12, 9]);
    for (const { id, owner, size, rent, tags } of rows()) {
      expect(id).toMatch(/^locker_\d{1,2}$/);
      expect(owner).toMatch(/^person_[12]$/);
      expect(rent).toBe(size * 2.5);
      expect(tags).toEqual(['dry', 'near', 'new'].filter((tag) => tags.includes(tag)));
    }
  });

  it('depends on its id alone', () => {
    expect(rows(readToy())).toEqual(rows(readToy()));
    for (const other of [
      { ...KEY, seed: 2 },
      { ...KEY, number: 1 },
      { ...KEY, split: 'heldout' as const },
    ])
      expect(rows(readToy(), other)).not.toEqual(rows());
  });

  it('keeps its invariants, and an impossible one is an error that names the condition', () => {
    const small = readToy((toy) => (toy.tables.locker.invariants[0] = { check: 'row.size < 3 || row.id == "locker_3"', text: 'small' }));
    for (let number = 0; number < 20; number++) expect(rows(small, { ...KEY, number }).filter(({ size }) => size === 3)).toHaveLength(1);
    const never = readToy((toy) => (toy.tables.locker.invariants[0] = { check: 'row.size > 3', text: 'all are huge' }));
    expect(() => makeWorld(never, KEY)).toThrow(/^toy\.json: tables: no world of level hard keeps all conditions .* all are huge/);
    const crowd = readToy((toy) => (toy.tables.locker.invariants[0] = { check: 'size(tables.locker) < 8', text: 'few lockers' }));
    // In this world the last row that was drawn has a key in use.
    expect(() => makeWorld(crowd, { ...KEY, number: 6 })).toThrow('few lockers');
  });
});

describe('a call', () => {
  const own = fixed();
  const play = (name: string, args: Record<string, Json>, level = 'hard', scenario = own) => {
    const rows = new Overlay(new World('w', makeWorld(scenario, KEY)));
    return { ...execute(scenario, rows, { name, arguments: args }, level), changes: rows.changes().map(({ key, after }) => [key, after]) };
  };

  it('reads', () => {
    expect(play('get_locker', { locker: 'locker_2' })).toEqual({
      text: '{"id":"locker_2","owner":"person_1","size":2,"rent":5,"tags":[]}',
      error: false,
      changes: [],
    });
  });

  it('inserts a row with the next key', () => {
    const row = { id: 'locker_4', owner: 'person_2', size: 3, rent: 7.5, tags: ['near'] };
    expect(play('rent_locker', { owner: 'person_2', size: 3, tags: ['near'] })).toEqual({
      text: '{"locker":"locker_4","rent":7.5}',
      error: false,
      changes: [['locker_4', row]],
    });
    expect(play('rent_locker', { owner: 'person_2', size: 1, floor: null }).changes[0]![1]).toMatchObject({ rent: 2.5, tags: [] });
  });

  it('deletes a row, and a text stays a text', () => {
    expect(play('give_up', { locker: 'locker_3' })).toEqual({
      text: 'Locker locker_3 is free.',
      error: false,
      changes: [['locker_3', null]],
    });
  });

  it('updates each row of a list', () => {
    const { text, changes } = play('raise_rent', { owner: 'person_1', more: 2 });
    expect(text).toBe('{"changed":2}');
    expect(changes.map(([key, after]) => [key, (after as { rent: number }).rent])).toEqual([['locker_1', 4.5], ['locker_2', 7]]); // prettier-ignore
  });

  it.each<[string, Record<string, Json>, string, string?]>([
    ['get_locker', { locker: 'locker_9' }, 'Error: no locker locker_9'],
    ['get_locker', {}, 'Error: locker is missing; expected a text'],
    ['get_locker', { locker: 3 }, 'Error: locker is 3; expected a text'],
    ['get_locker', { lock: 'locker_1' }, 'Error: get_locker has no parameter "lock" (did you mean locker?); expected only locker'],
    ['get_locker', { locker: 'x'.repeat(501) }, 'Error: locker has 501 characters; expected at most 500'],
    ['rent_locker', { owner: 'person_1', size: 4 }, 'Error: size is 4; expected 1 to 3'],
    ['rent_locker', { owner: 'person_1', size: 1.5 }, 'Error: size is 1.5; expected a whole number'],
    ['rent_locker', { owner: 'person_1', size: '1' }, 'Error: size is "1"; expected a whole number'],
    ['rent_locker', { owner: 'person_1', size: 1, floor: 'dwn' }, 'Error: floor is "dwn" (did you mean down?); expected one of up, down'],
    ['rent_locker', { owner: 'person_1', size: 1, tags: ['a', 1] }, 'Error: tags is ["a",1]; expected a list of texts'],
    ['to_human', { reason: 'x' }, 'Error: to_human has no parameter "reason"; expected none'],
    ['rent_lockr', {}, 'Error: unknown tool "rent_lockr" (did you mean rent_locker?)'],
    ['raise_rent', { owner: 'person_1', more: 2 }, 'Error: unknown tool "raise_rent"', 'easy'],
    ['raise_rent', { owner: 'person_2', more: 3 }, 'Error: the rent is at most 10'],
  ])('%s with %j answers an error', (name, args, text, level) => {
    const result = play(name, args, level);
    expect(result.error).toBe(true);
    expect(result.text).toContain(text);
  });

  it('cannot leave a reference to a row that is gone', () => {
    const loose = fixed((toy) => (toy.tools[3].writes[0] = { table: 'person', delete: '"person_2"' }));
    expect(play('give_up', { locker: 'locker_1' }, 'hard', loose)).toMatchObject({
      error: true,
      text: 'Error: no person has the key "person_2", which the field owner of the table locker names',
    });
  });

  it.each<[string, (toy: Draft) => void, string]>([
    [
      'a value of another type',
      (toy) => (toy.tools[2].values.rent = '"much"'),
      'the field rent of the table locker is "much": expected a number',
    ],
    ['an update of no row', (toy) => (toy.tools[1].values.own = '["locker_8"]'), 'locker_8'],
    ['a key that is taken', (toy) => (toy.tools[2].values.id = '"locker_1"'), 'a row of locker has the key "locker_1" already'],
  ])('of a wrong tool writes nothing: %s', (_, change, reason) => {
    const domain = tableDomain(fixed(change));
    const rows = new Overlay(new World('w', makeWorld(fixed(change), KEY)));
    const call: ToolCall = change.toString().includes('tools[1]')
      ? { name: 'raise_rent', arguments: { owner: 'person_1', more: 1 } }
      : { name: 'rent_locker', arguments: { owner: 'person_1', size: 1 } };
    const run = () => {
      const { text, error } = domain.execute(rows, call, 'hard');
      if (error) throw new Error(text);
    };
    expect(run).toThrow(reason);
  });
});

describe('tasks', () => {
  const domain = tableDomain(readToy());
  const tasks = (more: object = {}, own = domain) =>
    own.tasks({ domain: 'lockers', level: 'hard', split: 'train', seed: 3, count: 70, ...more }) as Task[];

  it('are deterministic, and do not depend on the count', () => {
    expect(tasks({}, tableDomain(readToy()))).toEqual(tasks());
    expect(tasks({ count: 5, from: 31 })).toEqual(tasks().slice(31, 36));
    expect(tasks({ seed: 4 })).not.toEqual(tasks());
  });

  it('follow from the picked rows', () => {
    for (const { scenario, actions, noop, world } of tasks()) {
      const [wish] = scenario.wishes;
      const people = peopleOf(scenario)!;
      const name = { person_1: 'Ann', person_2: 'Bob' };
      const rows = domain.world(world) as Map<string, Map<string, Json>>;
      if (wish!.intent === 'rent_two') {
        expect(actions).toEqual(
          Array(2).fill({ name: 'rent_locker', arguments: { owner: expect.any(String), size: Number(wish!.slots.size) } }),
        );
        expect(people.tell).toEqual([String(Number(wish!.slots.size) * 2.5)]);
        expect(people.proposals[0]).toBe(`rent a locker of size ${String(wish!.slots.size)}`);
        continue;
      }
      const locker = rows.get('locker')!.get(wish!.slots.locker as string) as { owner: keyof typeof name; size: number };
      expect(scenario.identity).toEqual({ name: name[locker.owner] });
      expect(wish!.impossible).toBe(locker.size === 3);
      expect(noop).toBe(locker.size === 3);
      expect(actions).toEqual(noop ? [] : [{ name: 'give_up', arguments: { locker: wish!.slots.locker } }]);
      expect(people.reads).toEqual([{ name: 'get_locker', arguments: { locker: wish!.slots.locker } }]);
      expect(says(scenario.instruction, wish!.slots.locker as string)).toBe(true);
      expect(['impossible', 'pushy'].includes(scenario.persona)).toBe(noop);
    }
  });

  it('give who changes their mind another first value, with the plan that follows from it', () => {
    const customers = shares({ changes_mind: 0.5, confused: 0.5 });
    const changing = tasks({ conditions: { customers, tools: { outages: 0, stale_reads: 0, timeouts: 0 } } });
    expect(changing[0]!.id).toBe('lockers/hard/train/3~c500w500/0');
    for (const { scenario } of changing) {
      const { change, facts } = peopleOf(scenario)!;
      const final = facts.find(({ name }) => name === 'locker')!.value;
      const first = change!.first.value;
      expect(first).not.toBe(final);
      expect(scenario.wishes[0]!.insteadOf!.slots).toEqual({ locker: first });
      expect(change!.says).toBe(`no, ${String(final)} instead of ${String(first)}`);
      expect(change!.first.plan!.actions).toEqual([{ name: 'give_up', arguments: { locker: first } }]);
      expect(change!.first.plan!.proposals).toEqual([`give up ${String(first)}`]);
      for (const value of [first, final]) expect(says(scenario.instruction, String(value))).toBe(true);
    }
  });

  it('have wordings of their own in the split unseen', () => {
    const words = (split: string) => new Set(tasks({ split, count: 200 }).filter(({ scenario }) => scenario.wishes[0]!.intent === 'give_up').map(({ scenario }) => peopleOf(scenario)!.wish)); // prettier-ignore
    expect([...words('train')].sort()).toEqual(['I want to give up a locker.', 'Please take a locker back.']);
    expect([...words('unseen')]).toEqual(['My locker can go.']);
  });

  it('can be restricted to intents, and a wrong query is an error', () => {
    const conditions = { customers: shares({ upfront: 1 }), tools: { outages: 0, stale_reads: 0, timeouts: 0 } };
    const only = tasks({ conditions: { ...conditions, intents: ['rent_two'] } });
    expect(new Set(only.map(({ scenario }) => scenario.wishes[0]!.intent))).toEqual(new Set(['rent_two']));
    expect(() => tasks({ conditions: { ...conditions, intents: ['rent'] } })).toThrow("intents: 'rent' is unknown at level hard");
    expect(() => tasks({ level: 'nano' })).toThrow("level: 'nano' is unknown; expected one of easy, hard");
    expect(() => tasks({ split: 'attacks' })).toThrow("split: 'attacks' has no tasks");
  });

  it('are errors where a gold call fails', () => {
    const wrong = tableDomain(readToy((toy) => (toy.blueprints[0].gold[0].arguments.locker = '"locker_99999"')));
    expect(() => tasks({}, wrong)).toThrow(
      /^toy\.json: blueprints\[0\]\.gold\[0\]: give_up with .* answers “Error: no locker locker_99999”: expected success/,
    );
  });

  it('need the facts that the agent must tell', async () => {
    const task = tasks().find(({ scenario }) => scenario.wishes[0]!.intent === 'rent_two')!;
    const world = new World(task.world, domain.world(task.world) as ConstructorParameters<typeof World>[1]);
    const rows = new Overlay(world);
    for (const action of task.actions) expect(domain.execute(rows, action, 'hard').error).toBe(false);
    const reward = async (said: string[]) => (await domain.judge!({ task, rows, world, calls: [], said }))!.reward;
    const [fact] = peopleOf(task.scenario)!.tell;
    expect(await reward(['Done.'])).toBe(0);
    expect(await reward(['Done.', `The rent is ${fact!} euros.`])).toBe(1);
    expect(await reward([`The rent is 1${fact!}.`])).toBe(0);
  });
});

it.each([
  ['The fee is 5.', '5', true],
  ['The fee is 15.', '5', false],
  ['The fee is 5.50.', '5', false],
  ['The fee is 2.5.', '5', false],
  ['at 5:30', '5', false],
  ['I have cancelled book_5.', '5', false],
  ['task-5 is open.', '5', false],
  ['5, 6 and 7', '5', true],
  ['room_12 is free', 'room_1', false],
  ['THE  Red\nroom', 'the red room', true],
])('%s says %s: %s', (message, fact, expected) => {
  expect(says(message, fact)).toBe(expected);
});
