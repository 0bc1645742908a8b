/** Small test data in the file formats of tau-bench and tau2-bench: texts by path. */
export type Data = Record<string, string>;

const json = (value: unknown) => JSON.stringify(value);
const address = { address1: '1 Elm St', address2: '', city: 'Town', country: 'USA', state: 'CA', zip: '90001' };
const order = {
  order_id: '#W1',
  user_id: 'ada_1',
  address,
  status: 'pending',
  fulfillments: [],
  items: [{ name: 'Mug', product_id: '200', item_id: '9', price: 10.5, options: { size: 'S' } }],
  payment_history: [{ transaction_type: 'payment', amount: 10.5, payment_method_id: 'gift_card_1' }],
};
const user = {
  user_id: 'ada_1',
  name: { first_name: 'Ada', last_name: 'Brown' },
  address,
  email: 'ada@example.com',
  payment_methods: { gift_card_1: { source: 'gift_card', id: 'gift_card_1', balance: 20 } },
  orders: ['#W1'],
};
/** A text, because JavaScript sorts the keys of an object that look like integers. */
const products =
  '{"200": {"name": "Mug", "product_id": "200", "variants": {"9": {"item_id": "9", "options": {"size": "S"}, "available": true, "price": 10.5}, "10": {"item_id": "10", "options": {"size": "L"}, "available": true, "price": 12}, "3": {"item_id": "3", "options": {"size": "M"}, "available": false, "price": 11}}}, "100": {"name": "Cup", "product_id": "100", "variants": {}}}';

export const cancelCall = { name: 'cancel_pending_order', arguments: { order_id: '#W1', reason: 'no longer needed' } };
const instruction = 'You are Ada Brown in 90001. Cancel your order of a mug, and ask what comes back.';

export const tau1Retail: Data = {
  'orders.json': json({ '#W1': order }),
  'users.json': json({ ada_1: user }),
  'products.json': products,
  'tasks_test.json': json([
    { user_id: 'ada_1', instruction, actions: [{ name: cancelCall.name, kwargs: cancelCall.arguments }], outputs: ['10.5'] },
    {
      user_id: 'ada_1',
      instruction: 'You want what cannot be had.',
      actions: [{ name: 'transfer_to_human_agents', kwargs: { summary: 's' } }],
      outputs: [],
    },
  ]),
  'wiki.md': '# Retail policy\n',
};

export const tau2Retail: Data = {
  'db.json': `{"products": ${products}, "users": ${json({ ada_1: user })}, "orders": ${json({ '#W1': order })}}`,
  'tasks.json': json([
    {
      id: '0',
      user_scenario: { instructions: { reason_for_call: instruction } },
      evaluation_criteria: {
        actions: [{ action_id: 'a', ...cancelCall }],
        nl_assertions: ['The agent is polite.'],
        communicate_info: ['10.5'],
        reward_basis: ['DB', 'NL_ASSERTION', 'COMMUNICATE'],
      },
    },
  ]),
  'split_tasks.json': json({ train: ['0'], test: ['1'], base: ['0', '1'] }),
  'policy.md': '# Policy\n',
};

export const tau2Mock: Data = {
  'db.json': json({
    tasks: { task_1: { task_id: 'task_1', title: 'A', description: null, status: 'pending' } },
    users: { user_1: { user_id: 'user_1', name: 'U', tasks: ['task_1'] } },
  }),
  'user_db.json': json({ notifications: {} }),
  'tasks.json': json([
    {
      id: 'done',
      user_scenario: { instructions: 'Have task_1 marked as completed.' },
      initial_state: {
        initialization_actions: [
          { env_type: 'user', func_name: 'add_notification', arguments: { notification_id: 'n1', message: 'Task' } },
        ],
      },
      evaluation_criteria: {
        actions: [{ action_id: 'a', name: 'update_task_status', arguments: { task_id: 'task_1', status: 'completed' } }],
        env_assertions: [
          { env_type: 'user', func_name: 'assert_notification_status', arguments: { notification_id: 'n1', expected_status: 'read' } },
        ],
        reward_basis: ['DB', 'ACTION', 'ENV_ASSERTION'],
      },
    },
  ]),
  'policy.md': '# Policy\n',
};

export const tau2Telecom: Data = {
  'db.toml': [
    '[[plans]]',
    'plan_id = "P1"',
    'name = "Plan"',
    'data_limit_gb = 5.0',
    'price_per_month = 40.0',
    'data_refueling_price_per_gb = 2.0',
    '[[lines]]',
    'line_id = "L1"',
    'phone_number = "555-1"',
    'status = "Active"',
    'plan_id = "P1"',
    'contract_end_date = 2026-12-31',
    '[[customers]]',
    'customer_id = "C1"',
    'full_name = "Ada Brown"',
    'date_of_birth = "1990-02-03"',
    'email = "a@example.com"',
    'phone_number = "555-1"',
    'line_ids = ["L1"]',
    'created_at = 2024-05-06T07:08:09',
    '[customers.address]',
    'street = "1 Elm St"',
    'city = "Town"',
    'state = "CA"',
    'zip_code = "90001"',
  ].join('\n'),
  'user_db.toml': '[device]\nwifi_enabled = true\n[surroundings]\nphone_number = "555-1"\n',
  'tasks.json': json([
    {
      id: 't',
      user_scenario: { instructions: {} },
      evaluation_criteria: { actions: [], env_assertions: [], reward_basis: ['ENV_ASSERTION'] },
    },
  ]),
  'main_policy.md': 'MAIN',
  'tech_support_manual.md': 'MANUAL',
};

const airlineUser = {
  name: { first_name: 'Bo', last_name: 'Lee' },
  address: {},
  email: 'b@example.com',
  dob: '1980-01-01',
  payment_methods: {},
  saved_passengers: [],
  membership: 'gold',
  reservations: [],
};
export const tau1Airline: Data = {
  'flights.json': json({
    HAT001: {
      flight_number: 'HAT001',
      origin: 'SFO',
      destination: 'JFK',
      scheduled_departure_time_est: '06:00:00',
      scheduled_arrival_time_est: '11:00:00',
      dates: { '2024-05-20': { status: 'available', available_seats: {}, prices: {} } },
    },
  }),
  'reservations.json': '{}',
  'users.json': json({ bo_1: airlineUser }),
  'tasks_test.json': json([{ user_id: 'bo_1', instruction: 'i', actions: [], outputs: [] }]),
  'wiki.md': '# Airline policy\n',
};

export const bytes = (text: string) => new TextEncoder().encode(text);
export const files = (data: Data, folder = ''): [string, Uint8Array][] =>
  Object.entries(data).map(([name, text]) => [folder + name, bytes(text)]);

/** Results of tau2-bench with one conversation, in which the customer uses a tool of their own. */
export const TAU2_RESULTS = {
  tasks: [{ id: '5', evaluation_criteria: { actions: [{ name: 'fix', arguments: {} }] } }],
  simulations: [
    {
      task_id: '5',
      trial: 0,
      termination_reason: 'user_stop',
      reward_info: { reward: 1 },
      messages: [
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: null, tool_calls: [{ id: 'u', name: 'look', arguments: {}, requestor: 'user' }] },
        { role: 'tool', id: 'u', content: 'on', requestor: 'user' },
        { role: 'user', content: 'It is on.' },
      ],
    },
  ],
};
