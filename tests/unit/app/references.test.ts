/** References between the tables of a world, and the diagram that shows them. */
import { expect, test } from 'vitest';
import { layOut, LINE, WIDTH } from '../../../src/app/worlds/diagram.ts';
import type { WorldTables } from '../../../src/environments/overlay.ts';
import type { Json } from '../../../src/records/json.ts';
import { FIRST, generatedDomains } from '../../../src/worlds/open-world.ts';
import { relations } from '../../../src/worlds/references.ts';

const world = (tables: Record<string, Record<string, Json>>): WorldTables =>
  new Map(Object.entries(tables).map(([name, rows]) => [name, new Map(Object.entries(rows))]));
/** The references as texts, such as `orders.user_id → users`. */
const found = (tables: WorldTables) =>
  relations(tables).flatMap(({ name, references }) => references.map(({ field, to }) => `${name}.${field} → ${to}`));
const generated = async (name: string) => {
  const { definition, worldId } = (await generatedDomains()).find((one) => one.definition.name === name)!;
  return definition.world(worldId(definition.levels[0]!, FIRST));
};

const flight = (flight_number: string) => ({
  flight_number,
  dates: { '2024-05-16': { status: 'available', available_seats: { economy: 2 } } },
});
const AIRLINE = world({
  flights: { F1: flight('F1'), F2: flight('F2'), F3: flight('F3') },
  reservations: {
    R1: {
      reservation_id: 'R1',
      user_id: 'ada',
      flights: [
        { flight_number: 'F1', price: 1 },
        { flight_number: 'F2', price: 2 },
      ],
    },
    R2: { reservation_id: 'R2', user_id: 'ada', flights: [{ flight_number: 'F2', price: 1 }] },
  },
  users: { ada: { user_id: 'ada', reservations: ['R1', 'R2'] }, bo: { user_id: 'bo', reservations: [] } },
});

test('in retail and telecom, ids that are keys of another table are references', async () => {
  const retail = await generated('retail');
  expect(found(retail).sort()).toEqual(['orders.items[].product_id → products', 'orders.user_id → users', 'users.orders[] → orders']);
  const orders = relations(retail).find(({ name }) => name === 'orders')!;
  expect(orders).toMatchObject({ key: 'order_id', count: retail.get('orders')!.size });
  const toUsers = orders.references.find(({ to }) => to === 'users')!;
  expect(toUsers.names).toEqual({ least: 1, most: 1 });
  // Count the references again from the rows.
  const counts = [...retail.get('users')!.keys()].map(
    (user) => [...retail.get('orders')!.values()].filter((order) => (order as { user_id: string }).user_id === user).length,
  );
  expect(toUsers.namedBy).toEqual({ least: Math.min(...counts), most: Math.max(...counts) });
  expect(found(await generated('telecom')).sort()).toEqual([
    'bills.customer_id → customers',
    'customers.bill_ids[] → bills',
    'customers.line_ids[] → lines',
    'lines.device_id → devices',
    'lines.plan_id → plans',
  ]);
});

test('in airline, a list of flights names several rows', () => {
  expect(found(AIRLINE).sort()).toEqual([
    'reservations.flights[].flight_number → flights',
    'reservations.user_id → users',
    'users.reservations[] → reservations',
  ]);
  const flights = relations(AIRLINE)
    .find(({ name }) => name === 'reservations')!
    .references.find(({ to }) => to === 'flights')!;
  expect(flights).toMatchObject({ names: { least: 1, most: 2 }, namedBy: { least: 0, most: 2 }, missing: 0 });
});

test('numbers that are equal to keys by chance are no references', () => {
  const rows = (make: (i: number) => Json) => Object.fromEntries(Array.from({ length: 9 }, (_, i) => [String(i + 1), make(i + 1)]));
  const tables = world({
    rooms: rows((i) => ({ id: i, floor: i, guests: 10 - i })),
    stays: rows((i) => ({ id: i, room: i, nights: 10 - i, status: 'open' })),
    empty: {},
  });
  expect(found(tables)).toEqual(['stays.room → rooms']);
});

test('a table can refer to itself, and one value in a hundred may have no row', () => {
  const people = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`p-${i}`, { id: `p-${i}`, manager: i === 0 ? null : i === 1 ? 'p-left' : `p-${i - 2}` }]),
  );
  const [table] = relations(world({ people }));
  expect(table).toMatchObject({ key: 'id', references: [{ field: 'manager', to: 'people', missing: 1, names: { least: 0, most: 1 } }] });
  const picture = layOut([table!]);
  expect(picture.boxes).toHaveLength(1);
  expect(picture.lines).toHaveLength(1);
  expect(picture.width).toBeGreaterThan(WIDTH);
});

/** Tables `t0` … `t39`. */
const forty = (refersTo: (i: number) => number[]) =>
  world(
    Object.fromEntries(
      Array.from({ length: 40 }, (_, t) => [
        `t${t}`,
        Object.fromEntries(
          Array.from({ length: 3 }, (_, row) => [
            `t${t}:${row}`,
            {
              id: `t${t}:${row}`,
              ...Object.fromEntries(refersTo(t).map((to) => [`link_${'abc'[to % 3]}${'xyz'[(to % 7) % 3]}`, `t${to}:${row}`])),
            },
          ]),
        ),
      ]),
    ),
  );

test.each([
  ['no reference', () => []],
  ['a chain with a cycle over all', (t: number) => [(t + 1) % 40]],
  ['one table that all name', (t: number) => (t === 0 ? [] : [0])],
  ['a web with long lines', (t: number) => [(t + 1) % 40, (t + 11) % 40]],
])('forty tables with %s: no box lies over another, and each reference has a line', (_, refersTo: (t: number) => number[]) => {
  const tables = relations(forty(refersTo));
  const { boxes, lines, width, height } = layOut(tables);
  expect(boxes.map(({ table }) => table.name).sort()).toEqual(tables.map(({ name }) => name).sort());
  expect(lines).toHaveLength(tables.flatMap(({ references }) => references).length);
  expect(lines.length > 0).toBe(refersTo(1).length > 0);
  for (const { path } of lines) expect(path).not.toMatch(/NaN|undefined/);
  for (const a of boxes) {
    expect(a.left + WIDTH).toBeLessThanOrEqual(width);
    expect(a.top + a.height).toBeLessThanOrEqual(height);
    expect(a.height).toBeGreaterThanOrEqual(2 * LINE);
    for (const b of boxes)
      if (a !== b)
        expect(a.left + WIDTH <= b.left || b.left + WIDTH <= a.left || a.top + a.height <= b.top || b.top + b.height <= a.top).toBe(true);
  }
});
