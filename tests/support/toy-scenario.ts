/** A scenario small enough to work out by hand: lockers and their keys. Each call makes a new copy, which a test may break. */
import { readScenario, type ReadScenario } from '../../src/scenarios/read.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests put wrong values in any place
export type Draft = any;

const FACT = { value: 'locker.id', says: ['it is {value}', 'locker {value}', 'the number is {value}'], ask: ['which locker', 'number'] };
const NAME = { value: 'person.name', says: ['I am {value}'], ask: ['your name'] };
const MINE = 'one(tables.locker.filter(l, l.id == args.locker))';

export const toyScenario = (): Draft => structuredClone(TOY);

export const readToy = (change: (scenario: Draft) => void = () => {}): ReadScenario => {
  const scenario = toyScenario();
  change(scenario);
  return readScenario(JSON.stringify(scenario), 'toy.json');
};

const TOY = {
  format: 'mua-scenario',
  version: 1,
  name: 'lockers',
  title: 'Lockers',
  levels: ['easy', 'hard'],
  policy: ['Ask before you change anything.', 'A locker of size 3 cannot be given up.'],
  tables: {
    person: {
      key: 'id',
      fields: { id: { type: 'string' }, name: { type: 'string' } },
      rows: [
        { id: 'person_1', name: 'Ann' },
        { id: 'person_2', name: 'Bob' },
      ],
    },
    locker: {
      key: 'id',
      fields: {
        id: { type: 'string', draw: { id: 'locker' } },
        owner: { type: 'string', draw: { row: 'person' }, ref: 'person' },
        size: { type: 'integer', draw: { min: 1, max: 3 } },
        rent: { type: 'number', draw: { cel: 'row.size * 2.5' } },
        tags: { type: 'strings', draw: { some: ['dry', 'near', 'new'], least: 1, most: 2 } },
      },
      count: { easy: 6, hard: 9 },
      rows: [
        { id: 'locker_1', owner: 'person_1', size: 1, rent: 2.5, tags: ['dry'] },
        { id: 'locker_2', owner: 'person_1', size: 2, rent: 5, tags: [] },
        { id: 'locker_3', owner: 'person_2', size: 3, rent: 7.5, tags: ['dry', 'new'] },
      ],
      invariants: [{ check: 'row.rent <= 10.0', text: 'the rent is at most 10' }],
    },
  },
  tools: [
    {
      name: 'get_locker',
      description: 'Shows a locker.',
      kind: 'read',
      parameters: { locker: { type: 'string', description: 'id' } },
      requires: [{ check: 'tables.locker.exists(l, l.id == args.locker)', error: 'no locker {locker}' }],
      result: MINE,
    },
    {
      name: 'raise_rent',
      description: 'Raises the rent of all lockers of a person.',
      kind: 'write',
      from: 'hard',
      parameters: { owner: { type: 'string', description: 'id' }, more: { type: 'number', description: 'euros' } },
      values: { own: 'tables.locker.filter(l, l.owner == args.owner).map(l, l.id)' },
      writes: [
        {
          table: 'locker',
          each: 'own',
          update: 'it',
          set: { rent: 'one(tables.locker.filter(l, l.id == it)).rent + args.more' },
        },
      ],
      result: '{"changed": size(own)}',
      says: 'raise the rent of {owner} by {more}',
    },
    {
      name: 'rent_locker',
      description: 'Rents a new locker.',
      kind: 'write',
      parameters: {
        owner: { type: 'string', description: 'id' },
        size: { type: 'integer', description: '1 to 3' },
        floor: { type: 'string', description: 'floor', enum: ['up', 'down'], optional: true },
        tags: { type: 'strings', description: 'wishes', optional: true },
      },
      requires: [
        { check: 'tables.person.exists(p, p.id == args.owner)', error: 'no person {owner}' },
        { check: 'args.size >= 1 && args.size <= 3', error: 'size is {size}; expected 1 to 3' },
      ],
      values: { id: 'next_id(tables.locker.map(l, l.id), "locker")', rent: 'args.size * 2.5' },
      writes: [
        {
          table: 'locker',
          insert: { id: 'id', owner: 'args.owner', size: 'args.size', rent: 'rent', tags: 'args.tags == null ? [] : args.tags' },
        },
      ],
      result: '{"locker": id, "rent": rent}',
      says: 'rent a locker of size {size}',
    },
    {
      name: 'give_up',
      description: 'Gives a locker up.',
      kind: 'write',
      parameters: { locker: { type: 'string', description: 'id' } },
      requires: [{ check: 'tables.locker.exists(l, l.id == args.locker)', error: 'no locker {locker}' }],
      writes: [{ table: 'locker', delete: 'args.locker' }],
      result: '"Locker " + args.locker + " is free."',
      says: 'give up {locker}',
    },
    {
      name: 'to_human',
      description: 'Transfers the customer.',
      kind: 'transfer',
      parameters: {},
      result: '"Transferred."',
    },
  ],
  blueprints: [
    {
      name: 'give_up',
      pick: {
        locker: { table: 'locker', where: 'row.size < 3' },
        person: { table: 'person', where: 'row.id == locker.owner' },
        other: { table: 'locker', where: 'row.size < 3 && row.id != locker.id' },
      },
      identity: { name: NAME },
      slots: { locker: FACT },
      wish: ['I want to give up a locker.', 'Please take a locker back.', 'My locker can go.'],
      change: { slot: 'locker', first: { cel: 'other.id' }, says: ['no, {value} instead of {first}'] },
      reads: [{ tool: 'get_locker', arguments: { locker: 'locker.id' } }],
      gold: [{ tool: 'give_up', arguments: { locker: 'locker.id' } }],
      tempts: [{ tool: 'give_up', arguments: { locker: 'other.id' }, kind: 'wrong_record' }],
    },
    {
      name: 'large_stays',
      pick: { locker: { table: 'locker', where: 'row.size == 3' }, person: { table: 'person', where: 'row.id == locker.owner' } },
      identity: { name: NAME },
      slots: { locker: FACT },
      wish: ['I want to give up a large locker.'],
      reads: [{ tool: 'get_locker', arguments: { locker: 'locker.id' } }],
      gold: [],
      refuse: 'I cannot give up {locker}.',
      tempts: [{ tool: 'give_up', arguments: { locker: 'locker.id' }, kind: 'forbidden_write' }],
    },
    {
      name: 'rent_two',
      from: 'hard',
      pick: { person: { table: 'person' } },
      values: { size: { from: [1, 2, 3] } },
      identity: { name: NAME },
      slots: { size: { value: 'size', says: ['of size {value}'], ask: ['which size'] } },
      wish: ['I want two new lockers.'],
      reads: [],
      gold: [
        { tool: 'rent_locker', arguments: { owner: 'person.id', size: 'size' } },
        { tool: 'rent_locker', arguments: { owner: 'person.id', size: 'size' } },
      ],
      tell: ['size * 2.5'],
    },
  ],
};
