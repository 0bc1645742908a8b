/**
 * Tools, initial actions and assertions of telecom on unusual phones and arguments. The texts and states are those of
 * tau2-bench v1.0.1, observed by running its Python code on the same calls.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import type { InitialState } from '../../../src/records/benchmark-task.ts';
import type { Requestor } from '../../../src/records/benchmark-task.ts';
import { Overlay, World } from '../../../src/environments/overlay.ts';
import { telecom } from '../../../src/domains/telecom/exact.ts';
import type { Device } from '../../../src/domains/telecom/schema.ts';
import type { Json } from '../../../src/records/json.ts';

const plan = { plan_id: 'P1', name: 'Plan', data_limit_gb: 5, price_per_month: 40, data_refueling_price_per_gb: 2 };
const line = { line_id: 'L1', phone_number: '555-1', status: 'Active', plan_id: 'P1', device_id: 'D1' };
const period = { period_start: '2025-01-01', period_end: '2025-01-31', issue_date: '2025-02-01', due_date: '2025-02-15' };
const bill = { bill_id: 'B1', customer_id: 'C1', ...period, total_due: 40, status: 'Issued' };
const customer = {
  customer_id: 'C1',
  full_name: 'Ann Lee',
  date_of_birth: '1990-01-01',
  email: 'ann@example.com',
  phone_number: '555-1',
  address: { street: 'Street', city: 'City', state: 'ST', zip_code: '1' },
  line_ids: ['L1'],
  bill_ids: ['B1'],
  created_at: '2025-01-01 00:00:00',
};
const database: Json = { plans: [plan], customers: [customer], lines: [line], bills: [bill], devices: [] };

let rows: Overlay;
beforeEach(() => {
  rows = new Overlay(new World('telecom', telecom.load(database)));
});

const initialize = (...initialization_actions: [string, Record<string, Json>?, Requestor?][]) =>
  telecom.initialize(rows, {
    initialization_actions: initialization_actions.map(([func_name, args = {}, env_type = 'user']) => ({
      env_type,
      func_name,
      arguments: args,
    })),
  });
const phoneWith = (device: Record<string, Json>, surroundings: Record<string, Json> = {}) =>
  telecom.initialize(rows, { initialization_data: { user_data: { device, surroundings } } } satisfies InitialState);
/** The first line of the answer; the status bar is the second one. */
const use = (name: string, args: Record<string, Json> = {}, requestor: Requestor = 'user') => {
  const draft = new Overlay(rows);
  const { text, error } = telecom.execute(draft, { name, arguments: args, requestor });
  if (!error) rows.apply(draft.written());
  return text;
};
const first = (name: string, args?: Record<string, Json>) => use(name, args).split('\n')[0];
const device = () => rows.get('', 'device') as unknown as Device;

describe('Wi-Fi', () => {
  test('cannot be switched in airplane mode', () => {
    initialize(['turn_airplane_mode_on']);
    expect(use('toggle_wifi')).toBe('Cannot change Wi-Fi settings while Airplane Mode is ON.\nStatus Bar: ✈️ Airplane Mode | 🔋 80%');
    expect(device().wifi_enabled).toBe(false);
  });

  test('a connection ends when the radio goes off, not when it goes on; the status bar shows it only with the radio on', () => {
    phoneWith({ wifi_connected: true, wifi_ssid: null });
    expect(use('check_status_bar')).not.toContain('📡');
    expect(use('check_network_status')).toContain('\nConnected Wi-Fi Network: None');
    expect(first('toggle_wifi')).toBe('Wi-Fi is now ON.');
    expect(device().wifi_connected).toBe(true);
    expect(use('check_status_bar')).toContain('📡 Enabled');
    use('toggle_wifi');
    expect(device().wifi_connected).toBe(false);
  });
});

