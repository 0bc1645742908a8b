/** @file The telecom databases: the agent's (plans, devices, lines, bills, customers), and the user's (phone and surroundings). */
import type { Rows, WorldTables } from '../../environments/overlay.ts';
import { cloneJson } from '../../base/json.ts';
import { decimal, integer, listOf, mapOf, oneOf, optional, text } from '../exact/model.ts';
import { pythonJson, type Printable } from '../exact/python.ts';
import type { Json } from '../../records/json.ts';
import { date, dateTime, strict, switched, withDefault } from './models.ts';

export interface Plan {
  plan_id: string;
  name: string;
  data_limit_gb: number;
  price_per_month: number;
  data_refueling_price_per_gb: number;
}
export interface Customer {
  customer_id: string;
  full_name: string;
  date_of_birth: string;
  phone_number: string;
  line_ids: string[];
  bill_ids: string[];
}
export interface Line {
  line_id: string;
  phone_number: string;
  status: string;
  plan_id: string;
  data_used_gb: number;
  data_refueling_gb: number;
  roaming_enabled: boolean;
  contract_end_date: string | null;
  suspension_start_date: string | null;
}
export interface Bill {
  bill_id: string;
  customer_id: string;
  period_start: string;
  period_end: string;
  issue_date: string;
  total_due: number;
  due_date: string;
  line_items: { description: string; amount: number; date: string; item_type: string }[];
  status: string;
}
export interface ApnSettings {
  apn_name: string;
  reset_at_reboot: boolean;
  mms_apn: string | null;
  mmsc_url: string | null;
  mms_proxy: string | null;
  mms_port: number | null;
}
export interface VpnDetails {
  server_address: string | null;
  protocol: string | null;
  server_performance: string;
}
export interface Device {
  sim_card_status: string;
  sim_card_missing: boolean;
  airplane_mode: boolean;
  network_signal_strength: string;
  network_technology_connected: string;
  network_connection_status: string;
  battery_level: number;
  data_enabled: boolean;
  roaming_enabled: boolean;
  /** Null if a call has set it to null. */
  network_mode_preference: string | null;
  active_apn_settings: ApnSettings;
  wifi_enabled: boolean;
  wifi_connected: boolean;
  wifi_ssid: string | null;
  wifi_signal_strength: string;
  wifi_calling_enabled: boolean;
  wifi_calling_mms_over_wifi: boolean;
  data_saver_mode: boolean;
  vpn_enabled_setting: boolean;
  vpn_connected: boolean;
  vpn_details: VpnDetails | null;
  app_statuses: Record<string, { app_name: string; permissions: Record<string, boolean> }>;
}
export interface Surroundings {
  name: string | null;
  phone_number: string | null;
  is_abroad: boolean;
  roaming_allowed: boolean;
  signal_strength: Record<string, string>;
  mobile_data_usage_exceeded: boolean;
  line_active: boolean;
  payment_request: { bill_id: string; amount_due: number; paid: boolean } | null;
}

export const NETWORK_MODES = ['4g_5g_preferred', '4g_only', '3g_only', '2g_only'] as const;
const SIGNALS = ['none', 'poor', 'fair', 'good', 'excellent'];
export const NETWORK_STATUSES = ['connected', 'searching', 'no_service', 'emergency_only'];
const TECHNOLOGIES = ['none', '2G', '3G', '4G', '5G'];

