/** @file The layer `policy` of the shop: its rules as conditions on each call and on what the tools had shown before. */
import type { TransferRules } from '../../../agent/layers/manners.ts';
import { hasTool, heardBefore, isWrite, textOf, type ToolEvent } from '../../../agent/layers/readings.ts';
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import type { LayeredConversation } from '../../../agent/layers.ts';
import { TRANSFER } from '../acts.ts';
import { AUDIT } from '../audit.ts';
import { idsOf } from '../writes/items.ts';
import { ShopFacts } from './facts.ts';
import { isReminded } from './reminder.ts';

const PENDING = ['cancel_pending_order', 'modify_pending_order_items', 'modify_pending_order_payment', 'modify_pending_order_address'];
const DELIVERED = ['return_delivered_order_items', 'exchange_delivered_order_items'];
/** The act of a tool in the words of a policy. */
const ACT: Record<string, RegExp> = {
  cancel_pending_order: /\bcancel/,
  modify_pending_order_items: /\bmodif|\bitems\b/,
  modify_pending_order_payment: /\bmodif|\bpayment\b/,
  modify_pending_order_address: /\bmodif|\baddress\b/,
  return_delivered_order_items: /\breturn/,
  exchange_delivered_order_items: /\bexchang/,
};
const REASONS = ['no longer needed', 'ordered by mistake'];

/** What customers ask for, and the tool that does it. */
const SCOPE: readonly [RegExp, string][] = [
  [/\bcancel/i, 'cancel_pending_order'],
  [/\breturn\b/i, 'return_delivered_order_items'],
  [/\bexchang/i, 'exchange_delivered_order_items'],
  [/\b(chang|modif|updat)\w*\b[^.\n]{0,40}\baddress/i, 'modify_pending_order_address'],
  [/\b(chang|modif|updat|switch)\w*\b[^.\n]{0,40}\bpayment/i, 'modify_pending_order_payment'],
  [/\b(chang|modif|replac|swap)\w*\b[^.\n]{0,40}\bitem/i, 'modify_pending_order_items'],
];

export function transfersIn(conversation: LayeredConversation): TransferRules {
  const scope = SCOPE.filter(([, tool]) => hasTool(conversation, tool)).map(([words]) => words.source);
  return {
    transfers: [TRANSFER],
    scope: new RegExp(scope.join('|') || '(?!)', 'i'),
    outside: /\b(discount|complain\w*|lawyer|fraud|price match|lost|missing|damaged|broken|stolen)\b/i,
  };
}

export function checkWrites(conversation: LayeredConversation, log: RuleLog): void {
  const facts = new ShopFacts();
  /** The writes since the customer last spoke. */
  let since: ToolEvent[] = [];
  let written = -1;
  for (const [place, event] of conversation.events.entries()) {
    if (event.kind === 'user') since = [];
    if (event.kind !== 'tool') continue;
    if (isWrite(event) && AUDIT.writes.includes(event.call.name)) {
      const order = textOf(event.call.arguments.order_id);
      const other = since.find(({ call }) => order !== '' && ![order, ''].includes(textOf(call.arguments.order_id)));
      log.checkSaid('several_requests', place, () =>
        other ? `${event.call.name} and ${other.call.name} after one answer of the customer` : null,
      );
      since.push(event);
      if ('new_item_ids' in event.call.arguments && !changesAll(event, facts))
        log.checkSaid('no_reminder', place, () =>
          isReminded(conversation, written, place) ? null : `${event.call.name} without the question whether all items are named`,
        );
      written = place;
      checkWrite(conversation, log, event, place, facts);
    }
    facts.learn(event);
  }
}

/** Whether a change has all items of its order, so that none can be missing. */
function changesAll({ call: { arguments: args } }: ToolEvent, facts: ShopFacts): boolean {
  const items = facts.orders.get(textOf(args.order_id))?.items;
  return items !== undefined && items.size > 0 && [...items.keys()].every((id) => idsOf(args.item_ids).includes(id));
}

