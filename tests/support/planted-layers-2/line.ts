/** @file A customer of a phone provider with one line, and the calls that read and change it. */
import { person } from '../planted-layers/people.ts';
import { type Call, money, type Talk, type Words } from '../planted-layers/talk.ts';
import { HELLO, WAIT } from './words.ts';

const ASK: Words = [
  'Sure. What is the phone number of the line?',
  'I will check. Which number is it about?',
  'Let us find your account first. Your phone number, please?',
  'Of course. Please tell me the number that has the problem.',
];
const NUMBER: Words = [
  'The number is {phone}.',
  'it is {phone}',
  'My line is {phone}.',
  '{phone}, thanks.',
  'You should find it under {phone}.',
  'Phone number: {phone}',
];
const PLANS = [
  ['P1001', 'Basic Plan', 5, 40, 5],
  ['P1002', 'Premium Plan', 15, 65, 2],
  ['P1004', 'Family Share', 25, 120, 3],
] as const;

export class Line {
  readonly customer: string;
  readonly line: string;
  readonly bill: string;
  readonly perGb: number;
  readonly record: Record<string, unknown>;
  readonly plan: Record<string, unknown>;
  private readonly profile: Record<string, unknown>;
  private readonly used: number;
  private readonly due: number;

  constructor(
    private readonly t: Talk,
    { status = 'Active', contract = '2026-10-31', roaming = false }: { status?: string; contract?: string; roaming?: boolean } = {},
  ) {
    const who = person(t);
    const phone = `555-${t.digits(3)}-${t.digits(4)}`;
    this.customer = `C${t.digits(4)}`;
    this.line = `L${t.digits(4)}`;
    this.bill = `B${t.digits(6)}`;
    const [plan_id, name, limit, price, perGb] = t.one(PLANS);
    this.perGb = perGb;
    this.used = limit + 1 + t.below(9) / 10;
    this.due = 41 + t.below(90) + 0.5;
    this.plan = { plan_id, name, data_limit_gb: limit, price_per_month: price, data_refueling_price_per_gb: perGb };
    this.profile = {
      customer_id: this.customer,
      full_name: `${who.first} ${who.last}`,
      date_of_birth: who.dob,
      email: who.email,
      phone_number: phone,
      address: { street: who.address.address1, city: who.address.city, state: who.address.state, zip_code: who.address.zip },
      account_status: 'Active',
      payment_methods: [{ method_type: 'Credit Card', account_number_last_4: t.digits(4), expiration_date: '11/2027' }],
      line_ids: [this.line],
      bill_ids: [this.bill],
      created_at: '2024-02-11T10:00:00',
      last_extension_date: null,
      goodwill_credit_used_this_year: 0,
    };
    this.record = {
      line_id: this.line,
      phone_number: phone,
      status,
      plan_id,
      device_id: `D${t.digits(4)}`,
      data_used_gb: this.used,
      data_refueling_gb: 0,
      roaming_enabled: roaming,
      contract_end_date: contract,
      last_plan_change_date: '2024-11-02',
      last_sim_replacement_date: null,
      suspension_start_date: status === 'Suspended' ? '2025-02-12' : null,
    };
    Object.assign(t.facts, {
      name: `${who.first} ${who.last}`,
      first: who.first,
      phone,
      line: this.line,
      bill: this.bill,
      due: money(this.due),
      wrongDue: money(this.due + 11),
      plan: name,
      limit: String(limit),
      used: String(this.used),
      wrongUsed: (this.used - 2.3).toFixed(1),
      perGb: money(perGb),
      price2: money(perGb * 2),
      wrong2: money(perGb * 2 + 3),
      contract,
    });
  }

  start(wish: Words, plan = false): void {
    const { t } = this;
    if (t.below(3) === 0) t.say(HELLO);
    if (t.below(2)) {
      t.user(wish);
      t.say(ASK);
      t.user(NUMBER);
    } else t.messages.push({ role: 'user', content: `${t.text(wish)}\n${t.text(NUMBER)}` });
    t.call({ name: 'get_customer_by_phone', args: { phone_number: t.facts.phone }, result: this.profile }, false, this.beside());
    const calls = [this.details(this.line, this.record), ...(plan ? [this.details(String(this.plan.plan_id), this.plan)] : [])];
    if (t.loose) t.call(calls, false, this.beside());
    else for (const call of calls) t.call(call);
  }
  private beside(): string | null {
    return this.t.loose && this.t.below(2) ? this.t.text(WAIT) : null;
  }
  private on(name: string, result: unknown, more: Record<string, unknown> = {}): Call {
    return { name, args: { customer_id: this.customer, line_id: this.line, ...more }, result };
  }
  details(id: string, result: unknown): Call {
    return { name: 'get_details_by_id', args: { id }, result };
  }
  private billRecord(status: string): Record<string, unknown> {
    return {
      bill_id: this.bill,
      customer_id: this.customer,
      period_start: '2025-01-01',
      period_end: '2025-01-31',
      issue_date: '2025-02-01',
      total_due: this.due,
      due_date: '2025-02-10',
      line_items: [{ description: `${String(this.plan.name)} and fees`, amount: this.due, date: '2025-02-01', item_type: 'Plan Charge' }],
      status,
    };
  }
  bills(status = 'Overdue'): Call {
    return { name: 'get_bills_for_customer', args: { customer_id: this.customer }, result: [this.billRecord(status)] };
  }
  billIs(status: string): Call {
    return this.details(this.bill, this.billRecord(status));
  }
  request(error?: string): Call {
    const result = error ? `Error: ${error}` : `Payment request sent to the customer for bill ${this.bill}`;
    return { name: 'send_payment_request', args: { customer_id: this.customer, bill_id: this.bill }, result };
  }
  resume(error?: string): Call {
    const line = { ...this.record, status: 'Active', suspension_start_date: null };
    return this.on('resume_line', error ? `Error: ${error}` : { message: 'Line resumed successfully', line });
  }
  usage(): Call {
    return this.on('get_data_usage', {
      line_id: this.line,
      data_used_gb: String(this.used),
      data_limit_gb: `${String(this.plan.data_limit_gb)}.0`,
      data_refueling_gb: '0.0',
      cycle_end_date: '2025-02-28',
    });
  }
  refuel(gb: number, error?: string): Call {
    const cost = gb * this.perGb;
    const result = {
      message: `Successfully added ${gb}.0 GB of data for line ${this.line} for ${money(cost)}`,
      new_data_refueling_gb: `${gb}.0`,
      charge: `${cost}.0`,
    };
    return this.on('refuel_data', error ? `Error: ${error}` : result, { gb_amount: gb });
  }
  roam(): Call {
    return this.on('enable_roaming', 'Roaming enabled successfully');
  }
}
