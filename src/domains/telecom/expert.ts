/**
 * @file The expert, a programmed agent that plays the conversations for the cold start. It finds the customer, has the customer
 * look at the phone, and repairs the first fault that it sees, in the order of the policy. It sees only what an agent sees.
 * Each act is one tool call, or one short sentence that names one tool of the customer.
 *
 * A careful expert asks for a yes before each write of its own, and names the price of data. A brisk expert writes as soon as
 * it knows enough. Both ask how many gigabytes to add, because only the customer knows this.
 */
import type { Act, CreateExpert } from '../../agent/acts.ts';
import type { Style } from '../../records/dataset.ts';
import type { ToolCall } from '../../records/task.ts';
import { isConfirmation } from '../../agent/answers.ts';
import { TODAY } from './agent-tools.ts';
import { ASK_GIGABYTES, type CaseFile, readConversation } from './expert-notes.ts';
import { createGlimpseExpert } from './glimpse/expert.ts';
import type { Line } from './schema.ts';

const HANDOVER = 'YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.';
/** For each problem: the tool of the customer that shows whether it is solved. */
const TESTS = { service: 'check_status_bar', data: 'run_speed_test', mms: 'can_send_mms' } as const;
const PERMISSIONS = ['sms', 'storage'] as const;

/** Above `glimpse`, tools have no faults, so the expert never needs to call again. */
export const createExpert: CreateExpert = ({ level }, seed, { style = 'careful' } = {}) =>
  level === 'glimpse' ? createGlimpseExpert(seed, style) : { act: (messages) => nextAct(readConversation(messages), style) };

const use = (tool: string, ...values: string[]): Act => ({
  say: `Please use ${tool}${values.length ? ` with ${values.join(' and ')}` : ''}.`,
});
const call = (name: string, args: ToolCall['arguments']): Act => ({ call: { name, arguments: args } });
const transfer = (summary: string): Act => call('transfer_to_human_agents', { summary });

function nextAct(file: CaseFile, style: Style): Act {
  const { problem, number, customer } = file;
  if (file.transferred) return { say: HANDOVER };
  if (!problem) return { say: 'How can I help you?' };
  if (!number) return { say: problem === 'service' ? 'What is your phone number?' : 'What is your phone number, and are you abroad?' };
  if (!customer)
    return file.failed.has('get_customer_by_phone')
      ? transfer('The customer is not found.')
      : call('get_customer_by_phone', { phone_number: number });
  return connection(file) ?? (problem === 'service' ? service(file, style) : data(file, style)) ?? transfer('No step helps.');
}

/** Airplane mode and the SIM card, which every problem can have. */
function connection({ phone }: CaseFile): Act | null {
  if (phone.airplane === undefined) return use('check_network_status');
  if (phone.airplane) return use('toggle_airplane_mode');
  if (phone.sim === 'missing') return use('reseat_sim_card');
  return phone.sim === 'active' ? null : transfer('The SIM card is locked.');
}

function service(file: CaseFile, style: Style): Act | null {
  if (file.phone.apnBroken === undefined) return use('check_apn_settings');
  if (file.restart) return use('reboot_device');
  if (file.phone.apnBroken) return use('reset_apn_settings');
  return suspension(file, style);
}

/** A line that is suspended for an overdue bill. */
function suspension(file: CaseFile, style: Style): Act | null {
  const { customer_id } = file.customer!;
  const line = findLine(file);
  if (!('line_id' in line)) return line;
  if (line.status !== 'Suspended') return null;
  if (line.contract_end_date! < TODAY) return transfer('The contract has ended.');
  if (!file.bills) return call('get_bills_for_customer', { customer_id });
  const { request } = file;
  if (request && !request.seen) return use('check_payment_request');
  if (request && !request.paid) return use('make_payment');
  const bill = file.bills.find(({ bill_id, status }) => (request ? bill_id === request.bill_id : status === 'Overdue'));
  if (!bill) return null;
  const { bill_id, status } = bill;
  if (!request)
    return write(file, style, `May I send a payment request for bill ${bill_id}?`, 'send_payment_request', { customer_id, bill_id });
  if (status !== 'Paid') return call('get_details_by_id', { id: bill_id });
  return write(file, style, `May I resume line ${line.line_id}?`, 'resume_line', { customer_id, line_id: line.line_id });
}

