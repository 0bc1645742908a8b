/** The exact domains on small databases: common behaviour of the benchmarks, and their differences. */
import { describe, expect, test } from 'vitest';
import type { Benchmark } from '../../../src/records/benchmark-task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ExactDomain } from '../../../src/domains/exact/types.ts';
import { benchmarkDomain } from '../../../src/benchmarks/named.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import { parseOrdered } from '../../../src/domains/exact/ordered-json.ts';
import { Overlay, World } from '../../../src/environments/overlay.ts';

const address = { address1: '1 Elm Street', address2: '', city: 'Boston', country: 'USA', state: 'MA', zip: '02101' };
const name = { first_name: 'Ada', last_name: 'Brown' };

const SHOP = `{
  "products": { "11": { "name": "Mug", "product_id": "11", "variants": {
    "22": { "item_id": "22", "options": { "color": "red" }, "available": true, "price": 10.5 },
    "21": { "item_id": "21", "options": { "color": "blue" }, "available": true, "price": 12 },
    "23": { "item_id": "23", "options": { "color": "gold" }, "available": false, "price": 99 },
    "24": { "item_id": "24", "options": { "color": "green" }, "available": true, "price": 8.25 } } } },
  "users": { "ada": { "user_id": "ada", "name": ${JSON.stringify(name)}, "address": ${JSON.stringify(address)}, "email": "ada@example.com",
    "payment_methods": { "paypal_1": { "source": "paypal", "id": "paypal_1" }, "gift_card_1": { "source": "gift_card", "id": "gift_card_1", "balance": 5 } }, "orders": ["#W1"] } },
  "orders": { "#W1": { "order_id": "#W1", "user_id": "ada", "address": ${JSON.stringify(address)}, "status": "pending", "fulfillments": [],
    "items": [{ "name": "Mug", "product_id": "11", "item_id": "22", "price": 10.5, "options": { "color": "red" } }, { "name": "Mug", "product_id": "11", "item_id": "21", "price": 12, "options": { "color": "blue" } }],
    "payment_history": [{ "transaction_type": "payment", "amount": 22.5, "payment_method_id": "paypal_1" }] } } }`;

const open = (seats: number, price: number) => ({
  status: 'available',
  available_seats: { basic_economy: seats, economy: seats, business: seats },
  prices: { basic_economy: price, economy: 2 * price, business: 3 * price },
});
const flight = (flight_number: string, origin: string, destination: string, departure: string, arrival: string, dates: Json) => ({
  flight_number,
  origin,
  destination,
  scheduled_departure_time_est: departure,
  scheduled_arrival_time_est: arrival,
  dates,
});
const AIRLINE = {
  flights: {
    F1: flight('F1', 'SFO', 'DEN', '08:00:00', '10:00:00', { '2024-05-16': open(2, 50), '2024-05-17': { status: 'cancelled' } }),
    F2: flight('F2', 'DEN', 'BOS', '11:00:00', '15:00:00', { '2024-05-16': open(3, 60) }),
    F3: flight('F3', 'SFO', 'LAS', '22:00:00', '01:00:00+1', { '2024-05-16': open(3, 30) }),
    F4: flight('F4', 'LAS', 'BOS', '09:00:00', '12:00:00', { '2024-05-16': open(1, 40), '2024-05-17': open(2, 70) }),
  },
  users: {
    ada: {
      user_id: 'ada',
      name,
      address,
      email: 'ada@example.com',
      dob: '1990-01-31',
      saved_passengers: [],
      membership: 'gold',
      reservations: [],
      payment_methods: {
        credit_card_1: { source: 'credit_card', id: 'credit_card_1', brand: 'visa', last_four: '1234' },
        gift_card_1: { source: 'gift_card', id: 'gift_card_1', amount: 200 },
        certificate_1: { source: 'certificate', id: 'certificate_1', amount: 100 },
      },
    },
  },
  reservations: {},
};
const MOCK = {
  tasks: { task_1: { task_id: 'task_1', title: 'Tea', description: null, status: 'pending' } },
  users: { ada: { user_id: 'ada', name: 'Ada', tasks: ['task_1'] } },
};
const NOTIFICATIONS = { notifications: { n1: { notification_id: 'n1', message: 'Tea is ready.' } } };

