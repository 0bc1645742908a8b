/** Which conditions are computed after a write: all that can have become false, and no others. */
import { expect, it, vi } from 'vitest';
import type { Json } from '../../../src/records/json.ts';
import { broken } from '../../../src/scenarios/invariants.ts';
import { readToy } from '../../support/toy-scenario.ts';

const PERSON = { id: 'person_1', name: 'Ann' };
const locker = (id: string, more: object = {}) => ({ id, owner: 'person_1', size: 1, rent: 2.5, tags: ['dry'], ...more });

function state(people: readonly { id: string }[], lockers: readonly { id: string }[]) {
  const tables: Record<string, Map<string, Json>> = {
    person: new Map(people.map((row) => [row.id, row as Json])),
    locker: new Map(lockers.map((row) => [row.id, row as Json])),
  };
  return { keys: (table: string) => [...tables[table]!.keys()], get: (table: string, key: string) => tables[table]!.get(key) };
}
const checking = (check: string, table = 'locker') => readToy((toy) => (toy.tables[table].invariants = [{ check, text: 'it is false' }]));
const [ONE, TWO] = [[locker('locker_1')], [locker('locker_1'), locker('locker_2')]];

it.each([
  ['a value of the row', checking('row.rent <= 2.0'), state([PERSON], ONE), 'locker'],
  ['another row of the table', checking('size(tables.locker) < 2'), state([PERSON], TWO), 'locker'],
  ['a table that a condition of another table names', checking('size(tables.locker) < 2', 'person'), state([PERSON], TWO), 'locker'],
  ['a table that is named with a blank', checking('size(tables . locker) < 2', 'person'), state([PERSON], TWO), 'locker'],
  ['a table that is named by its text', checking('size(tables["locker"]) < 2', 'person'), state([PERSON], TWO), 'locker'],
])('finds %s', (_, own, rows, changed) => {
  expect(broken(own, rows)).toBe('it is false');
  expect(broken(own, rows, new Set([changed]))).toBe('it is false');
});

it('finds a row whose reference was deleted', () => {
  const rows = state([], ONE);
  expect(broken(readToy(), rows, new Set(['person']))).toContain('no person has the key "person_1"');
});

it('computes no condition that reads only what has not changed', () => {
  const own = checking('size(tables.locker) < 9 && row.rent > 0.0');
  const computed = vi.spyOn(own.cel, 'true');
  expect(broken(own, state([PERSON], TWO), new Set(['person']))).toBeUndefined();
  expect(computed).not.toHaveBeenCalled();
  expect(broken(own, state([PERSON], TWO), new Set(['locker']))).toBeUndefined();
  expect(computed).toHaveBeenCalledTimes(2);
});
