/** What the page says that worlds hold. */
import { expect, test } from 'vitest';
import { holds, tableWords } from '../../../src/app/worlds/holds.ts';

test.each([
  [1, 'users', 'user'],
  [2, 'users', 'users'],
  [1, 'entity', 'entity'],
  [3, 'entity', 'entities'],
  [1, 'categories', 'category'],
  [2, 'person', 'people'],
  [3, 'waiting', 'waiting'],
  [2, 'address', 'addresses'],
  [1, 'addresses', 'address'],
  [0, 'key', 'keys'],
  [2, 'gift_card', 'gift cards'],
  [1, 'gift_cards', 'gift card'],
  [2, 'course', 'courses'],
  [1, 'courses', 'course'],
  [1, 'invoices', 'invoice'],
])('%i of the table %s: %s', (n, table, words) => expect(tableWords(n, table)).toBe(words));

test('levels show the fewest and the most rows of each table', () => {
  const small = [{ table: 'member', count: 8 }, { table: 'desk', count: 1 }]; // prettier-ignore
  const large = [{ table: 'member', count: 1200 }, { table: 'desk', count: 1 }, { table: 'loan', count: 2 }]; // prettier-ignore
  expect(holds([small, large])).toBe('8–1,200 members, 1 desk, 2 loans');
  expect(holds([[]])).toBe('');
});
