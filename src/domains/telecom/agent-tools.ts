/**
 * @file The agent's thirteen tools of tau2-bench's telecom domain, with the names, arguments, order of checks and texts of
 * sierra-research/tau2-bench (MIT). A tool returns a text, or a value that its observation prints as JSON.
 */
import { numeric, Refusal, type Arguments } from '../exact/arguments.ts';
import { text } from '../exact/model.ts';
import type { Rows } from '../../environments/overlay.ts';
import { floatRepr } from '../../python/text.ts';
import { pythonStr, round2 } from '../exact/python.ts';
import type { Json } from '../../records/json.ts';
import type { Parameters } from './calls.ts';
import { find, put, recordJson, type Bill, type Customer, type Line, type Plan, type Table } from './schema.ts';

/** The domain's date never changes. */
export const TODAY = '2025-02-25';
const CYCLE_END = '2025-02-28';

interface AgentTool extends Parameters {
  run(rows: Rows, args: Arguments): string;
}

const ON_LINE = ['customer_id', 'line_id'] as const;

/** The tools in upstream's order. This is a Map, because in an object, `constructor` would be found as a tool. */
export const AGENT_TOOLS: ReadonlyMap<string, AgentTool> = new Map<string, AgentTool>(
  Object.entries({
    get_customer_by_phone: {
      required: ['phone_number'],
      run: (rows, { phone_number }) => recordJson(customerByPhone(rows, phone_number!) as never),
    },
    get_customer_by_id: { required: ['customer_id'], run: (rows, { customer_id }) => recordJson(customer(rows, customer_id!) as never) },
    get_customer_by_name: { required: ['full_name', 'dob'], run: getCustomerByName },
    get_details_by_id: { required: ['id'], run: getDetailsById },
    suspend_line: { required: [...ON_LINE, 'reason'], run: suspendLine },
    resume_line: { required: ON_LINE, run: resumeLine },
    get_bills_for_customer: { required: ['customer_id'], optional: { limit: 12 }, run: getBillsForCustomer },
    send_payment_request: { required: ['customer_id', 'bill_id'], run: sendPaymentRequest },
    get_data_usage: { required: ON_LINE, run: getDataUsage },
    enable_roaming: { required: ON_LINE, run: (rows, args) => setRoaming(rows, args, true) },
    disable_roaming: { required: ON_LINE, run: (rows, args) => setRoaming(rows, args, false) },
    transfer_to_human_agents: { required: ['summary'], run: () => 'Transfer successful' },
    refuel_data: { required: [...ON_LINE, 'gb_amount'], run: refuelData },
  } satisfies Record<string, AgentTool>),
);

function record<T>(rows: Rows, table: Table, id: Json, what: string): T {
  const found = find<T>(rows, table, id);
  if (found === undefined) throw new Refusal(`${what} with ID ${pythonStr(id)} not found`);
  return found;
}

export const customer = (rows: Rows, id: Json): Customer => record(rows, 'customers', id, 'Customer');
export const bill = (rows: Rows, id: Json): Bill => record(rows, 'bills', id, 'Bill');
export const plan = (rows: Rows, id: Json): Plan => record(rows, 'plans', id, 'Plan');
export const lineById = (rows: Rows, id: Json): Line => record(rows, 'lines', id, 'Line');

/** Finds the customer by the customer's phone number or the number of a line. The first match in the database is used. */
export function customerByPhone(rows: Rows, phoneNumber: Json): Customer {
  for (const id of rows.keys('customers')) {
    const candidate = customer(rows, id);
    if (candidate.phone_number === phoneNumber || candidate.line_ids.some((lineId) => lineById(rows, lineId).phone_number === phoneNumber))
      return candidate;
  }
  throw new Refusal(`Customer with phone number ${pythonStr(phoneNumber)} not found`);
}

export function customerLine(rows: Rows, { customer_id, line_id }: Arguments): Line {
  if (!customer(rows, customer_id!).line_ids.includes(line_id as string))
    throw new Refusal(`Line ${pythonStr(line_id!)} not found for customer ${pythonStr(customer_id!)}`);
  return lineById(rows, line_id!);
}

function getCustomerByName(rows: Rows, { full_name, dob }: Arguments): string {
  const name = (text(full_name, 'full_name') as string).toLowerCase();
  const found = rows
    .keys('customers')
    .map((id) => customer(rows, id))
    .filter((row) => row.full_name.toLowerCase() === name && row.date_of_birth === dob);
  return recordJson(found as never);
}

/** The prefix of an id says its table. The id is compared in upper case, with these prefixes in this order. */
const PREFIXES: [string, Table, string][] = [
  ['L', 'lines', 'Line'],
  ['D', 'devices', 'Device'],
  ['B', 'bills', 'Bill'],
  ['C', 'customers', 'Customer'],
  ['P', 'plans', 'Plan'],
];

function getDetailsById(rows: Rows, { id }: Arguments): string {
  const prefix = PREFIXES.find(([letter]) => (text(id, 'id') as string).startsWith(letter));
  if (!prefix) throw new Refusal(`Unknown ID format or type: ${pythonStr(id!)}`);
  return recordJson(record<Json>(rows, prefix[1], id!, prefix[2]));
}

function suspendLine(rows: Rows, args: Arguments): string {
  const target = customerLine(rows, args);
  if (target.status !== 'Active') throw new Refusal('Line must be active to suspend');
  put(rows, 'lines', Object.assign(target, { status: 'Suspended', suspension_start_date: TODAY }));
  // Quirk: the text mentions a holding fee, but no bill contains it.
  return recordJson({ message: 'Line suspended successfully. $5/month holding fee will apply.', line: target as never });
}

