/**
 * @file Generates providers: about twelve customers with their lines, bills and devices, in the format of tau2-bench's telecom
 * database. A provider depends only on its id, `telecom/<split>/<seed>/w<number>`; that of a provider of level `glimpse` begins with
 * `telecom/glimpse`. The numbers in ids and the phone numbers come from a different residue class in each split, so `train` and
 * `heldout` never share a number.
 */
import { Dice } from '../../base/dice.ts';
import { CITIES, FIRST_NAMES, LAST_NAMES, STREETS } from '../retail/catalogue.ts';
import type { Json } from '../../records/json.ts';
import type { Split } from '../../records/task.ts';
import { TODAY } from './agent-tools.ts';
import type { Bill, Customer, Line, Plan } from './schema.ts';

export interface ProviderKey {
  split: Split;
  seed: number;
  number: number;
  glimpse?: boolean;
}

/** The database of a provider. It also has fields that no tool reads. */
export interface Provider {
  plans: Plan[];
  devices: Json[];
  lines: Line[];
  bills: Bill[];
  customers: Customer[];
}

const CUSTOMERS = 12;

interface Scale {
  /** The number of digits in the ids of lines. */
  digits: number;
  /** The smallest and the largest number of a customer's lines. */
  lines: [number, number];
  /** This many first lines of a customer are active. `suspended` is the share of suspended lines among the others. */
  active: number;
  suspended: number;
  /** The share of lines with roaming. */
  roaming: number;
}
const USUAL: Scale = { digits: 5, lines: [1, 3], active: 1, suspended: 0.2, roaming: 0.5 };
/** Short ids. Each customer has two lines that can be changed, so that each customer can change their mind in each way. */
const GLIMPSE: Scale = { digits: 4, lines: [2, 3], active: 2, suspended: 0.5, roaming: 0 };
/** For each plan: its name, gigabytes per month, price per month, and the price of an additional gigabyte. */
const PLANS: [string, number, number, number][] = [
  ['Starter', 3, 25, 5],
  ['Everyday', 10, 40, 3],
  ['Plus', 20, 60, 2],
  ['Traveller', 40, 80, 1.5],
];
const PHONES = ['Pico 2', 'Pico 3', 'Orbit S', 'Orbit L', 'Nova 8', 'Nova 9', 'Lumen One'];

/** Attacks play in the worlds of `heldout`. */
export function providerId({ split, seed, number, glimpse }: ProviderKey): string {
  return `telecom/${glimpse ? 'glimpse/' : ''}${split === 'attacks' ? 'heldout' : split}/${seed}/w${number}`;
}

/** Reads an id that `providerId` made. @throws if `id` is not the id of a provider */
export function parseProviderId(id: string): ProviderKey {
  const [, glimpse, split, seed, number] = /^telecom\/(glimpse\/)?(train|heldout)\/(\d+)\/w(\d+)$/.exec(id) ?? [];
  if (!split) throw new Error(`world: '${id}' is not the id of a telecom world`);
  return { split: split as Split, seed: Number(seed), number: Number(number), ...(glimpse && { glimpse: true }) };
}

/** Draws numbers for ids in the split's residue class. No number occurs twice in a provider. */
export class Numbers {
  private readonly used = new Set<number>();

  constructor(
    private readonly dice: Dice,
    private readonly split: Split,
  ) {}

  /** A number with `digits` digits. It is 3 modulo 7 for held-out providers, and any other residue for training. */
  draw(digits: number): string {
    for (;;) {
      const number = this.dice.int(10 ** (digits - 1), 10 ** digits - 1);
      if ((number % 7 === 3) !== (this.split === 'heldout') || this.used.has(number)) continue;
      this.used.add(number);
      return String(number);
    }
  }
}

/** Generates the database of a provider. Its bills are from January to March, and the fixed date of the domain is in this period. */
export function makeProvider({ split, seed, number, glimpse }: ProviderKey): Provider {
  const dice = new Dice(glimpse ? 'telecom-glimpse-provider' : 'telecom-provider', split, seed, number);
  const scale = glimpse ? GLIMPSE : USUAL;
  const numbers = new Numbers(dice, split);
  const plans = PLANS.map(([name, limit, price, refuel]): Plan => ({
    plan_id: `P${numbers.draw(4)}`,
    name: `${name} Plan`,
    data_limit_gb: limit,
    price_per_month: price + dice.int(0, 8),
    data_refueling_price_per_gb: refuel,
  }));
  const provider: Provider = { plans, devices: [], lines: [], bills: [], customers: [] };
  // Names are unique within a provider, so that a name identifies one customer.
  const names = dice.sample(
    FIRST_NAMES.flatMap((first) => LAST_NAMES.map((last) => [first, last] as const)),
    CUSTOMERS,
  );
  for (const [first, last] of names) provider.customers.push(makeCustomer(dice, numbers, scale, provider, first, last));
  return provider;
}