/** Checks a write against what was known before it. */
function checkWrite(conversation: LayeredConversation, log: RuleLog, { call }: ToolEvent, place: number, facts: ShopFacts): void {
  const { name, arguments: args } = call;
  const id = textOf(args.order_id);
  const order = facts.orders.get(id);
  const needed = PENDING.includes(name) ? 'pending' : DELIVERED.includes(name) ? 'delivered' : null;
  if (needed) {
    if (hasTool(conversation, 'get_order_details'))
      log.checkSaid(
        'unchecked_status',
        place,
        () => (order?.status === undefined ? `${name} without a look at order ${id}` : null),
        ACT[name],
      );
    const wasChanged = facts.changed.has(id);
    if (needed === 'pending') log.check('changed_before', place, wasChanged ? `${name} after the items of ${id} were changed` : null);
    if (order?.status !== undefined && !wasChanged)
      log.check('wrong_status', place, order.status === needed ? null : `${name} of ${id}, which is ${order.status}`, ACT[name]);
  }
  if ('reason' in args)
    log.check('wrong_reason', place, REASONS.includes(textOf(args.reason)) ? null : `the reason is “${textOf(args.reason)}”`);
  if ('new_item_ids' in args) checkItems(log, idsOf(args.item_ids), idsOf(args.new_item_ids), place, facts);
  if ('payment_method_id' in args) checkPayment(log, name, id, textOf(args.payment_method_id), args, place, facts);
}

function checkItems(log: RuleLog, old: readonly string[], wanted: readonly string[], place: number, { items }: ShopFacts): void {
  for (const [i, id] of wanted.entries()) {
    const [before, after] = [items.get(old[i] ?? ''), items.get(id)];
    if (before?.product && after?.product)
      log.check('other_product', place, before.product === after.product ? null : `item ${id} (${after.name}) is no ${before.name}`);
    if (after?.available !== undefined) log.check('unavailable_item', place, after.available ? null : `item ${id} is not available`);
  }
}

function checkPayment(
  log: RuleLog,
  name: string,
  id: string,
  method: string,
  args: ToolEvent['call']['arguments'],
  place: number,
  facts: ShopFacts,
): void {
  const order = facts.orders.get(id);
  if (name === 'return_delivered_order_items') {
    if (order?.payment !== undefined)
      log.check(
        'wrong_refund',
        place,
        method === order.payment || method.includes('gift_card') ? null : `the refund of ${id} goes to ${method}`,
      );
    return;
  }
  if (name === 'modify_pending_order_payment' && order?.payment !== undefined)
    log.check('same_payment', place, method === order.payment ? `${id} was already paid with ${method}` : null);
  const balance = facts.balance(method);
  const due = name === 'modify_pending_order_payment' ? order?.total : difference(args, facts);
  if (balance === undefined || due === undefined) return;
  log.check('short_gift_card', place, due > balance + 0.005 ? `${method} has ${balance.toFixed(2)}, but ${due.toFixed(2)} is due` : null);
}

/** How much more the new items cost. Undefined: a price was not shown. */
function difference(args: ToolEvent['call']['arguments'], { items }: ShopFacts): number | undefined {
  const sum = (ids: readonly string[]) => ids.reduce<number>((total, id) => total + (items.get(id)?.price ?? Number.NaN), 0);
  const more = sum(idsOf(args.new_item_ids)) - sum(idsOf(args.item_ids));
  return Number.isNaN(more) ? undefined : more;
}

/** Why the request before a transfer could be served: the customer named one act and one own order, whose status allows the act. */
export function servable(conversation: LayeredConversation, until: number): string | null {
  const facts = new ShopFacts();
  const before = conversation.events.slice(0, until);
  for (const event of before) if (event.kind === 'tool') facts.learn(event);
  if (before.some((event) => event.kind === 'tool' && AUDIT.writes.includes(event.call.name))) return null;
  const heard = heardBefore(conversation, until).join('\n');
  const acts = SCOPE.filter(([words]) => words.test(heard)).map(([, tool]) => tool);
  const orders = [...new Set(heard.match(/#?W\d{4,}/g) ?? [])].map((id) => `#${id.replace('#', '')}`);
  // A customer who names no order means the one that the agent looked at last.
  const [tool, id] = [acts[0], orders[0] ?? [...facts.orders.keys()].at(-1)];
  if (acts.length !== 1 || orders.length > 1 || !tool || !id || !hasTool(conversation, tool)) return null;
  // One item of an order cannot be cancelled. Any other reason cannot be accepted.
  if (
    tool === 'cancel_pending_order' &&
    (/\bitems?\b|\bonly\b|\bpart\b/i.test(heard) || !/no longer|mistake|not? need|don't (need|want)|accident/i.test(heard))
  )
    return null;
  const { status, owner } = facts.orders.get(id) ?? {};
  const needed = DELIVERED.includes(tool) ? 'delivered' : 'pending';
  if (facts.customer === null || owner !== facts.customer || status !== needed) return null;
  return `transferred, although order ${id} is ${status} and ${tool} was not tried`;
}
