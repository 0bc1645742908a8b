/** @file The functions of a task's `initialization_actions` that are not tools. They cause faults. */
import { text } from '../exact/model.ts';
import { equalJson } from '../../base/json.ts';
import { type Arguments, numeric, Refusal } from '../exact/arguments.ts';
import type { Rows } from '../../environments/overlay.ts';
import { bill, customer, customerLine, lineById, plan, TODAY } from './agent-tools.ts';
import type { Parameters } from './calls.ts';
import { connectVpn, searchNetwork, setAirplaneMode, type Phone } from './device.ts';
import { find, put } from './schema.ts';

interface AgentAction extends Parameters {
  run(rows: Rows, args: Arguments): void;
}
interface UserAction extends Parameters {
  run(phone: Phone, args: Arguments): void;
}

const NONE: readonly string[] = [];

export const AGENT_ACTIONS: ReadonlyMap<string, AgentAction> = new Map<string, AgentAction>(
  Object.entries({
    set_data_usage: {
      required: ['customer_id', 'line_id', 'data_used_gb'],
      run: (rows, args) => put(rows, 'lines', { ...customerLine(rows, args), data_used_gb: numeric(args.data_used_gb!, 'data_used_gb') }),
    },
    suspend_line_for_overdue_bill: { required: ['customer_id', 'line_id', 'new_bill_id', 'contract_ended'], run: suspendForOverdueBill },
  } satisfies Record<string, AgentAction>),
);

export const USER_ACTIONS: ReadonlyMap<string, UserAction> = new Map<string, UserAction>(
  Object.entries({
    set_user_info: {
      required: ['name', 'phone_number'],
      run: ({ surroundings }, { name, phone_number }) => void Object.assign(surroundings, { name, phone_number }),
    },
    set_user_location: { required: ['abroad'], run: ({ surroundings }, { abroad }) => void (surroundings.is_abroad = abroad as boolean) },
    simulate_network_search: { required: NONE, run: searchNetwork },
    turn_airplane_mode_on: { required: NONE, run: (phone) => setAirplaneMode(phone, true) },
    turn_airplane_mode_off: { required: NONE, run: (phone) => setAirplaneMode(phone, false) },
    // Quirk: this is the only switch that starts no network search.
    turn_data_on: { required: NONE, run: ({ device }) => void (device.data_enabled = true) },
    turn_data_off: switched('data_enabled', false),
    turn_roaming_on: switched('roaming_enabled', true),
    turn_roaming_off: switched('roaming_enabled', false),
    turn_data_saver_mode_on: { required: NONE, run: ({ device }) => void (device.data_saver_mode = true) },
    turn_data_saver_mode_off: { required: NONE, run: ({ device }) => void (device.data_saver_mode = false) },
    unseat_sim_card: {
      required: NONE,
      run: (phone) => {
        phone.device.sim_card_missing = true;
        searchNetwork(phone);
      },
    },
    lock_sim_card: {
      required: ['mode'],
      run: (phone, { mode }) => {
        if (mode === 'pin' || mode === 'puk') phone.device.sim_card_status = `locked_${mode}`;
        searchNetwork(phone);
      },
    },
    break_apn_settings: {
      required: NONE,
      run: (phone) => {
        phone.device.active_apn_settings.apn_name = 'broken';
        searchNetwork(phone);
      },
    },
    break_apn_mms_setting: { required: NONE, run: ({ device }) => void (device.active_apn_settings.mmsc_url = null) },
    break_vpn: {
      required: NONE,
      run: (phone) => {
        connectVpn(phone);
        const { device, vpnDefault } = phone;
        if (!device.vpn_details) throw new Refusal('the VPN connection has no details');
        // Upstream changes the object of the connection. If the phone is connected to the default server, this is also the object of
        // the default server.
        if (equalJson({ ...device.vpn_details }, { ...vpnDefault })) vpnDefault.server_performance = 'poor';
        device.vpn_details.server_performance = 'poor';
      },
    },
    set_wifi_calling: {
      required: ['enabled'],
      optional: { mms_over_wifi: null },
      run: ({ device }, { enabled, mms_over_wifi }) => {
        device.wifi_calling_enabled = enabled as boolean;
        if (mms_over_wifi !== null) device.wifi_calling_mms_over_wifi = mms_over_wifi as boolean;
      },
    },
    remove_app_permission: {
      required: ['app_name', 'permission'],
      run: ({ device }, { app_name, permission }) => {
        // As in upstream, an unknown app or permission is not an error.
        const name = (text(permission, 'permission') as string).toLowerCase();
        const app = Object.hasOwn(device.app_statuses, app_name as string) ? device.app_statuses[app_name as string] : undefined;
        if (app && Object.hasOwn(app.permissions, name)) app.permissions[name] = false;
      },
    },
  } satisfies Record<string, UserAction>),
);

function switched(field: 'data_enabled' | 'roaming_enabled', on: boolean): UserAction {
  return {
    required: NONE,
    run: (phone) => {
      phone.device[field] = on;
      searchNetwork(phone);
    },
  };
}

/** Adds an overdue bill with the plan's price for last month. With `contract_ended`, the contract ended with that month. */
function suspendForOverdueBill(rows: Rows, args: Arguments): void {
  // Quirk: the tool accepts a line of another customer.
  const line = lineById(rows, args.line_id!);
  if (line.status !== 'Active') throw new Refusal('Line must be active to suspend for unpaid bill');
  const amount = plan(rows, line.plan_id).price_per_month;
  if (amount <= 0) throw new Refusal('Amount must be positive for overdue bill');
  const owner = customer(rows, args.customer_id!);
  if (owner.bill_ids.some((bill_id) => bill(rows, bill_id).status === 'Overdue')) throw new Refusal('Customer already has an overdue bill');
  const id = text(args.new_bill_id, 'new_bill_id') as string;
  // Upstream adds a second bill with the same id. Here this is an error, because a table has only one row for each id.
  if (find(rows, 'bills', id)) throw new Refusal(`bill ${id} exists already`);
  put(rows, 'lines', {
    ...line,
    status: 'Suspended',
    suspension_start_date: TODAY,
    ...(args.contract_ended && { contract_end_date: '2025-01-31' }),
  });
  put(rows, 'customers', { ...owner, bill_ids: [...owner.bill_ids, id] });
  put(rows, 'bills', {
    bill_id: id,
    customer_id: owner.customer_id,
    period_start: '2025-01-01',
    period_end: '2025-01-31',
    issue_date: '2025-01-01',
    total_due: amount,
    due_date: '2025-01-15',
    line_items: [{ description: `Charge for line ${line.line_id}`, amount, date: TODAY, item_type: 'Charge' }],
    status: 'Overdue',
  } satisfies ReturnType<typeof bill>);
}