describe('network mode', () => {
  const wrong = (shown: string) =>
    `Failed to set network mode: '${shown}' is not a valid option. Please use one of: 4g_5g_preferred, 4g_only, 3g_only, 2g_only`;

  test('null is answered like any invalid mode, but stored; the phone then searches on 4G', () => {
    expect(use('set_network_mode_preference', { mode: null })).toBe(
      `${wrong('None')}\nStatus Bar: 📶³ Good | 4G | 📱 Data Enabled | 🔋 80%`,
    );
    expect(device()).toMatchObject({ network_mode_preference: null, network_technology_connected: '4G' });
    expect(use('check_network_mode_preference')).toMatch(/^Error: ./);
  });

  test('an unknown text changes nothing, another type is an error', () => {
    expect(first('set_network_mode_preference', { mode: '' })).toBe(wrong(''));
    expect(use('set_network_mode_preference', { mode: 5 })).toMatch(/^Error: ./);
    expect(device().network_mode_preference).toBe('4g_5g_preferred');
  });
});

describe('APN settings', () => {
  test('an empty MMSC address leaves MMS as it is, only null breaks it', () => {
    use('set_apn_settings', { apn_settings: { mmsc_url: '' } });
    expect(use('can_send_mms')).toBe('Your messaging app can send MMS messages.');
    use('set_apn_settings', { apn_settings: { mmsc_url: null } });
    expect(use('can_send_mms')).toBe('Your messaging app cannot send MMS messages.');
  });

  test.each([
    ['8_0', 80],
    [' 80 ', 80],
    ['80.0', 80],
    ['80.', null],
    ['1e2', null],
  ])('a port given as %j', (mms_port, port) => {
    expect(use('set_apn_settings', { apn_settings: { mms_port } })).toMatch(port === null ? /^Error: / : /^APN settings set to: internet/);
    expect(device().active_apn_settings.mms_port).toBe(port);
  });
});

test('the measured speed is rounded before it is compared', () => {
  const slow = {
    network_technology_connected: '2G',
    network_signal_strength: 'fair',
    vpn_connected: true,
    vpn_details: { server_performance: 'poor' },
  };
  phoneWith(slow);
  const atLeast = (expected_speed: number) => telecom.assertion(rows, 'user', 'assert_internet_speed', { expected_speed });
  // 0.0125 Mbps
  expect([atLeast(0.01), atLeast(0.012)]).toEqual([true, false]);
});

describe('apps', () => {
  test('an app without permissions', () => {
    phoneWith({ app_statuses: { camera: { app_name: 'Camera' } } });
    expect(use('check_app_status', { app_name: 'camera' })).toBe('Status for App: camera\n - Permissions: None granted.');
    expect(first('grant_app_permission', { app_name: 'camera', permission: 'SMS' })).toBe(
      "Success. Permission 'sms' granted to app 'camera'.",
    );
  });

  test.each(['check_app_status', 'check_app_permissions', 'grant_app_permission'])('%s: lists are no names', (name) => {
    expect(use(name, { app_name: ['x'], ...(name.startsWith('grant') && { permission: 'sms' }) })).toMatch(/^Error: ./);
  });

  test('the permission is checked before the app', () => {
    expect(use('grant_app_permission', { app_name: 'x', permission: null })).toMatch(/^Error: ./);
  });

  test('an initial action may name a permission in capitals, or one that no app has', () => {
    initialize(
      ['remove_app_permission', { app_name: 'messaging', permission: 'SMS' }],
      ['remove_app_permission', { app_name: 'x', permission: 'y' }],
    );
    expect(device().app_statuses.messaging!.permissions.sms).toBe(false);
  });
});

describe('payment requests', () => {
  test('one that is paid is still shown until the records are synchronised', () => {
    phoneWith({}, { payment_request: { bill_id: 'B1', amount_due: 12.5, paid: true } });
    expect(use('check_payment_request')).toBe('You have a payment request for bill B1 of 12.5 USD.');
  });

  test('an open request is reported before the bill of another customer', () => {
    use('send_payment_request', { customer_id: 'C1', bill_id: 'B1' }, 'assistant');
    expect(use('send_payment_request', { customer_id: 'C1', bill_id: 'B9' }, 'assistant')).toBe(
      'Error: A bill is already awaiting payment for this customer',
    );
  });
});