function makeCustomer(dice: Dice, numbers: Numbers, scale: Scale, provider: Provider, first: string, last: string): Customer {
  const customer_id = `C${numbers.draw(5)}`;
  const lines = Array.from({ length: dice.int(...scale.lines) }, (_, i) =>
    makeLine(dice, numbers, scale, provider, i >= scale.active && dice.chance(scale.suspended)),
  );
  const bills = makeBills(dice, numbers, provider.plans, customer_id, lines);
  provider.lines.push(...lines);
  provider.bills.push(...bills);
  const { city, state, zip } = dice.pick(CITIES);
  const card = {
    method_type: dice.pick(['Credit Card', 'Debit Card', 'PayPal']),
    account_number_last_4: String(dice.int(1000, 9999)),
    expiration_date: `${two(dice.int(1, 12))}/${dice.int(2026, 2029)}`,
  };
  return {
    customer_id,
    full_name: `${first} ${last}`,
    date_of_birth: date(dice.int(1950, 2004), dice.int(1, 12), dice.int(1, 28)),
    email: `${first}.${last}${numbers.draw(4)}@example.com`.toLowerCase(),
    phone_number: dice.pick(lines).phone_number,
    address: { street: `${dice.int(1, 999)} ${dice.pick(STREETS)}`, city, state, zip_code: `${zip}${dice.int(10, 99)}` },
    account_status: 'Active',
    payment_methods: [card],
    line_ids: lines.map(({ line_id }) => line_id),
    bill_ids: bills.map(({ bill_id }) => bill_id),
    created_at: `${date(dice.int(2021, 2024), dice.int(1, 12), dice.int(1, 28))} ${two(dice.int(8, 19))}:${two(dice.int(0, 59))}:00`,
    last_extension_date: null,
    goodwill_credit_used_this_year: dice.pick([0, 0, 10, 25]),
  } as Customer;
}

function makeLine(dice: Dice, numbers: Numbers, { digits, roaming }: Scale, { plans, devices }: Provider, suspended: boolean): Line {
  const plan = dice.pick(plans);
  const device_id = `D${numbers.draw(5)}`;
  devices.push({
    device_id,
    device_type: 'phone',
    model: dice.pick(PHONES),
    imei: `35${numbers.draw(13)}`,
    is_esim_capable: dice.chance(0.7),
    activated: true,
    activation_date: `${date(2024, dice.int(1, 12), dice.int(1, 28))} ${two(dice.int(8, 19))}:${two(dice.int(0, 59))}:00`,
    last_esim_transfer_date: null,
  });
  return {
    line_id: `L${numbers.draw(digits)}`,
    phone_number: phoneNumber(numbers.draw(10)),
    status: suspended ? 'Suspended' : 'Active',
    plan_id: plan.plan_id,
    device_id,
    data_used_gb: suspended ? 0 : dice.int(0, plan.data_limit_gb * 9) / 10,
    data_refueling_gb: 0,
    roaming_enabled: dice.chance(roaming),
    contract_end_date: date(dice.int(2026, 2027), dice.int(1, 12), 28),
    last_plan_change_date: date(2024, dice.int(1, 12), dice.int(1, 28)),
    last_sim_replacement_date: null,
    suspension_start_date: suspended ? date(2025, 2, dice.int(1, 20)) : null,
  } as Line;
}

/** The bill of January is paid, and that of February is open. The bill of March is a draft, which not every customer has. */
function makeBills(dice: Dice, numbers: Numbers, plans: Plan[], customer_id: string, lines: Line[]): Bill[] {
  const months = dice.chance(0.75) ? 3 : 2;
  return Array.from({ length: months }, (_, i): Bill => {
    const month = i + 1;
    const issue_date = date(2025, month, month === 3 ? 1 : 5);
    const line_items =
      month === 3
        ? []
        : lines.map(({ phone_number, plan_id }) => {
            const { name, price_per_month } = plans.find((plan) => plan.plan_id === plan_id)!;
            return { description: `${name} - Line ${phone_number}`, amount: price_per_month, date: issue_date, item_type: 'Plan Charge' };
          });
    return {
      bill_id: `B${numbers.draw(6)}`,
      customer_id,
      period_start: date(2025, month, 1),
      period_end: date(2025, month, month === 2 ? 28 : 31),
      issue_date,
      total_due: line_items.reduce((sum, { amount }) => sum + amount, 0),
      due_date: date(2025, month, month === 3 ? 15 : 19),
      line_items,
      status: (['Paid', 'Issued', 'Draft'] as const)[i]!,
    };
  });
}

/** The lines that can be the subject of a task: they are active and have data left. */
export function callers({ customers, lines, plans }: Provider): { customer: Customer; line: Line; plan: Plan }[] {
  return customers.flatMap((customer) =>
    lines
      .filter(
        ({ line_id, status, contract_end_date }) =>
          customer.line_ids.includes(line_id) && status === 'Active' && contract_end_date! > TODAY,
      )
      .map((line) => ({ customer, line, plan: plans.find(({ plan_id }) => plan_id === line.plan_id)! })),
  );
}

const two = (n: number) => String(n).padStart(2, '0');
const date = (year: number, month: number, day: number) => `${year}-${two(month)}-${two(day)}`;
const phoneNumber = (digits: string) => `${digits.slice(0, 3)}-${digits.slice(3, 6)}-${digits.slice(6)}`;