function resumeLine(rows: Rows, args: Arguments): string {
  const target = customerLine(rows, args);
  // Quirk: the tool checks neither the end of the contract nor open bills, although the policy requires both checks.
  if (target.status !== 'Suspended' && target.status !== 'Pending Activation') throw new Refusal('Line must be suspended to resume');
  put(rows, 'lines', Object.assign(target, { status: 'Active', suspension_start_date: null }));
  return recordJson({ message: 'Line resumed successfully', line: target as never });
}

function getBillsForCustomer(rows: Rows, { customer_id, limit }: Arguments): string {
  const bills = customer(rows, customer_id!).bill_ids.map((id) => bill(rows, id));
  const count = limit === null ? bills.length : Number(limit);
  if ((!['number', 'boolean'].includes(typeof limit) && limit !== null) || !Number.isSafeInteger(count))
    throw new Refusal('limit must be an integer');
  // Quirk: the limit is the end of a Python slice, so -1 drops the oldest bill.
  return recordJson(
    bills.sort((a, b) => (a.issue_date < b.issue_date ? 1 : a.issue_date > b.issue_date ? -1 : 0)).slice(0, count) as never,
  );
}

function sendPaymentRequest(rows: Rows, { customer_id, bill_id }: Arguments): string {
  const owner = customer(rows, customer_id!);
  if (owner.bill_ids.some((id) => bill(rows, id).status === 'Awaiting Payment'))
    throw new Refusal('A bill is already awaiting payment for this customer');
  if (!owner.bill_ids.includes(bill_id as string))
    throw new Refusal(`Bill ${pythonStr(bill_id!)} not found for customer ${pythonStr(customer_id!)}`);
  // Quirk: the tool does not check whether the bill is overdue or already paid.
  put(rows, 'bills', { ...bill(rows, bill_id!), status: 'Awaiting Payment' });
  return `Payment request sent to the customer for bill ${pythonStr(bill_id!)}`;
}

function getDataUsage(rows: Rows, args: Arguments): string {
  const { line_id, plan_id, data_used_gb, data_refueling_gb } = customerLine(rows, args);
  // Quirk: upstream prints numbers in a returned dictionary as strings, but numbers in records as numbers.
  return recordJson({
    line_id,
    data_used_gb: floatRepr(data_used_gb),
    data_limit_gb: floatRepr(plan(rows, plan_id).data_limit_gb),
    data_refueling_gb: floatRepr(data_refueling_gb),
    cycle_end_date: CYCLE_END,
  });
}

function setRoaming(rows: Rows, args: Arguments, enabled: boolean): string {
  const target = customerLine(rows, args);
  const word = enabled ? 'enabled' : 'disabled';
  if (target.roaming_enabled === enabled) return `Roaming was already ${word}`;
  put(rows, 'lines', { ...target, roaming_enabled: enabled });
  return `Roaming ${word} successfully`;
}

function refuelData(rows: Rows, args: Arguments): string {
  const target = customerLine(rows, args);
  const amount = numeric(args.gb_amount!, 'gb_amount');
  // Quirk: the tool also refuels a suspended line, although its description says otherwise.
  if (amount <= 0) throw new Refusal('Refuel amount must be positive');
  const price = plan(rows, target.plan_id).data_refueling_price_per_gb;
  const charge = amount * price;
  // Sums are not rounded. The text repeats the argument (`True` for a boolean). JSON cannot distinguish 2 from 2.0, so 2.0 is
  // printed for both.
  const shown = args.gb_amount === true ? 'True' : floatRepr(amount);
  const total = target.data_refueling_gb + amount;
  put(rows, 'lines', { ...target, data_refueling_gb: total });
  chargeOnce(rows, args.customer_id as string, charge, `Data refueling: ${shown} GB at $${floatRepr(price)}/GB`);
  const money = charge >= 1e21 ? `${BigInt(charge)}.00` : round2(charge).toFixed(2);
  return recordJson({
    message: `Successfully added ${shown} GB of data for line ${pythonStr(args.line_id!)} for $${money}`,
    new_data_refueling_gb: floatRepr(total),
    charge: floatRepr(charge),
  });
}

/** Adds an amount to the customer's first draft bill. A customer without a draft bill gets one for the next month. */
function chargeOnce(rows: Rows, customerId: string, amount: number, description: string): void {
  const owner = customer(rows, customerId);
  let draft = owner.bill_ids.map((id) => bill(rows, id)).find(({ status }) => status === 'Draft');
  if (!draft) {
    draft = {
      bill_id: newBillId(rows),
      customer_id: customerId,
      period_start: '2025-03-01',
      period_end: '2025-03-31',
      issue_date: '2025-03-01',
      total_due: 0,
      due_date: '2025-03-15',
      line_items: [],
      status: 'Draft',
    };
    put(rows, 'customers', { ...owner, bill_ids: [...owner.bill_ids, draft.bill_id] });
  }
  draft.line_items.push({ description, amount, date: TODAY, item_type: amount > 0 ? 'Charge' : 'Credit' });
  draft.total_due += amount;
  put(rows, 'bills', draft);
}

/** Makes the id of a new bill. Upstream's id is random, so its database hash differs between runs. Here it is a counter. */
function newBillId(rows: Rows): string {
  const known = new Set(rows.keys('bills'));
  for (let n = 1; ; n++) {
    const id = `B${String(n).padStart(8, '0')}`;
    if (!known.has(id)) return id;
  }
}
