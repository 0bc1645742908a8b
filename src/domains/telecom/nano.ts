/**
 * @file What the agent gets at `nano`, so that a tiny model can learn the domain: a short policy, the tools that some task
 * needs, and only those fields of records that some task needs. Tasks, worlds and customers are those of the other levels.
 */
import type { Rows } from '../../environments/overlay.ts';
import type { ExactResult } from '../../environments/types.ts';
import type { Json } from '../../records/json.ts';
import type { ToolCall, ToolSchema } from '../../records/task.ts';
import { telecom } from './exact.ts';

export const NANO_POLICY = `You serve customers of a phone provider.
First find the customer by phone number. Then ask the customer to use the phone, one tool at a time.
Look: check_network_status, check_status_bar, check_apn_settings, check_wifi_calling_status, check_app_permissions, check_payment_request, run_speed_test, can_send_mms.
Act: toggle_airplane_mode, reseat_sim_card, reset_apn_settings, reboot_device, toggle_data, toggle_roaming, set_network_mode_preference, toggle_data_saver_mode, disconnect_vpn, toggle_wifi_calling, grant_app_permission, make_payment.
Ask for a yes before each change of a line or a bill. Add at most 2 GB. Resume a line when its bill is paid, never after its contract has ended.
If nothing helps, transfer, and say "YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON."`;

const TOOLS: ReadonlySet<string> = new Set([
  'get_customer_by_phone',
  'get_details_by_id',
  'get_bills_for_customer',
  'get_data_usage',
  'send_payment_request',
  'resume_line',
  'enable_roaming',
  'refuel_data',
  'transfer_to_human_agents',
]);
const FIELDS: ReadonlySet<string> = new Set([
  'customer_id',
  'full_name',
  'line_ids',
  'line_id',
  'phone_number',
  'status',
  'plan_id',
  'roaming_enabled',
  'contract_end_date',
  'bill_id',
  'total_due',
  'data_used_gb',
  'data_limit_gb',
  'data_refueling_gb',
  'data_refueling_price_per_gb',
  'message',
]);

const typeOf = (property: Json) => (property as { type: string }).type;

/** Tools of the agent with one line of description each. Optional arguments and the argument `without` are left out. */
export const shortSchemas = (tools: ReadonlySet<string>, without = ''): ToolSchema[] =>
  telecom.tools
    .filter((tool) => tools.has(tool.function.name))
    .map(({ type, function: { name, description, parameters } }) => {
      const required = parameters.required.filter((key) => key !== without);
      const properties = Object.fromEntries(required.map((key) => [key, { type: typeOf(parameters.properties[key]!) }]));
      return { type, function: { name, description: description.split('\n')[0]!, parameters: { type: 'object', properties, required } } };
    });

export const NANO_TOOLS: readonly ToolSchema[] = shortSchemas(TOOLS);

/** Runs a call. The customer's tools are those of the other levels. */
export function executeAtNano(rows: Rows, call: ToolCall): ExactResult {
  if (call.requestor === 'user') return telecom.execute(rows, call);
  if (!TOOLS.has(call.name)) return { text: `Error: Tool '${call.name}' not found.`, error: true };
  const result = telecom.execute(rows, call);
  return result.text.startsWith('{') || result.text.startsWith('[') ? { ...result, text: shortened(result.text) } : result;
}

const shortened = (record: string): string =>
  JSON.stringify(JSON.parse(record), (key, value: unknown) => (key === '' || /^\d+$/.test(key) || FIELDS.has(key) ? value : undefined));