function begin(domain: ExactDomain) {
  const database =
    domain.name === 'retail' ? parseOrdered(SHOP) : (structuredClone(domain.name === 'airline' ? AIRLINE : MOCK) as unknown as Json);
  const rows = new Overlay(new World('small', domain.load(database, domain.name === 'mock' ? structuredClone(NOTIFICATIONS) : undefined)));
  const call = (tool: string, args: Record<string, Json>, requestor?: 'user') => {
    const draft = new Overlay(rows);
    const { text, error } = domain.execute(draft, { name: tool, arguments: args, ...(requestor && { requestor }) });
    if (!error) rows.apply(draft.changes());
    return text;
  };
  return { rows, call, json: (tool: string, args: Record<string, Json>) => JSON.parse(call(tool, args)) as Record<string, Json> };
}

const both: Benchmark[] = ['tau1', 'tau2'];

describe('retail', () => {
  const order = { order_id: '#W1' };

  test('variants keep the order of the file, also with ids that look like integers', () => {
    for (const benchmark of both) {
      const { call } = begin(exactDomain('retail', benchmark));
      expect(call('get_product_details', { product_id: '11' })).toMatch(/"22": .*"21": .*"23": .*"24": /);
    }
  });

  test("errors have the benchmark's texts", () => {
    const texts = both.map((benchmark) => {
      const { call } = begin(exactDomain('retail', benchmark));
      const items = { ...order, payment_method_id: 'paypal_1' };
      return [
        call('get_order_details', { order_id: '__proto__' }),
        call('modify_pending_order_items', { ...items, item_ids: ['22'], new_item_ids: ['77'] }),
        call('modify_pending_order_items', { ...items, item_ids: ['22'], new_item_ids: ['23'] }),
        call('modify_pending_order_items', { ...items, item_ids: ['22', '21'], new_item_ids: ['24'] }),
        call('get_shoes', {}),
        call('calculate', { expression: '2 ^ 2' }),
      ];
    });
    expect(texts).toEqual([
      [
        'Error: order not found',
        'Error: new item 77 not found or available',
        'Error: new item 23 not found or available',
        'Error: the number of items to be exchanged should match',
        'Unknown action get_shoes',
        'Error: invalid characters in expression',
      ],
      [
        'Error: Order not found',
        'Error: Variant not found',
        'Error: New item 23 not found or available',
        'Error: The number of items to be exchanged should match',
        "Error: Tool 'get_shoes' not found.",
        'Error: Invalid characters in expression',
      ],
    ]);
  });

  test('an object is not accepted as a list of items; the user has no tools', () => {
    const items = { item_ids: { 22: 1 }, new_item_ids: ['24'], payment_method_id: 'paypal_1' };
    for (const benchmark of both) {
      const { rows, call } = begin(exactDomain('retail', benchmark));
      expect(call('modify_pending_order_items', { ...order, ...items })).toMatch(/^Error: ./);
      expect(rows.changes()).toEqual([]);
    }
    expect(begin(exactDomain('retail', 'tau2')).call('get_order_details', order, 'user')).toBe('Error: User tools not available');
  });

  test('tau2 gives every modified item the price of the last item, and still lets the address be modified', () => {
    const [one, two] = both.map((benchmark) => {
      const { call, json } = begin(exactDomain('retail', benchmark));
      const { items, payment_history } = json('modify_pending_order_items', {
        ...order,
        item_ids: ['22', '21'],
        new_item_ids: ['24', '22'],
        payment_method_id: 'paypal_1',
      });
      const moved = call('modify_pending_order_address', { ...order, ...address, city: 'Salem' });
      return {
        prices: (items as { item_id: string; price: number }[]).map(({ item_id, price }) => `${item_id} ${price}`),
        paid: (payment_history as Json[])[1],
        moved,
      };
    });
    expect(one).toEqual({
      prices: ['24 8.25', '22 10.5'],
      paid: { transaction_type: 'refund', amount: 3.75, payment_method_id: 'paypal_1' },
      moved: 'Error: non-pending order cannot be modified',
    });
    expect(two!.prices).toEqual(['24 10.5', '22 10.5']);
    expect(two!.paid).toEqual(one!.paid);
    expect(two!.moved).toContain('"city": "Salem", "country": "USA"');
    expect(two!.moved).toContain('"return_items": null');
  });
});