const plan = strict({ plan_id: text, name: text, data_limit_gb: decimal, price_per_month: decimal, data_refueling_price_per_gb: decimal });
const device = strict({
  device_id: text,
  device_type: oneOf('phone', 'tablet', 'router', 'watch', 'other'),
  model: text,
  imei: optional(text),
  is_esim_capable: switched,
  activated: withDefault(switched, false),
  activation_date: optional(dateTime),
  last_esim_transfer_date: optional(dateTime),
});
const line = strict({
  line_id: text,
  phone_number: text,
  status: withDefault(oneOf('Active', 'Suspended', 'Pending Activation', 'Closed'), 'Pending Activation'),
  plan_id: text,
  device_id: optional(text),
  data_used_gb: withDefault(decimal, 0),
  data_refueling_gb: withDefault(decimal, 0),
  roaming_enabled: withDefault(switched, false),
  contract_end_date: optional(date),
  last_plan_change_date: optional(date),
  last_sim_replacement_date: optional(date),
  suspension_start_date: optional(date),
});
const lineItem = strict({ description: text, amount: decimal, date, item_type: text });
const bill = strict({
  bill_id: text,
  customer_id: text,
  period_start: date,
  period_end: date,
  issue_date: date,
  total_due: decimal,
  due_date: date,
  line_items: withDefault(listOf(lineItem), []),
  status: withDefault(oneOf('Draft', 'Issued', 'Paid', 'Overdue', 'Awaiting Payment', 'Disputed'), 'Draft'),
});
const paymentMethod = strict({
  method_type: oneOf('Credit Card', 'Debit Card', 'PayPal'),
  account_number_last_4: text,
  expiration_date: text,
});
const customer = strict({
  customer_id: text,
  full_name: text,
  date_of_birth: text,
  email: text,
  phone_number: text,
  address: strict({ street: text, city: text, state: text, zip_code: text }),
  account_status: withDefault(oneOf('Active', 'Suspended', 'Pending Verification', 'Closed'), 'Pending Verification'),
  payment_methods: withDefault(listOf(paymentMethod), []),
  line_ids: withDefault(listOf(text), []),
  bill_ids: withDefault(listOf(text), []),
  created_at: dateTime,
  last_extension_date: optional(date),
  goodwill_credit_used_this_year: withDefault(decimal, 0),
});
/** The names of fields that are floats in Python, as a pattern. */
const FLOATS =
  'data_limit_gb|price_per_month|data_refueling_price_per_gb|data_used_gb|data_refueling_gb|amount|total_due|amount_due|goodwill_credit_used_this_year';

const off = withDefault(switched, false);
const on = withDefault(switched, true);
const apnSettings = strict({
  apn_name: withDefault(oneOf('internet', 'broken'), 'internet'),
  reset_at_reboot: off,
  mms_apn: optional(text, 'mms'),
  mmsc_url: optional(text, 'http://mms.carrier.com/mms/wapenc'),
  mms_proxy: optional(text),
  mms_port: optional(integer),
});
const vpnDetails = strict({
  server_address: optional(text),
  protocol: optional(text),
  server_performance: withDefault(oneOf('unknown', 'poor', 'fair', 'good', 'excellent'), 'unknown'),
});
const app = strict({ app_name: text, permissions: withDefault(strict({ sms: off, storage: off, phone: off, network: off }), {}) });
const phone = strict({
  sim_card_status: withDefault(oneOf('active', 'missing', 'locked_pin', 'locked_puk'), 'active'),
  sim_card_missing: off,
  airplane_mode: off,
  network_signal_strength: withDefault(oneOf(...SIGNALS), 'good'),
  network_technology_connected: withDefault(oneOf(...TECHNOLOGIES), '5G'),
  network_connection_status: withDefault(oneOf(...NETWORK_STATUSES), 'connected'),
  battery_level: withDefault(integer, 80),
  data_enabled: on,
  roaming_enabled: off,
  network_mode_preference: withDefault(oneOf(...NETWORK_MODES), '4g_5g_preferred'),
  active_apn_settings: withDefault(apnSettings, {}),
  wifi_enabled: off,
  wifi_connected: off,
  wifi_ssid: optional(text),
  wifi_signal_strength: withDefault(oneOf(...SIGNALS), 'none'),
  wifi_calling_enabled: off,
  wifi_calling_mms_over_wifi: off,
  data_saver_mode: off,
  vpn_enabled_setting: off,
  vpn_connected: off,
  vpn_details: optional(vpnDetails),
  app_statuses: withDefault(mapOf(app), {
    messaging: { app_name: 'messaging', permissions: { sms: true, storage: true, phone: true } },
    browser: { app_name: 'browser', permissions: { storage: true, network: true } },
  }),
});
const surroundings = strict({
  name: optional(text),
  phone_number: optional(text),
  is_abroad: off,
  roaming_allowed: off,
  signal_strength: withDefault(mapOf(oneOf(...SIGNALS)), { '2G': 'poor', '3G': 'fair', '4G': 'good', '5G': 'excellent' }),
  mobile_data_usage_exceeded: off,
  line_active: on,
  payment_request: optional(strict({ bill_id: text, amount_due: decimal, paid: off })),
});

