/** Our telecom domain against tau2-bench's own: gold and hostile calls recorded from the original Python code. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { InitialState, Requestor } from '../../../src/records/benchmark-task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ToolCall, ToolSchema } from '../../../src/records/task.ts';

import { canonicalJson, cloneJson } from '../../../src/base/json.ts';
import { Overlay, World, type Rows } from '../../../src/environments/overlay.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { FAULTS } from '../../../src/domains/telecom/faults.ts';
import { makeTelecomTasks, type TelecomTask } from '../../../src/domains/telecom/generator.ts';
import { telecom } from '../../../src/domains/telecom/exact.ts';
import { makeProvider, parseProviderId } from '../../../src/domains/telecom/records.ts';
import { recordJson } from '../../../src/domains/telecom/schema.ts';

interface Recorded {
  tool: string;
  arguments: Record<string, Json>;
  requestor?: Requestor;
  content: string;
  error: boolean;
  python_text?: boolean;
  agent_db_hash?: string;
  user_db_hash?: string;
}
interface Assertion {
  env_type: Requestor;
  func_name: string;
  arguments: Record<string, Json>;
  assert_value: boolean;
  met: boolean;
}
interface Hashes {
  agent_db_hash: string;
  user_db_hash: string;
}
interface GoldTask {
  id: string;
  initial_state: InitialState;
  after_init: Hashes;
  assertions_before: boolean[];
  actions: (Omit<Recorded, 'tool'> & { name: string })[];
  final: Hashes & { agent: { sha256_js: string }; user: { sha256_js: string } };
  env_assertions: Assertion[];
}
interface Gold {
  tools: Record<'agent' | 'user', ToolSchema[]>;
  initial: Hashes & { agent: { sha256_js: string; db: Json }; user: { sha256_js: string; db: Json } };
  tasks: GoldTask[];
}
interface Hostile {
  domain: string;
  name: string;
  init?: [string, string, Json][];
  calls: Recorded[];
  db: { unchanged?: true; agent_sha256_js: string; user_sha256: string };
}

const data = resolve(import.meta.dirname, '../../../../shared/data');
const present = existsSync(resolve(data, 'expected/tau2_telecom.json'));
if (!present) console.warn(`SKIPPED: tests against tau2-bench's reference data: ${data} does not exist`);
const reference = test.skipIf(!present);

const readJson = (path: string) => JSON.parse(readFileSync(resolve(data, path), 'utf8')) as unknown;
const readToml = (path: string) =>
  JSON.parse(
    execFileSync(
      'python3',
      ['-c', 'import json,sys,tomllib; json.dump(tomllib.load(open(sys.argv[1], "rb")), sys.stdout)', resolve(data, path)],
      { encoding: 'utf8' },
    ),
  ) as Json;

let world: World | undefined;
const fresh = () =>
  new Overlay(
    (world ??= new World('tau2', telecom.load(readToml('tau2-bench/telecom/db.toml'), readToml('tau2-bench/telecom/user_db.toml')))),
  );

/** Numbers compare as numbers, outside strings of a JSON text. */
function numbers(text: string): string {
  return /^[[{]/.test(text)
    ? text.replace(/"(?:[^"\\]|\\.)*"|-?\d+\.?\d*(?:[eE][-+]?\d+)?/g, (token) => (token.startsWith('"') ? token : String(Number(token))))
    : text;
}

const portable = (value: Json) => sha256(canonicalJson(value));

/** The hash that the original computes of its database: `json.dumps(…, sort_keys=True)`. */
function pythonHash(value: Json): string {
  const sorted = (entry: Json): Json =>
    Array.isArray(entry)
      ? entry.map(sorted)
      : entry !== null && typeof entry === 'object'
        ? Object.fromEntries(
            Object.keys(entry)
              .sort()
              .map((key) => [key, sorted(entry[key]!)]),
          )
        : entry;
  return sha256(recordJson(sorted(value)));
}

const hashes = (rows: Rows): Hashes => ({
  agent_db_hash: pythonHash(telecom.dump(rows)),
  user_db_hash: pythonHash(telecom.dumpUser(rows)),
});

/** Runs one call as the store does: a failed call changes nothing, unless the tool itself succeeded. */
function call(rows: Overlay, wanted: ToolCall): { text: string; error: boolean; wrote: boolean } {
  const draft = new Overlay(rows);
  const answer = telecom.execute(draft, { ...wanted, arguments: cloneJson(wanted.arguments) }) as {
    text: string;
    error: boolean;
    kept?: true;
  };
  const changes = draft.changes();
  if (!answer.error || answer.kept) rows.apply(changes);
  return { ...answer, wrote: changes.length > 0 };
}

/** The differences between a call and its record. */
function difference(rows: Overlay, recorded: Recorded): string[] {
  const { tool, content, error, python_text } = recorded;
  const answer = call(rows, { name: tool, arguments: recorded.arguments, requestor: recorded.requestor });
  const place = `${tool}(${JSON.stringify(recorded.arguments).slice(0, 100)})`;
  if (answer.error !== error)
    return [`${place}: error ${answer.error}, expected '${content.slice(0, 200)}', got '${answer.text.slice(0, 200)}'`];
  if (python_text)
    return answer.text.startsWith('Error: ') && answer.text.length > 12 && !answer.wrote
      ? []
      : [`${place}: '${answer.text}' is no clean error`];
  return numbers(answer.text) === numbers(content) ? [] : [`${place}: expected '${content}', got '${answer.text}'`];
}

const assertions = (rows: Rows, list: Assertion[]) =>
  list.map(({ env_type, func_name, arguments: args, assert_value }) => telecom.assertion(rows, env_type, func_name, args) === assert_value);

reference('the databases equal the reference, from its source files and from its dump', () => {
  const { initial } = readJson('expected/tau2_telecom.json') as Gold;
  const again = new Overlay(new World('dump', telecom.load(initial.agent.db, initial.user.db)));
  for (const rows of [fresh(), again]) {
    expect(portable(telecom.dump(rows))).toBe(initial.agent.sha256_js);
    expect(portable(telecom.dumpUser(rows))).toBe(initial.user.sha256_js);
    expect(hashes(rows)).toEqual({ agent_db_hash: initial.agent_db_hash, user_db_hash: initial.user_db_hash });
  }
});

reference('tool schemas equal the recorded schemas, except their descriptions', () => {
  const { tools } = readJson('expected/tau2_telecom.json') as Gold;
  const bare = (value: Json): Json =>
    Array.isArray(value)
      ? value.map(bare)
      : value !== null && typeof value === 'object'
        ? Object.fromEntries(
            Object.entries(value).map(([key, child]) => [
              key,
              key === 'description' && typeof child === 'string' ? 'described' : bare(child),
            ]),
          )
        : value;
  expect(telecom.tools.map((tool) => bare(tool as never))).toEqual(tools.agent.map((tool) => bare(tool as never)));
  expect(telecom.userTools.map((tool) => bare(tool as never))).toEqual(tools.user.map((tool) => bare(tool as never)));
  expect([telecom.tools.length, telecom.userTools.length]).toEqual([13, 30]);
});

reference('gold actions of every task', () => {
  const { tasks } = readJson('expected/tau2_telecom.json') as Gold;
  let calls = 0;
  const failed = new Map<string, string[]>();
  for (const task of tasks) {
    const rows = fresh();
    const found: string[] = [];
    telecom.initialize(rows, task.initial_state);
    const before = hashes(rows);
    for (const name of ['agent_db_hash', 'user_db_hash'] as const)
      if (before[name] !== task.after_init[name]) found.push(`${name} after initialisation: ${canonicalJson(telecom.dumpUser(rows))}`);
    if (canonicalJson(assertions(rows, task.env_assertions)) !== canonicalJson(task.assertions_before)) found.push('assertions before');
    for (const action of task.actions) {
      calls++;
      found.push(...difference(rows, { ...action, tool: action.name }));
      const now = hashes(rows);
      for (const name of ['agent_db_hash', 'user_db_hash'] as const)
        if (action[name] && action[name] !== now[name]) found.push(`${action.name}: ${name}`);
    }
    if (portable(telecom.dump(rows)) !== task.final.agent.sha256_js) found.push('agent database');
    if (portable(telecom.dumpUser(rows)) !== task.final.user.sha256_js) found.push('user database');
    if (canonicalJson(assertions(rows, task.env_assertions)) !== canonicalJson(task.env_assertions.map(({ met }) => met)))
      found.push('assertions after');
    if (found.length) failed.set(task.id, found);
  }
  console.log(`tau2_telecom.json: ${tasks.length - failed.size} of ${tasks.length} tasks match (${calls} calls)`);
  expect(Object.fromEntries(failed)).toEqual({});
  expect(tasks.length).toBeGreaterThan(50);
});

reference('the gold plans of all tasks meet their assertions, and no task is solved at the start', () => {
  const tasks = readJson('tau2-bench/telecom/tasks.json') as {
    id: string;
    initial_state: InitialState;
    evaluation_criteria: { actions: GoldTask['actions']; env_assertions: Assertion[]; reward_basis: string[] };
  }[];
  const wrong = tasks.filter(({ initial_state, evaluation_criteria: { actions, env_assertions, reward_basis } }) => {
    const rows = fresh();
    telecom.initialize(rows, initial_state);
    const solved = !reward_basis.includes('ACTION') && assertions(rows, env_assertions).every(Boolean);
    const failing = actions.filter(({ name, arguments: args, requestor }) => call(rows, { name, arguments: args, requestor }).error);
    return solved || failing.length > 0 || !assertions(rows, env_assertions).every(Boolean);
  });
  console.log(`telecom/tasks.json: ${tasks.length - wrong.length} of ${tasks.length} gold plans meet their assertions`);
  expect(wrong.map(({ id }) => id)).toEqual([]);
});

/** Our JSON does not distinguish `1.0` from `1`, and `1` is a valid limit. */
const UNTELLABLE = new Set(['get_bills_for_customer:limit_float']);

reference('hostile calls', () => {
  const { cases } = readJson('expected/tau2_adversarial.json') as { cases: Hostile[] };
  const hostile = cases.filter(({ domain }) => domain === 'telecom');
  const initial = (readJson('expected/tau2_telecom.json') as Gold).initial;
  let calls = 0;
  let cut = 0;
  const failed = new Map<string, string[]>();
  for (const entry of hostile) {
    if (UNTELLABLE.has(entry.name)) continue;
    const rows = fresh();
    for (const [env_type, func_name, args] of entry.init ?? []) {
      if (env_type === 'user_raw')
        rows.put('', 'surroundings', { ...(rows.get('', 'surroundings') as Record<string, Json>), phone_number: args });
      else
        telecom.initialize(rows, {
          initialization_actions: [{ env_type: env_type as Requestor, func_name, arguments: args as Record<string, Json> }],
        });
    }
    const found: string[] = [];
    let spoiled = false;
    for (const recorded of entry.calls) {
      // If a failed call of the original wrote rows, the later calls cannot be compared.
      if (spoiled) break;
      calls++;
      found.push(...difference(rows, recorded));
      spoiled = recorded.python_text === true && ['set_apn_settings:string', 'set_network_mode_preference:5'].includes(entry.name);
    }
    const agent = entry.db.unchanged ? initial.agent.sha256_js : entry.db.agent_sha256_js;
    const user = entry.db.unchanged ? initial.user.sha256_js : entry.db.user_sha256;
    if (!spoiled && portable(telecom.dump(rows)) !== agent) found.push('agent database');
    if (!spoiled && portable(telecom.dumpUser(rows)) !== user) found.push(`user database: ${canonicalJson(telecom.dumpUser(rows))}`);
    if (found.length) failed.set(entry.name, found);
    else if (spoiled) cut++;
  }
  console.log(
    `tau2_adversarial.json, telecom: ${hostile.length - failed.size - UNTELLABLE.size} of ${hostile.length} cases match (${calls} calls), ${cut} of them compared up to the call that half succeeded in the original`,
  );
  expect(Object.fromEntries(failed)).toEqual({});
  expect(hostile.length).toBeGreaterThan(300);
});

const USER: InitialState['initialization_actions'] = [
  { env_type: 'user', func_name: 'set_user_info', arguments: { name: 'Ada Brown', phone_number: '555-000-0001' } },
];

/** A provider with one customer, and the phone of that customer. */
function small(...actions: [Requestor, string, Record<string, Json>?][]): Overlay {
  const database = {
    plans: [{ plan_id: 'P1', name: 'Plan', data_limit_gb: 10, price_per_month: 40, data_refueling_price_per_gb: 2.5 }],
    lines: [
      { line_id: 'L1', phone_number: '555-000-0001', status: 'Active', plan_id: 'P1', data_used_gb: 4.5, contract_end_date: '2026-12-31' },
      { line_id: 'L2', phone_number: '555-000-0002', status: 'Active', plan_id: 'P1' },
    ],
    customers: [
      {
        customer_id: 'C1',
        full_name: 'Ada Brown',
        date_of_birth: '1990-02-03',
        email: 'ada@example.com',
        phone_number: '555-000-0001',
        address: { street: '1 Elm St', city: 'Town', state: 'CA', zip_code: '90001' },
        line_ids: ['L1'],
        bill_ids: ['B1'],
        created_at: '2024-05-06T07:08:09',
      },
    ],
    bills: [
      {
        bill_id: 'B1',
        customer_id: 'C1',
        period_start: '2025-01-01',
        period_end: '2025-01-31',
        issue_date: '2025-01-05',
        total_due: 40,
        due_date: '2025-01-19',
        status: 'Paid',
      },
    ],
  };
  const rows = new Overlay(new World('small', telecom.load(database as unknown as Json)));
  telecom.initialize(rows, {
    initialization_actions: [...USER!, ...actions.map(([env_type, func_name, args = {}]) => ({ env_type, func_name, arguments: args }))],
  });
  return rows;
}

const use = (rows: Overlay, name: string, args: Record<string, Json> = {}, requestor: Requestor = 'user') =>
  call(rows, { name, arguments: args, requestor }).text;
const serve = (rows: Overlay, name: string, args: Record<string, Json>) => use(rows, name, args, 'assistant');

test('records show every field, and floats with a decimal point', () => {
  const rows = small();
  expect(serve(rows, 'get_details_by_id', { id: 'L1' })).toBe(
    '{"line_id": "L1", "phone_number": "555-000-0001", "status": "Active", "plan_id": "P1", "device_id": null, "data_used_gb": 4.5, "data_refueling_gb": 0.0, "roaming_enabled": false, "contract_end_date": "2026-12-31", "last_plan_change_date": null, "last_sim_replacement_date": null, "suspension_start_date": null}',
  );
  expect(serve(rows, 'get_customer_by_phone', { phone_number: '555-000-0001' })).toContain(
    '"created_at": "2024-05-06 07:08:09", "last_extension_date": null, "goodwill_credit_used_this_year": 0.0}',
  );
  expect(serve(rows, 'get_data_usage', { customer_id: 'C1', line_id: 'L1' })).toBe(
    '{"line_id": "L1", "data_used_gb": "4.5", "data_limit_gb": "10.0", "data_refueling_gb": "0.0", "cycle_end_date": "2025-02-28"}',
  );
  expect(serve(rows, 'get_details_by_id', { id: '__proto__' })).toBe('Error: Unknown ID format or type: __proto__');
  expect(serve(rows, 'enable_roaming', { customer_id: 'C1', line_id: 'L2' })).toBe('Error: Line L2 not found for customer C1');
});

test('invalid databases are refused; the error names the path', () => {
  expect(() => telecom.load({ plans: [{ plan_id: 'P1' }] })).toThrow('db.plans.0.name must be a string');
  expect(() => telecom.load({ planes: [] })).toThrow('db.planes: there is no such field');
  expect(() => telecom.load({}, { device: { airplane_mode: 'maybe' } })).toThrow('user_db.device.airplane_mode must be true or false');
  expect(telecom.dumpUser(new Overlay(new World('empty', telecom.load({}))))).toMatchObject({
    device: { battery_level: 80, active_apn_settings: { apn_name: 'internet' } },
    surroundings: { is_abroad: false },
  });
});

test('initial data merges into both databases', () => {
  const rows = small();
  telecom.initialize(rows, {
    initialization_data: {
      agent_data: { plans: [{ plan_id: 'P1', name: 'Tiny', data_limit_gb: 4, price_per_month: 10, data_refueling_price_per_gb: 1 }] },
      user_data: { device: { wifi_enabled: true, wifi_connected: true, wifi_ssid: 'Home' }, surroundings: { is_abroad: true } },
    },
  });
  expect(telecom.dump(rows)).toMatchObject({ plans: [{ name: 'Tiny' }], bills: [{ bill_id: 'B1' }] });
  expect(telecom.dumpUser(rows)).toMatchObject({
    device: { wifi_ssid: 'Home', data_enabled: true },
    surroundings: { name: 'Ada Brown', is_abroad: true, mobile_data_usage_exceeded: true },
  });
  expect(use(rows, 'check_wifi_status')).toBe("Wi-Fi is ON and connected to 'Home'. Signal strength: none.");
  expect(() => telecom.initialize(rows, { initialization_actions: [{ env_type: 'user', func_name: 'explode', arguments: {} }] })).toThrow(
    "initialization action explode failed: Tool 'explode' not found.",
  );
});

test('the history of a conversation is replayed, and must give the recorded results', () => {
  const history = (content: string): Json[] => [
    { role: 'user', content: null, tool_calls: [{ id: 'c1', name: 'toggle_data', arguments: {}, requestor: 'user' }] },
    { role: 'tool', id: 'c1', content },
  ];
  const rows = small();
  telecom.initialize(rows, {
    message_history: history('Mobile Data is now OFF.\nStatus Bar: 📶⁴ Excellent | 5G | 📵 Data Disabled | 🔋 80%'),
  });
  expect(telecom.dumpUser(rows)).toMatchObject({ device: { data_enabled: false } });
  expect(() => telecom.initialize(small(), { message_history: history('Hm.') })).toThrow("recorded is 'Hm.'");
});

test('both sides pay an overdue bill together', () => {
  const rows = small([
    'assistant',
    'suspend_line_for_overdue_bill',
    { customer_id: 'C1', line_id: 'L1', new_bill_id: 'B2', contract_ended: false },
  ]);
  // The line is inactive at once, but the phone notices at its next search.
  expect(use(rows, 'check_status_bar')).toContain('Good | 5G');
  expect(use(rows, 'reboot_device')).toContain('📵 No Signal | 📵 Data Disabled');
  expect(telecom.assertion(rows, 'assistant', 'assert_overdue_bill_exists', { customer_id: 'C1', overdue_bill_id: 'B2' })).toBe(true);
  expect(serve(rows, 'send_payment_request', { customer_id: 'C1', bill_id: 'B2' })).toBe(
    'Payment request sent to the customer for bill B2',
  );
  expect(serve(rows, 'send_payment_request', { customer_id: 'C1', bill_id: 'B1' })).toBe(
    'Error: A bill is already awaiting payment for this customer',
  );
  expect(telecom.assertion(rows, 'assistant', 'assert_no_overdue_bill', { overdue_bill_id: 'B2' })).toBe(false);
  expect(use(rows, 'check_payment_request')).toBe('You have a payment request for bill B2 of 40.0 USD.');
  expect(use(rows, 'make_payment')).toBe('Payment of 40.0 USD has been made for bill B2.');
  expect(use(rows, 'check_payment_request')).toBe('No payment request has been made.');
  expect(telecom.assertion(rows, 'assistant', 'assert_no_overdue_bill', { overdue_bill_id: 'B2' })).toBe(true);
  serve(rows, 'resume_line', { customer_id: 'C1', line_id: 'L1' });
  expect(use(rows, 'reboot_device')).toContain('📶⁴ Excellent | 5G');
});

test('refuelling creates a missing draft bill, and charges unrounded sums', () => {
  const rows = small(['assistant', 'set_data_usage', { customer_id: 'C1', line_id: 'L1', data_used_gb: 10 }]);
  const line = { customer_id: 'C1', line_id: 'L1' };
  expect(use(rows, 'run_speed_test')).toBe('Speed test failed: No Connection.');
  for (const [gb, total] of [
    [0.1, '0.1'],
    [0.2, '0.30000000000000004'],
  ] as const) {
    expect(serve(rows, 'refuel_data', { ...line, gb_amount: gb })).toBe(
      `{"message": "Successfully added ${gb} GB of data for line L1 for $${(gb * 2.5).toFixed(2)}", "new_data_refueling_gb": "${total}", "charge": "${gb * 2.5}"}`,
    );
  }
  expect(use(rows, 'run_speed_test')).toBe('Speed Test Result: 220.00 Mbps (Excellent). Connection is very fast.');
  expect(serve(rows, 'get_bills_for_customer', { customer_id: 'C1', limit: 1 })).toBe(
    '[{"bill_id": "B00000001", "customer_id": "C1", "period_start": "2025-03-01", "period_end": "2025-03-31", "issue_date": "2025-03-01", "total_due": 0.75, "due_date": "2025-03-15", "line_items": [{"description": "Data refueling: 0.1 GB at $2.5/GB", "amount": 0.25, "date": "2025-02-25", "item_type": "Charge"}, {"description": "Data refueling: 0.2 GB at $2.5/GB", "amount": 0.5, "date": "2025-02-25", "item_type": "Charge"}], "status": "Draft"}]',
  );
  for (const gb_amount of [0, '2', null, [1]])
    expect(serve(rows, 'refuel_data', { ...line, gb_amount })).toMatch(
      /^Error: (Refuel amount must be positive|gb_amount must be a number)$/,
    );
});

test('the speed depends on technology, signal, VPN and data saver', () => {
  const speed = (...actions: Parameters<typeof small>) => use(small(...actions), 'run_speed_test');
  const mode = (name: string): [Requestor, string, Record<string, Json>] => ['user', 'set_network_mode_preference', { mode: name }];
  expect(speed(['user', 'simulate_network_search'])).toContain('275.00 Mbps (Excellent)');
  expect(speed(['user', 'simulate_network_search'], ['user', 'turn_data_saver_mode_on'])).toContain('55.00 Mbps (Good)');
  expect(speed(['user', 'simulate_network_search'], ['user', 'break_vpn'])).toContain('27.50 Mbps (Good)');
  expect(speed(mode('4g_only'))).toContain('44.00 Mbps (Good)');
  expect(speed(mode('3g_only'))).toContain('1.50 Mbps (Poor)');
  expect(speed(mode('2g_only'))).toContain('0.05 Mbps (Very Poor)');
  expect(speed(['user', 'set_user_location', { abroad: true }])).toContain('No Connection');
});

test('a broken VPN stays broken only within its episode', () => {
  const broken = small(['user', 'break_vpn']);
  expect(use(broken, 'toggle_airplane_mode')).toBe('Airplane Mode is now ON.\nStatus Bar: ✈️ Airplane Mode | 🔋 80%');
  use(broken, 'connect_vpn');
  expect(use(broken, 'check_vpn_status')).toContain("<PerformanceLevel.POOR: 'poor'>");
  const other = small();
  use(other, 'connect_vpn');
  expect(use(other, 'check_vpn_status')).toContain("<PerformanceLevel.EXCELLENT: 'excellent'>");
});

test('only a restart repairs the APN, and invalid arguments change nothing', () => {
  const rows = small(['user', 'break_apn_settings'], ['user', 'break_apn_mms_setting']);
  expect(use(rows, 'reset_apn_settings')).toContain('📵 No Signal');
  expect(use(rows, 'reboot_device')).toMatch(/^Resetting APN settings\.\.\.\nRestarting network services\.\.\.\nStatus Bar: 📶⁴ Excellent/);
  expect(use(rows, 'can_send_mms')).toBe('Your messaging app can send MMS messages.');
  const before = portable(telecom.dumpUser(rows));
  for (const apn_settings of ['internet', null, { apn_name: 'foo' }, { apn: 'x' }, { mms_port: 'eighty' }] as Json[])
    expect(use(rows, 'set_apn_settings', { apn_settings })).toMatch(/^Error: apn_settings/);
  for (const [name, args] of [
    ['set_network_mode_preference', { mode: 5 }],
    ['check_app_status', {}],
    ['toggle_wifi', { on: true }],
    ['get_customer_by_id', { customer_id: 'C1' }],
    ['toggle_wifi', { requestor: 'user' }],
  ] as const)
    expect(use(rows, name, args)).toMatch(/^Error: /);
  expect(portable(telecom.dumpUser(rows))).toBe(before);
});

test('the writes of a tool stay if the synchronisation after it fails', () => {
  const rows = new Overlay(new World('lost', telecom.load({}, { surroundings: { phone_number: '555-9' } })));
  expect(call(rows, { name: 'toggle_data', arguments: {}, requestor: 'user' })).toMatchObject({
    text: 'Error: Line with phone number 555-9 not found',
    error: true,
  });
  expect(telecom.dumpUser(rows)).toMatchObject({ device: { data_enabled: false } });
});

const worlds = new Map<string, World>();
function start(task: TelecomTask): Overlay {
  let provider = worlds.get(task.world);
  if (!provider)
    worlds.set(task.world, (provider = new World(task.world, telecom.load(makeProvider(parseProviderId(task.world)) as unknown as Json))));
  const rows = new Overlay(provider);
  telecom.initialize(rows, task.initial_state);
  return rows;
}

const holds = (rows: Rows, { evaluation_criteria: { env_assertions } }: TelecomTask) =>
  env_assertions.every(
    ({ env_type, func_name, arguments: args, assert_value }) => telecom.assertion(rows, env_type, func_name, args) === assert_value,
  );

test.each([1, 2, 3, 4, 5])(
  'generated tasks of %i faults: the gold plan solves them, doing nothing or all but its last step does not',
  (faults) => {
    let unsolvable = 0;
    for (const split of ['train', 'heldout'] as const) {
      for (const task of makeTelecomTasks({ level: 'full', split, seed: 7, count: 70, faults })) {
        expect(task.issues).toHaveLength(faults);
        const { actions, reward_basis } = task.evaluation_criteria;
        // If no fault can be repaired, the phone does not change and the goal is the transfer.
        expect(holds(start(task), task), task.id).toBe(!task.solvable);
        expect(reward_basis.includes('ACTION')).toBe(!task.solvable);
        if (!task.solvable) unsolvable++;
        const rows = start(task);
        for (const [i, { name, arguments: args, requestor }] of actions.entries()) {
          if (i === actions.length - 1 && task.solvable) expect(holds(rows, task), task.id).toBe(false);
          const answer = call(rows, { name, arguments: args, requestor });
          expect(answer.error, `${task.id} ${name}: ${answer.text}`).toBe(false);
        }
        expect(holds(rows, task), task.id).toBe(true);
      }
    }
    expect(unsolvable).toBeGreaterThan(2);
    expect(unsolvable).toBeLessThan(40);
  },
);

test('generated tasks are deterministic, unlimited in number, and of every kind', () => {
  const query = { level: 'full', split: 'train', seed: 3, count: 200 } as const;
  const tasks = makeTelecomTasks(query);
  expect(makeTelecomTasks(query)).toEqual(tasks);
  expect(makeTelecomTasks({ ...query, from: 70, count: 5 })).toEqual(tasks.slice(70, 75));
  expect(canonicalJson(makeTelecomTasks({ ...query, seed: 4 }))).not.toBe(canonicalJson(tasks));
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(200);
  expect(new Set(tasks.map(({ intent }) => intent)).size).toBe(3);
  expect(new Set(tasks.map(({ persona }) => persona)).size).toBe(3);
  expect(new Set(tasks.map(({ issues }) => issues.length))).toEqual(new Set([1, 2, 3, 4, 5]));
  expect(new Set(tasks.flatMap(({ issues }) => issues)).size).toBe(Object.keys(FAULTS).length);
  for (const { issues } of makeTelecomTasks({ ...query, level: 'nano' })) expect(issues).toHaveLength(1);
  expect(() => makeTelecomTasks({ ...query, level: 'huge' })).toThrow("level: 'huge' is unknown");
  expect(() => makeTelecomTasks({ ...query, faults: 0 })).toThrow('faults: 0');
});

test('train and held-out share no customer, no number and no set of two or more faults', () => {
  const of = (split: 'train' | 'heldout') => {
    const tasks = makeTelecomTasks({ level: 'full', split, seed: 1, count: 300 });
    const text =
      [...new Set(tasks.map(({ world: id }) => id))].map((id) => JSON.stringify(makeProvider(parseProviderId(id)))).join() +
      JSON.stringify(tasks);
    return {
      ids: new Set(text.match(/\b[CLBDP]\d{4,8}\b|\b\d{3}-\d{3}-\d{4}\b/g)),
      sets: new Set(tasks.filter(({ issues }) => issues.length > 1).map(({ intent, issues }) => [intent, ...issues].join('|'))),
    };
  };
  const train = of('train');
  const heldout = of('heldout');
  expect([...train.ids].filter((id) => heldout.ids.has(id))).toEqual([]);
  expect([...train.sets].filter((set) => heldout.sets.has(set))).toEqual([]);
  expect(train.ids.size).toBeGreaterThan(100);
  expect(Math.min(train.sets.size, heldout.sets.size)).toBeGreaterThan(40);
});
