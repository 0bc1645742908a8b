/** @file The functions of a task's `env_assertions`. Each returns whether its condition holds. */
import { type Arguments, numeric, Refusal } from '../exact/arguments.ts';
import type { Rows } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import { bill, customer, customerLine } from './agent-tools.ts';
import { canSendMms, internetSpeed, mobileDataWorks, readPhone, type Phone } from './device.ts';
import { NETWORK_STATUSES } from './schema.ts';

/** Python's `==` for scalars, where True equals 1. */
const is = (actual: string | boolean, expected: Json | undefined) =>
  actual === expected || (typeof actual === 'boolean' && Number(actual) === expected);

/** Assertions about the agent's database. */
export const AGENT_ASSERTIONS: ReadonlyMap<string, (rows: Rows, args: Arguments) => boolean> = new Map(
  Object.entries({
    assert_data_refueling_amount: (rows: Rows, args: Arguments) =>
      Math.abs(customerLine(rows, args).data_refueling_gb - numeric(args.expected_amount ?? null, 'expected_amount')) < 1e-6,
    assert_line_status: (rows: Rows, args: Arguments) => is(customerLine(rows, args).status, args.expected_status),
    assert_overdue_bill_exists,
    // Holds only for a paid bill, not for a bill that awaits payment.
    assert_no_overdue_bill: (rows: Rows, { overdue_bill_id }: Arguments) =>
      rows.get('bills', overdue_bill_id as string) === undefined || bill(rows, overdue_bill_id!).status === 'Paid',
  }),
);

/** Assertions about the phone and its surroundings. */
export const USER_ASSERTIONS: ReadonlyMap<string, (rows: Rows, args: Arguments) => boolean> = new Map(
  Object.entries({
    assert_airplane_mode_status: on((phone, { expected_status }) => is(phone.device.airplane_mode, expected_status)),
    assert_service_status: on((phone, { expected_status }) => {
      if (!NETWORK_STATUSES.includes(expected_status as string)) throw new Refusal('expected_status is no network status');
      return is(phone.device.network_connection_status, expected_status);
    }),
    assert_mobile_data_status: on((phone, { expected_status }) => is(mobileDataWorks(phone), expected_status)),
    assert_mobile_roaming_status: on((phone, { expected_status }) => is(phone.device.roaming_enabled, expected_status)),
    assert_mobile_data_saver_mode_status: on((phone, { expected_status }) => is(phone.device.data_saver_mode, expected_status)),
    assert_internet_speed: on((phone, { expected_speed, expected_desc }) => {
      const { mbps, grade } = internetSpeed(phone) ?? { mbps: 0, grade: 'no connection' };
      return (
        mbps >= numeric(expected_speed ?? null, 'expected_speed') &&
        (expected_desc == null || grade === (expected_desc as string).toLowerCase())
      );
    }),
    assert_internet_not_excellent: on((phone) => internetSpeed(phone)?.grade !== 'excellent'),
    assert_can_send_mms: on((phone, { expected_status }) => is(canSendMms(phone), expected_status)),
    assert_mobile_data_usage_exceeded: on((phone, { expected_status }) =>
      is(phone.surroundings.mobile_data_usage_exceeded, expected_status),
    ),
  }),
);

/** Quirk: never returns false. If the bill is missing or not overdue, it throws. */
function assert_overdue_bill_exists(rows: Rows, { customer_id, overdue_bill_id }: Arguments): boolean {
  if (!customer(rows, customer_id!).bill_ids.includes(overdue_bill_id as string))
    throw new Refusal(`Overdue bill ${overdue_bill_id as string} not found`);
  if (bill(rows, overdue_bill_id!).status !== 'Overdue') throw new Refusal(`Overdue bill ${overdue_bill_id as string} is not overdue`);
  return true;
}

function on(holds: (phone: Phone, args: Arguments) => boolean): (rows: Rows, args: Arguments) => boolean {
  return (rows, args) => holds(readPhone(rows), args);
}
