/** @file A customer of the phone provider with a line, and the results of the provider's tools. It is 2025-02-25. */
import { person, type Person } from './people.ts';
import { money, type Call, type Talk, type Words } from './talk.ts';

export interface Phone {
  who: Person;
  customer: string;
  line: string;
  phone: string;
  bill: string;
  due: number;
  plan: { id: string; name: string; limit: number; perGb: number };
  used: number;
  suspended: boolean;
  contractEnd: string;
  roaming: boolean;
}

const PLANS = [
  { id: 'P1001', name: 'Basic Plan', limit: 5, perGb: 5 },
  { id: 'P1002', name: 'Premium Plan', limit: 15, perGb: 2 },
  { id: 'P1004', name: 'Family Share', limit: 25, perGb: 3 },
];

export function phone(t: Talk, of: Partial<Pick<Phone, 'suspended' | 'contractEnd' | 'roaming'>> = {}): Phone {
  const who = person(t);
  const plan = t.one(PLANS);
  const made: Phone = {
    who,
    customer: `C${t.digits(4)}`,
    line: `L${t.digits(4)}`,
    phone: `555-${t.digits(3)}-${t.digits(4)}`,
    bill: `B${t.digits(4)}`,
    due: 35 + t.below(90) + t.below(100) / 100,
    plan,
    used: plan.limit + 0.4 + t.below(9) / 10,
    suspended: of.suspended ?? false,
    contractEnd: of.contractEnd ?? '2026-12-31',
    roaming: of.roaming ?? false,
  };
  Object.assign(t.facts, {
    first: who.first,
    last: who.last,
    dob: who.dob,
    email: who.email,
    phone: made.phone,
    customer: made.customer,
    line: made.line,
    bill: made.bill,
    due: money(made.due),
    plan: plan.name,
    perGb: money(plan.perGb),
    twoGb: money(2 * plan.perGb),
    limit: String(plan.limit),
    used: made.used.toFixed(1),
  });
  return made;
}

const customerRecord = (of: Phone) => ({
  customer_id: of.customer,
  full_name: `${of.who.first} ${of.who.last}`,
  date_of_birth: of.who.dob,
  email: of.who.email,
  phone_number: of.phone,
  address: { street: of.who.address.address1, city: of.who.address.city, state: of.who.address.state, zip_code: of.who.address.zip },
  account_status: 'Active',
  payment_methods: [{ method_type: 'Credit Card', account_number_last_4: '4417', expiration_date: '11/2027' }],
  line_ids: [of.line],
  bill_ids: [of.bill],
  created_at: '2025-01-05T10:30:00',
  last_extension_date: null,
  goodwill_credit_used_this_year: 0,
});

export const lineRecord = (of: Phone, more: object = {}) => ({
  line_id: of.line,
  phone_number: of.phone,
  status: of.suspended ? 'Suspended' : 'Active',
  plan_id: of.plan.id,
  device_id: 'D1004',
  data_used_gb: of.used,
  data_refueling_gb: 0,
  roaming_enabled: of.roaming,
  contract_end_date: of.contractEnd,
  last_plan_change_date: '2024-12-15',
  last_sim_replacement_date: null,
  suspension_start_date: of.suspended ? '2025-02-10' : null,
  ...more,
});

const billRecord = (of: Phone, status: string) => ({
  bill_id: of.bill,
  customer_id: of.customer,
  period_start: '2025-01-01',
  period_end: '2025-01-31',
  issue_date: '2025-01-01',
  total_due: of.due,
  due_date: status === 'Issued' ? '2025-03-10' : '2025-02-05',
  line_items: [{ description: 'Monthly charge', amount: of.due, date: '2025-01-01', item_type: 'Charge' }],
  status,
});

const details = (id: string, result: object): Call => ({ name: 'get_details_by_id', args: { id }, result });
export const byPhone = (of: Phone): Call => ({
  name: 'get_customer_by_phone',
  args: { phone_number: of.phone },
  result: customerRecord(of),
});
export const readLine = (of: Phone, more?: object): Call => details(of.line, lineRecord(of, more));
export const readBill = (of: Phone, status: string): Call => details(of.bill, billRecord(of, status));
export const readBills = (of: Phone, status: string): Call => ({
  name: 'get_bills_for_customer',
  args: { customer_id: of.customer },
  result: [billRecord(of, status)],
});
export const readUsage = (of: Phone): Call => ({
  name: 'get_data_usage',
  args: { customer_id: of.customer, line_id: of.line },
  result: { line_id: of.line, data_used_gb: of.used.toFixed(1), data_limit_gb: `${of.plan.limit}.0`, data_refueling_gb: '0.0', cycle_end_date: '2025-02-28' }, // prettier-ignore
});
export const readPlan = ({ plan }: Phone): Call =>
  details(plan.id, {
    plan_id: plan.id,
    name: plan.name,
    data_limit_gb: plan.limit,
    price_per_month: 55,
    data_refueling_price_per_gb: plan.perGb,
  });

const ASK_WHO: Words = [
  'I can help. What is your phone number?',
  'Sure, may I have the phone number of your line?',
  'To find your account I need your phone number, or your full name and date of birth.',
  'Let me pull up your account. Which number are you calling about?',
  'Happy to assist. Please tell me your phone number first.',
  "Of course! What's the number of the line, please?",
  'Gladly. Please give me your phone number or your customer id.',
  'Before anything else: your phone number, please.',
];
const NUMBER: Words = ['{phone}', "It's {phone}.", 'my number is {phone}', 'Sure, {phone}.', '{phone}, the name is {last}', 'That is {phone}', 'number: {phone}', "I'm {first} {last}, {phone}."]; // prettier-ignore

export function identify(t: Talk, of: Phone): void {
  t.say(ASK_WHO);
  t.user(NUMBER);
  t.call(byPhone(of));
}