/** The agent's tables in the order of the database file. Each one has the name of the field with its records' ids. */
const TABLES = {
  plans: [plan, 'plan_id'],
  customers: [customer, 'customer_id'],
  lines: [line, 'line_id'],
  bills: [bill, 'bill_id'],
  devices: [device, 'device_id'],
} as const;
export type Table = keyof typeof TABLES;
const agentDatabase = strict(Object.fromEntries(Object.entries(TABLES).map(([name, [reader]]) => [name, withDefault(listOf(reader), [])])));
/** The rows of the table `''`: the phone and its surroundings. */
const PHONE = { device: withDefault(phone, {}), surroundings: withDefault(surroundings, {}) };
const userDatabase = strict(PHONE);

/** Converts the files of both databases to rows. @throws error that names the path and the reason */
export function load(database: Json, userFile?: Json): WorldTables {
  const agent = agentDatabase(database, 'db') as Record<string, Json>;
  const user = userDatabase(userFile ?? {}, 'user_db') as Record<string, Json>;
  const tables: WorldTables = new Map([['', new Map(Object.keys(PHONE).map((name) => [name, user[name]!]))]]);
  for (const [name, [, id]] of Object.entries(TABLES)) {
    tables.set(name, new Map((agent[name] as Record<string, Json>[]).map((row) => [row[id] as string, row])));
  }
  return tables;
}

export function dump(rows: Rows): Json {
  return Object.fromEntries(Object.keys(TABLES).map((name) => [name, rows.keys(name).map((key) => rows.get(name, key)!)]));
}

export function dumpUser(rows: Rows): Json {
  return Object.fromEntries(Object.keys(PHONE).map((name) => [name, rows.get('', name)!]));
}

/**
 * Applies a task's `initialization_data` to both databases. Objects are merged; other values are replaced.
 * @throws error that names the path and the reason
 */
export function merge(rows: Rows, agentData: Json | undefined, userData: Json | undefined): void {
  if (agentData == null && userData == null) return;
  for (const [table, records] of load(merged(dump(rows), agentData ?? {}), merged(dumpUser(rows), userData ?? {}))) {
    for (const key of rows.keys(table)) if (table && !records.has(key)) rows.delete(table, key);
    for (const [key, record] of records) rows.put(table, key, record);
  }
}

function merged(base: Json, over: Json): Json {
  const isRecord = (value: Json): value is Record<string, Json> => value !== null && typeof value === 'object' && !Array.isArray(value);
  if (!isRecord(base) || !isRecord(over)) return over;
  return {
    ...base,
    ...Object.fromEntries(Object.entries(over).map(([key, value]) => [key, Object.hasOwn(base, key) ? merged(base[key]!, value) : value])),
  };
}

/** Returns a copy of a record of the agent's database. The caller may change the copy and store it. */
export function find<T>(rows: Rows, table: Table, id: Json): T | undefined {
  const row = typeof id === 'string' ? rows.get(table, id) : undefined;
  return row === undefined ? undefined : (cloneJson(row) as T);
}

export function put(rows: Rows, table: Table, record: object): void {
  rows.put(table, (record as Record<string, string>)[TABLES[table][1]]!, record as Json);
}

/** @throws {Refusal} if a value does not fit the model */
export const readApnSettings = (value: Json): ApnSettings => apnSettings(value, 'apn_settings') as unknown as ApnSettings;

/** Python's `json.dumps` of records. Fields that are floats in Python keep their decimal point. */
export function recordJson(value: Json): string {
  return pythonJson(value as Printable).replace(new RegExp(`"(${FLOATS})": (-?\\d+)(?=[,}])`, 'g'), '"$1": $2.0');
}