describe('airline', () => {
  const booking = {
    user_id: 'ada',
    origin: 'SFO',
    destination: 'DEN',
    flight_type: 'one_way',
    cabin: 'economy',
    flights: [{ date: '2024-05-16', flight_number: 'F1' }],
    passengers: [{ ...name, dob: '1990-01-31' }],
    payment_methods: [
      { payment_id: 'certificate_1', amount: 10 },
      { payment_id: 'gift_card_1', amount: 170 },
    ],
    total_baggages: 1,
    nonfree_baggages: 1,
    insurance: 'yes',
  };

  test.each<[Benchmark, string, number, string]>([
    ['tau1', '{"date": "2024-05-16", "flight_number": "F1", "price": 100', 2, 'economy'],
    ['tau2', '{"flight_number": "F1", "origin": "SFO"', 1, 'business'],
  ])('a booking and its change in %s', (benchmark, leg, seats, cabin) => {
    const { rows, call, json } = begin(exactDomain('airline', benchmark));
    expect(call('book_reservation', booking)).toContain(leg);
    expect(rows.get('flights', 'F1')).toMatchObject({ dates: { '2024-05-16': { available_seats: { economy: seats } } } });
    expect(rows.get('users', 'ada')).toMatchObject({ reservations: ['HATHAT'], payment_methods: { gift_card_1: { amount: 30 } } });
    expect(Object.keys((rows.get('users', 'ada') as { payment_methods: object }).payment_methods)).toEqual([
      'credit_card_1',
      'gift_card_1',
    ]);
    const changed = json('update_reservation_flights', {
      reservation_id: 'HATHAT',
      cabin: 'business',
      flights: booking.flights,
      payment_id: 'credit_card_1',
    });
    expect(changed).toMatchObject({ cabin, payment_history: [...booking.payment_methods, { payment_id: 'credit_card_1', amount: 50 }] });
    expect(
      call('update_reservation_baggages', { reservation_id: 'HATHAT', total_baggages: 3, nonfree_baggages: 3, payment_id: 'gift_card_1' }),
    ).toBe(benchmark === 'tau1' ? 'Error: gift card balance is not enough' : 'Error: Gift card balance is not enough');
  });

  test('only tau2 validates arguments', () => {
    const answers = both.map((benchmark) => {
      const { rows, call } = begin(exactDomain('airline', benchmark));
      const text = call('book_reservation', {
        ...booking,
        insurance: 'maybe',
        payment_methods: [{ payment_id: 'credit_card_1', amount: 150 }],
      });
      return [text.startsWith('Error: '), rows.changes().length];
    });
    expect(answers).toEqual([
      [false, 2],
      [true, 0],
    ]);
  });

  test("a connection that leaves on the next day shows that day's seats in tau2 only", () => {
    const [one, two] = both.map((benchmark) => {
      const { call } = begin(exactDomain('airline', benchmark));
      return JSON.parse(call('search_onestop_flight', { origin: 'SFO', destination: 'BOS', date: '2024-05-16' })) as {
        flight_number: string;
        date: string;
        prices: { economy: number };
      }[][];
    });
    const shown = (results: typeof one) =>
      results!.map((legs) => legs.map(({ flight_number, date, prices }) => `${flight_number} ${date} ${prices.economy}`));
    expect(shown(one)).toEqual([
      ['F1 2024-05-16 100', 'F2 2024-05-16 120'],
      ['F3 2024-05-16 60', 'F4 2024-05-17 80'],
    ]);
    expect(shown(two)).toEqual([
      ['F1 2024-05-16 100', 'F2 2024-05-16 120'],
      ['F3 2024-05-16 60', 'F4 2024-05-17 140'],
    ]);
  });

  test('a fourth certificate is refused', () => {
    for (const benchmark of both) {
      const { call } = begin(exactDomain('airline', benchmark));
      const texts = [1, 2, 3, 4].map((amount) => call('send_certificate', { user_id: 'ada', amount }));
      expect(texts[2]).toBe('Certificate certificate_3221324 added to user ada with amount 3.');
      expect(texts[3]).toMatch(/^Error: /);
    }
  });

  test('a bad database is refused with its path', () => {
    expect(() =>
      exactDomain('airline', 'tau2').load({ ...AIRLINE, users: { ada: { ...AIRLINE.users.ada, dob: 7 } } } as unknown as Json),
    ).toThrow('airline: users.ada.dob must be a string');
    expect(() => exactDomain('airline', 'tau1').load({ flights: {}, users: {} })).toThrow('airline: reservations must be an object');
  });
});

