/** @file The functions that a task's `initialization_actions` name, beside the tools: they put faults into a world. */
import type { Arguments } from '../exact/arguments.ts';
import type { Rows } from '../overlay.ts';
import { bill, customer, customerLine, plan, TODAY } from './agent-tools.ts';
import type { Parameters } from './calls.ts';
import { connectVpn, searchNetwork, setAirplaneMode, type Phone } from './device.ts';
import { find, put } from './schema.ts';

interface AgentAction extends Parameters { run(rows: Rows, args: Arguments): void }
interface UserAction extends Parameters { run(phone: Phone, args: Arguments): void }

const NONE: readonly string[] = [];

export const AGENT_ACTIONS: ReadonlyMap<string, AgentAction> = new Map<string, AgentAction>(Object.entries({
  set_data_usage: { required: ['customer_id', 'line_id', 'data_used_gb'], run: (rows, args) => put(rows, 'lines', { ...customerLine(rows, args), data_used_gb: args.data_used_gb as number }) },
  suspend_line_for_overdue_bill: { required: ['customer_id', 'line_id', 'new_bill_id', 'contract_ended'], run: suspendForOverdueBill },
} satisfies Record<string, AgentAction>));

export const USER_ACTIONS: ReadonlyMap<string, UserAction> = new Map<string, UserAction>(Object.entries({
  set_user_info: { required: ['name', 'phone_number'], run: ({ surroundings }, { name, phone_number }) => void Object.assign(surroundings, { name, phone_number }) },
  set_user_location: { required: ['abroad'], run: ({ surroundings }, { abroad }) => void (surroundings.is_abroad = abroad as boolean) },
  simulate_network_search: { required: NONE, run: searchNetwork },
  turn_airplane_mode_on: { required: NONE, run: (phone) => setAirplaneMode(phone, true) },
  turn_airplane_mode_off: { required: NONE, run: (phone) => setAirplaneMode(phone, false) },
  turn_data_on: switched('data_enabled', true),
  turn_data_off: switched('data_enabled', false),
  turn_roaming_on: switched('roaming_enabled', true),
  turn_roaming_off: switched('roaming_enabled', false),
  turn_data_saver_mode_on: { required: NONE, run: ({ device }) => void (device.data_saver_mode = true) },
  turn_data_saver_mode_off: { required: NONE, run: ({ device }) => void (device.data_saver_mode = false) },
  unseat_sim_card: { required: NONE, run: (phone) => {
    phone.device.sim_card_missing = true;
    searchNetwork(phone);
  } },
  lock_sim_card: { required: ['mode'], run: (phone, { mode }) => {
    phone.device.sim_card_status = mode === 'pin' ? 'locked_pin' : 'locked_puk';
    searchNetwork(phone);
  } },
  break_apn_settings: { required: NONE, run: (phone) => {
    phone.device.active_apn_settings.apn_name = 'broken';
    searchNetwork(phone);
  } },
  break_apn_mms_setting: { required: NONE, run: ({ device }) => void (device.active_apn_settings.mmsc_url = null) },
  break_vpn: { required: NONE, run: (phone) => {
    phone.vpnDefault.server_performance = 'poor';
    connectVpn(phone);
  } },
  set_wifi_calling: { required: ['enabled'], optional: { mms_over_wifi: null }, run: ({ device }, { enabled, mms_over_wifi }) => {
    device.wifi_calling_enabled = enabled as boolean;
    if (mms_over_wifi !== null) device.wifi_calling_mms_over_wifi = mms_over_wifi as boolean;
  } },
  remove_app_permission: { required: ['app_name', 'permission'], run: ({ device }, { app_name, permission }) => {
    const app = device.app_statuses[app_name as string];
    if (!app || !Object.hasOwn(app.permissions, permission as string)) throw new Error(`app '${String(app_name)}' has no permission '${String(permission)}'`);
    app.permissions[permission as string] = false;
  } },
} satisfies Record<string, UserAction>));

function switched(field: 'data_enabled' | 'roaming_enabled', on: boolean): UserAction {
  return { required: NONE, run: (phone) => {
    phone.device[field] = on;
    searchNetwork(phone);
  } };
}

/** Last month's bill over the plan's price, overdue; with `contract_ended` the contract ran out with that month. */
function suspendForOverdueBill(rows: Rows, args: Arguments): void {
  const line = customerLine(rows, args);
  const owner = customer(rows, args.customer_id!);
  const id = args.new_bill_id as string;
  if (find(rows, 'bills', id)) throw new Error(`bill ${id} exists already`);
  const amount = plan(rows, line.plan_id).price_per_month;
  put(rows, 'lines', { ...line, status: 'Suspended', suspension_start_date: TODAY, ...(args.contract_ended === true && { contract_end_date: '2025-01-31' }) });
  put(rows, 'customers', { ...owner, bill_ids: [...owner.bill_ids, id] });
  put(rows, 'bills', {
    bill_id: id, customer_id: owner.customer_id, period_start: '2025-01-01', period_end: '2025-01-31', issue_date: '2025-01-01', total_due: amount, due_date: '2025-01-15',
    line_items: [{ description: `Charge for line ${line.line_id}`, amount, date: TODAY, item_type: 'Charge' }], status: 'Overdue',
  } satisfies ReturnType<typeof bill>);
}