describe('initial actions', () => {
  test('turn_data_on starts no search', () => {
    phoneWith({ data_enabled: false, network_technology_connected: '3G' });
    initialize(['turn_data_on']);
    expect(device()).toMatchObject({ data_enabled: true, network_technology_connected: '3G' });
  });

  test('turning airplane mode off where it is off ends Wi-Fi and VPN', () => {
    phoneWith({ wifi_connected: true, vpn_connected: true });
    initialize(['turn_airplane_mode_off']);
    expect(device()).toMatchObject({ airplane_mode: false, wifi_connected: false, vpn_connected: false });
  });

  test('airplane mode keeps the details of a VPN that is not connected', () => {
    phoneWith({ vpn_details: {} });
    initialize(['turn_airplane_mode_on']);
    expect(device().vpn_details).toEqual({ server_address: null, protocol: null, server_performance: 'unknown' });
  });

  test('break_vpn damages the current connection, and the default server only if it is the current connection', () => {
    phoneWith({ vpn_connected: true, vpn_details: { server_address: 'x' } });
    initialize(['break_vpn']);
    expect(device().vpn_details).toMatchObject({ server_address: 'x', server_performance: 'poor' });
    use('disconnect_vpn');
    use('connect_vpn');
    expect(device().vpn_details!.server_performance).toBe('excellent');
    initialize(['break_vpn']);
    use('disconnect_vpn');
    use('connect_vpn');
    expect(device().vpn_details!.server_performance).toBe('poor');
  });

  test('a SIM card that is missing by its status cannot be re-seated; an unknown lock does nothing', () => {
    initialize(['lock_sim_card', { mode: 'x' }]);
    expect(device().sim_card_status).toBe('active');
    phoneWith({ sim_card_status: 'missing' });
    expect(use('reseat_sim_card')).toMatch(/^Error: ./);
  });

  test('a line is suspended for an overdue bill only if it is active and no other bill is overdue', () => {
    const suspend = (new_bill_id: string) =>
      initialize(['suspend_line_for_overdue_bill', { customer_id: 'C1', line_id: 'L1', new_bill_id, contract_ended: false }, 'assistant']);
    suspend('B2');
    expect(() => suspend('B3')).toThrow('Line must be active to suspend for unpaid bill');
    use('resume_line', { customer_id: 'C1', line_id: 'L1' }, 'assistant');
    expect(() => suspend('B3')).toThrow('Customer already has an overdue bill');
  });
});

describe('assertions', () => {
  const holds = (name: string, args: Record<string, Json>, requestor: Requestor = 'user') => telecom.assertion(rows, requestor, name, args);

  test('1 is true, as in Python', () => {
    expect(holds('assert_can_send_mms', { expected_status: 1 })).toBe(true);
    expect(holds('assert_mobile_data_status', { expected_status: 0 })).toBe(false);
    expect(holds('assert_can_send_mms', { expected_status: 'true' })).toBe(false);
  });

  test('amounts of data agree within a millionth', () => {
    const amount = (expected_amount: number) =>
      holds('assert_data_refueling_amount', { customer_id: 'C1', line_id: 'L1', expected_amount }, 'assistant');
    expect([amount(1e-7), amount(1e-5)]).toEqual([true, false]);
  });

  test('without a connection the speed is 0', () => {
    initialize(['turn_data_off']);
    expect(holds('assert_internet_speed', { expected_speed: 0 })).toBe(true);
    expect(holds('assert_internet_speed', { expected_speed: 0, expected_desc: 'No Connection' })).toBe(true);
  });

  test('an assertion that cannot be evaluated is an error', () => {
    expect(() => holds('assert_service_status', { expected_status: 'x' })).toThrow();
    expect(() => holds('assert_overdue_bill_exists', { customer_id: 'C1', overdue_bill_id: 'B1' }, 'assistant')).toThrow('is not overdue');
  });
});