describe('mock', () => {
  const domain = exactDomain('mock', 'tau2');
  const create = { user_id: 'ada', title: 'Cake' };
  const answer = '{"task_id":"task_2","title":"Cake","description":null,"status":"pending"}';

  test('each side has its own tools and database', () => {
    const { rows, call } = begin(domain);
    expect(call('create_task', create)).toBe('{"task_id": "task_2", "title": "Cake", "description": null, "status": "pending"}');
    expect(call('check_notifications', {})).toBe("Error: Tool 'check_notifications' not found.");
    expect(call('dismiss_notification', { notification_id: 'n1' }, 'user')).toBe('Notification n1 dismissed');
    expect(domain.dumpUser(rows)).toEqual({
      notifications: { n1: { notification_id: 'n1', message: 'Tea is ready.', status: 'read', task_id: null } },
    });
    expect(domain.assertion(rows, 'user', 'assert_notification_status', { notification_id: 'n1', expected_status: 'read' })).toBe(true);
    expect(domain.assertion(rows, 'assistant', 'assert_number_of_tasks', { user_id: 'ada', expected_number: 3 })).toBe(false);
    expect(() => domain.assertion(rows, 'assistant', 'assert_task_status', { task_id: 'task_9', expected_status: 'pending' })).toThrow(
      'Task task_9 not found',
    );
  });

  test('initial data is merged in, and makes both sides share a database', () => {
    const { rows, call } = begin(domain);
    domain.initialize(rows, { initialization_data: { agent_data: { users: { ada: { tasks: [] } } } } });
    expect(domain.dump(rows)).toMatchObject({ users: { ada: { name: 'Ada', tasks: [] } } });
    expect(domain.dumpUser(rows)).toEqual(domain.dump(rows));
    expect(call('check_notifications', {}, 'user')).toMatch(/^Error: /);
  });

  test('actions and a history give the same state; a history with other results is refused', () => {
    const history = (content: string) => ({
      message_history: [
        { role: 'user', content: 'Cake!' },
        { role: 'assistant', tool_calls: [{ id: 'a', name: 'create_task', arguments: create }] },
        { role: 'tool', id: 'a', content },
      ] as unknown as Json[],
    });
    const [one, two, three] = [begin(domain), begin(domain), begin(domain)];
    domain.initialize(one.rows, { initialization_actions: [{ env_type: 'assistant', func_name: 'create_task', arguments: create }] });
    domain.initialize(two.rows, history(answer));
    expect(domain.dump(one.rows)).toEqual(domain.dump(two.rows));
    expect(() => domain.initialize(three.rows, history(answer.replace('task_2', 'task_7')))).toThrow(
      'message_history: create_task answered',
    );
    expect(() =>
      domain.initialize(three.rows, { initialization_actions: [{ env_type: 'user', func_name: 'break_vpn', arguments: {} }] }),
    ).toThrow("mock has no 'break_vpn' for the user");
  });
});

test('an unknown benchmark or domain is refused, and the message lists the known ones', () => {
  expect(() => benchmarkDomain('tau1', 'mock')).toThrow("domain: tau1 has no 'mock'; it has retail, airline");
  expect(() => benchmarkDomain('tau9', 'mock')).toThrow("benchmark: 'tau9' is unknown; expected tau1 or tau2");
});
