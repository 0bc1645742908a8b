/** @file The rules of the agent's audit in the shop: who is found and shown, which tools change data, and how people name a change. */
import type { AuditRules, Detail, WriteWords } from '../../agent/audit-rules.ts';
import type { Json } from '../../records/json.ts';
import type { ToolCall } from '../../records/task.ts';
import { actDetail, reasonDetail, WRITES } from './writes/acts.ts';
import { addressDetail } from './writes/address.ts';
import { idsOf, itemsDetail, newItemsDetail } from './writes/items.ts';
import { aboutOrder, orderDetail } from './writes/order.ts';
import { paymentDetail } from './writes/payment.ts';
import { ShopRecords } from './writes/records.ts';

export const AUDIT: AuditRules = {
  authenticate: ['find_user_id_by_email', 'find_user_id_by_name_zip'],
  details: ['get_user_details', 'get_order_details'],
  owner: 'user_id',
  thing: 'order_id',
  writes: WRITES,
  describe(results) {
    const records = new ShopRecords(results);
    return (call) => describe(call, records);
  },
};

function describe({ name, arguments: args }: ToolCall, records: ShopRecords): WriteWords {
  const order = text(args.order_id);
  const details: Detail[] = [];
  if (order) details.push(orderDetail(order, records));
  if ('reason' in args) details.push(reasonDetail(text(args.reason)));
  if ('item_ids' in args) details.push(itemsDetail(order, idsOf(args.item_ids), idsOf(args.new_item_ids), records));
  if ('new_item_ids' in args) details.push(newItemsDetail(idsOf(args.item_ids), idsOf(args.new_item_ids), records));
  if ('payment_method_id' in args)
    details.push(paymentDetail(text(args.payment_method_id), order, records, name === 'modify_pending_order_payment'));
  if ('address1' in args) details.push(addressDetail(args, records));
  return { about: (said) => (order ? aboutOrder(order, said) : said), act: actDetail(name), details };
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
