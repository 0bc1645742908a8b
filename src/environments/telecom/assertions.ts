/** @file The functions that a task's `env_assertions` name. Each is true where its condition holds. */
import type { Arguments } from '../exact/arguments.ts';
import type { Rows } from '../overlay.ts';
import type { Json } from '../types.ts';
import { bill, customerLine } from './agent-tools.ts';
import { canSendMms, internetSpeed, mobileDataWorks, readPhone, type Phone } from './device.ts';

const is = (actual: Json, expected: Json | undefined) => actual === expected;

/** On the agent's database. */
export const AGENT_ASSERTIONS: ReadonlyMap<string, (rows: Rows, args: Arguments) => boolean> = new Map(Object.entries({
  assert_data_refueling_amount: (rows: Rows, args: Arguments) => is(customerLine(rows, args).data_refueling_gb, args.expected_amount),
  assert_line_status: (rows: Rows, args: Arguments) => is(customerLine(rows, args).status, args.expected_status),
  assert_overdue_bill_exists: (rows: Rows, { overdue_bill_id }: Arguments) => bill(rows, overdue_bill_id!).status === 'Overdue',
  // True only of a paid bill: one that merely awaits payment is still open.
  assert_no_overdue_bill: (rows: Rows, { overdue_bill_id }: Arguments) => rows.get('bills', overdue_bill_id as string) === undefined || bill(rows, overdue_bill_id!).status === 'Paid',
}));

/** On the phone and its surroundings. */
export const USER_ASSERTIONS: ReadonlyMap<string, (rows: Rows, args: Arguments) => boolean> = new Map(Object.entries({
  assert_airplane_mode_status: on((phone, { expected_status }) => is(phone.device.airplane_mode, expected_status)),
  assert_service_status: on((phone, { expected_status }) => is(phone.device.network_connection_status, expected_status)),
  assert_mobile_data_status: on((phone, { expected_status }) => is(mobileDataWorks(phone), expected_status)),
  assert_mobile_roaming_status: on((phone, { expected_status }) => is(phone.device.roaming_enabled, expected_status)),
  assert_mobile_data_saver_mode_status: on((phone, { expected_status }) => is(phone.device.data_saver_mode, expected_status)),
  assert_internet_speed: on((phone, { expected_speed, expected_desc }) => {
    const speed = internetSpeed(phone);
    return speed !== null && speed.mbps >= (expected_speed as number) && (expected_desc == null || speed.grade === (expected_desc as string).toLowerCase());
  }),
  assert_internet_not_excellent: on((phone) => internetSpeed(phone)?.grade !== 'excellent'),
  assert_can_send_mms: on((phone, { expected_status }) => is(canSendMms(phone), expected_status)),
  assert_mobile_data_usage_exceeded: on((phone, { expected_status }) => is(phone.surroundings.mobile_data_usage_exceeded, expected_status)),
}));

function on(holds: (phone: Phone, args: Arguments) => boolean): (rows: Rows, args: Arguments) => boolean {
  return (rows, args) => holds(readPhone(rows), args);
}