/** Mobile data, of which picture messages need any speed. */
function data(file: CaseFile, style: Style): Act | null {
  const { phone, problem } = file;
  if (file.abroad) {
    const line = findLine(file);
    if (!('line_id' in line)) return line;
    if (!line.roaming_enabled) {
      const { line_id } = line;
      const args = { customer_id: file.customer!.customer_id, line_id };
      return write(file, style, `May I enable roaming on line ${line_id}?`, 'enable_roaming', args);
    }
    if (!phone.roaming) return use('toggle_roaming');
  }
  if (file.untested) return use(TESTS[problem!]);
  if (!phone.data) return use('toggle_data');
  if (phone.network === '2G' || (phone.network === '3G' && problem === 'data'))
    return use('set_network_mode_preference', '4g_5g_preferred');
  return (problem === 'data' ? speed(file) : pictures(file)) ?? usedUp(file, style);
}

/** The data saver, and any VPN. */
function speed({ phone }: CaseFile): Act | null {
  if (phone.saver === undefined) return use('check_status_bar');
  if (phone.saver) return use('toggle_data_saver_mode');
  return phone.vpn ? use('disconnect_vpn') : null;
}

function pictures({ phone, restart }: CaseFile): Act | null {
  if (phone.wifiCalling === undefined) return use('check_wifi_calling_status');
  if (phone.wifiCalling) return use('toggle_wifi_calling');
  if (phone.mmscMissing === undefined) return use('check_apn_settings');
  if (restart) return use('reboot_device');
  if (phone.mmscMissing) return use('reset_apn_settings');
  const { permissions } = phone;
  if (!permissions) return use('check_app_permissions', 'messaging');
  const lacking = PERMISSIONS.find((permission) => !permissions.includes(permission));
  return lacking ? use('grant_app_permission', 'messaging', lacking) : null;
}

/** Data that is used up. */
function usedUp(file: CaseFile, style: Style): Act | null {
  const { usage, gigabytes, plans } = file;
  const line = findLine(file);
  if (!('line_id' in line)) return line;
  const { line_id, plan_id } = line;
  const args = { customer_id: file.customer!.customer_id, line_id };
  if (!usage) return call('get_data_usage', args);
  if (usage.used < usage.limit) return null;
  if (gigabytes === undefined) return { say: ASK_GIGABYTES };
  if (gigabytes === 0) return transfer('The customer wants no more data.');
  const plan = plans.find((one) => one.plan_id === plan_id);
  if (!plan && style === 'careful') return call('get_details_by_id', { id: plan_id });
  const price = plan?.data_refueling_price_per_gb;
  return write(file, style, `May I add ${gigabytes} GB to line ${line_id} at ${price} USD per GB?`, 'refuel_data', {
    ...args,
    gb_amount: gigabytes,
  });
}

/** The line with the customer's number, or the act that looks for it. */
function findLine({ customer, lines, number }: CaseFile): Line | Act {
  const line = lines.find(({ phone_number }) => phone_number === number);
  if (line) return line;
  const id = customer!.line_ids.find((line_id) => !lines.some((known) => known.line_id === line_id));
  return id === undefined ? transfer('The line is not found.') : call('get_details_by_id', { id });
}

/** A careful expert makes the call only if the customer's last message is a yes to exactly this question. */
function write(file: CaseFile, style: Style, question: string, name: string, args: ToolCall['arguments']): Act {
  if (file.failed.has(name)) return transfer('No step helps.');
  const agreed = file.lastSaid === question && isConfirmation(file.lastHeard);
  return style === 'careful' && !agreed ? { say: question } : call(name, args);
}
