/** @file Synchronises the phone with the provider's records after every call. */
import { Refusal } from '../exact/arguments.ts';
import type { Rows } from '../../environments/overlay.ts';
import { bill, customerByPhone, plan } from './agent-tools.ts';
import { readPhone, savePhone } from './device.ts';
import { find, put, type Line } from './schema.ts';

/** Upstream's `sync_tools`. Does nothing if the user has no phone number yet. @throws {Refusal} if no line has that number */
export function syncTools(rows: Rows): void {
  const phone = readPhone(rows);
  const { surroundings } = phone;
  if (surroundings.phone_number === null) return;
  const line = rows
    .keys('lines')
    .map((id) => find<Line>(rows, 'lines', id)!)
    .find(({ phone_number }) => phone_number === surroundings.phone_number);
  if (!line) throw new Refusal(`Line with phone number ${surroundings.phone_number} not found`);
  surroundings.line_active = line.status === 'Active';
  surroundings.roaming_allowed = line.roaming_enabled;
  // If exactly all data is used, the limit already counts as exceeded.
  surroundings.mobile_data_usage_exceeded = line.data_used_gb >= plan(rows, line.plan_id).data_limit_gb + line.data_refueling_gb;
  if (surroundings.payment_request?.paid) {
    put(rows, 'bills', { ...bill(rows, surroundings.payment_request.bill_id), status: 'Paid' });
    surroundings.payment_request = null;
  }
  if (!surroundings.payment_request) {
    const awaiting = customerByPhone(rows, surroundings.phone_number)
      .bill_ids.map((id) => bill(rows, id))
      .find(({ status }) => status === 'Awaiting Payment');
    if (awaiting) surroundings.payment_request = { bill_id: awaiting.bill_id, amount_due: awaiting.total_due, paid: false };
  }
  savePhone(rows, phone);
}
