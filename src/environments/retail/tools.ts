/**
 * @file The sixteen tools of tau-bench v1's retail domain: names, argument names, order of checks, error texts and
 * effects as sierra-research/tau-bench (MIT) has them. A tool reads and writes rows and returns a text or the record
 * that its observation shows.
 */
import type { Json, ToolCall } from '../types.ts';
import { cloneJson } from '../json.ts';
import type { Rows } from '../overlay.ts';
import { pythonStr, round2 } from '../python.ts';
import { calculate } from './calculate.ts';
import type { Address, Order, Payment, Product, User } from './schema.ts';

/** What a tool answers, before it is put into words for a level. */
export type Observation =
  | { text: string }
  | { order: Order; written: boolean }
  | { user: User; written: boolean }
  | { product: Product }
  | { productTypes: [name: string, productId: string][] };

/** A refusal that upstream returns as a text; `Error: ` is put before it. */
class Refusal extends Error {}

type Arguments = Record<string, Json>;
interface Tool {
  parameters: readonly string[];
  run(rows: Rows, args: Arguments): Observation;
}

const ADDRESS = ['address1', 'address2', 'city', 'state', 'country', 'zip'] as const;

/** In upstream's (alphabetical) order. A Map, so that `constructor` is no tool. */
export const TOOLS: ReadonlyMap<string, Tool> = new Map<string, Tool>(Object.entries({
  calculate: { parameters: ['expression'], run: (_, { expression }) => ({ text: calculate(arithmeticText(expression!)) }) },
  cancel_pending_order: { parameters: ['order_id', 'reason'], run: cancelPendingOrder },
  exchange_delivered_order_items: { parameters: ['order_id', 'item_ids', 'new_item_ids', 'payment_method_id'], run: exchangeDeliveredOrderItems },
  find_user_id_by_email: { parameters: ['email'], run: findUserIdByEmail },
  find_user_id_by_name_zip: { parameters: ['first_name', 'last_name', 'zip'], run: findUserIdByNameZip },
  get_order_details: { parameters: ['order_id'], run: (rows, { order_id }) => ({ order: order(rows, order_id!), written: false }) },
  get_product_details: { parameters: ['product_id'], run: (rows, { product_id }) => ({ product: record<Product>(rows, 'products', product_id!, 'product') }) },
  get_user_details: { parameters: ['user_id'], run: (rows, { user_id }) => ({ user: record<User>(rows, 'users', user_id!, 'user'), written: false }) },
  list_all_product_types: { parameters: [], run: listAllProductTypes },
  modify_pending_order_address: { parameters: ['order_id', ...ADDRESS], run: modifyPendingOrderAddress },
  modify_pending_order_items: { parameters: ['order_id', 'item_ids', 'new_item_ids', 'payment_method_id'], run: modifyPendingOrderItems },
  modify_pending_order_payment: { parameters: ['order_id', 'payment_method_id'], run: modifyPendingOrderPayment },
  modify_user_address: { parameters: ['user_id', ...ADDRESS], run: modifyUserAddress },
  return_delivered_order_items: { parameters: ['order_id', 'item_ids', 'payment_method_id'], run: returnDeliveredOrderItems },
  think: { parameters: ['thought'], run: () => ({ text: '' }) },
  transfer_to_human_agents: { parameters: ['summary'], run: () => ({ text: 'Transfer successful' }) },
} satisfies Record<string, Tool>));

/** Runs one call among `available` tools. Errors are texts, as upstream returns them. */
export function runTool(rows: Rows, call: ToolCall, available: (name: string) => boolean): Observation & { error: boolean } {
  const tool = TOOLS.get(call.name);
  if (!tool || !available(call.name)) return { text: `Unknown action ${call.name}`, error: true };
  try {
    const args = call.arguments ?? {};
    for (const name of Object.keys(args)) if (!tool.parameters.includes(name)) throw new Refusal(`${call.name} has no argument '${name}'`);
    const missing = tool.parameters.filter((name) => !Object.hasOwn(args, name));
    if (missing.length) throw new Refusal(`${call.name} needs the argument${missing.length > 1 ? 's' : ''} ${missing.map((name) => `'${name}'`).join(', ')}`);
    return { ...tool.run(rows, args), error: false };
  } catch (cause) {
    return { text: `Error: ${(cause as Error).message}`, error: true };
  }
}

function record<T>(rows: Rows, table: string, id: Json, what: string): T {
  const row = rows.get(table, key(id, `${what}_id`));
  if (row === undefined) throw new Refusal(`${what} not found`);
  return row as T;
}

function order(rows: Rows, id: Json): Order {
  return record<Order>(rows, 'orders', id, 'order');
}

/** A dictionary key as Python looks it up: other scalars are never found, lists and objects are no keys at all. */
function key(value: Json, field: string): string {
  if (value !== null && typeof value === 'object') throw new Refusal(`${field} must be a string, not ${Array.isArray(value) ? 'a list' : 'an object'}`);
  return typeof value === 'string' ? value : '';
}

/** What Python iterates over: a list's entries, a string's characters, an object's keys. */
function sequence(value: Json, field: string): Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (value !== null && typeof value === 'object') return Object.keys(value);
  throw new Refusal(`${field} must be a list of ids`);
}

function lower(value: Json, field: string): string {
  if (typeof value !== 'string') throw new Refusal(`${field} must be a string`);
  return value.toLowerCase();
}

function method(rows: Rows, { user_id }: Order, id: Json) {
  const { payment_methods: methods } = rows.get('users', user_id) as unknown as User;
  const name = key(id, 'payment_method_id');
  if (!Object.hasOwn(methods, name)) throw new Refusal('payment method not found');
  return methods[name]!;
}

/** Adds to (or takes from) a gift card; rounds as upstream does. */
function credit(rows: Rows, userId: string, methodId: string, amount: number): void {
  const user = cloneJson(rows.get('users', userId) as unknown as User);
  const card = user.payment_methods[methodId];
  // Upstream takes any id with `gift_card` in it for one, and would fail on what has no balance.
  if (card?.source !== 'gift_card') throw new Refusal(`${methodId} is not a gift card of ${userId}`);
  card.balance = round2(card.balance + amount);
  rows.put('users', userId, user as unknown as Json);
}

function save(rows: Rows, order: Order): Observation {
  rows.put('orders', order.order_id, order as unknown as Json);
  return { order, written: true };
}

/** Python's `for char in expression` also walks over lists. */
function arithmeticText(expression: Json): string {
  if (typeof expression === 'string') return expression;
  for (const part of sequence(expression, 'expression')) {
    if (typeof part !== 'string') break;
    if (!'0123456789+-*/(). '.includes(part)) throw new Refusal('invalid characters in expression');
  }
  throw new Refusal('expression must be a string');
}

function findUserIdByEmail(rows: Rows, { email }: Arguments): Observation {
  const wanted = lower(email!, 'email');
  for (const id of rows.keys('users')) {
    if ((rows.get('users', id) as unknown as User).email.toLowerCase() === wanted) return { text: id };
  }
  throw new Refusal('user not found');
}

function findUserIdByNameZip(rows: Rows, { first_name, last_name, zip }: Arguments): Observation {
  const first = lower(first_name!, 'first_name');
  for (const id of rows.keys('users')) {
    const { name, address } = rows.get('users', id) as unknown as User;
    // The last name is looked at only where the first one agrees: so a bad one is not always an error.
    if (name.first_name.toLowerCase() === first && name.last_name.toLowerCase() === lower(last_name!, 'last_name') && address.zip === zip) return { text: id };
  }
  throw new Refusal('user not found');
}

function listAllProductTypes(rows: Rows): Observation {
  const products = rows.keys('products').map((id) => rows.get('products', id) as unknown as Product);
  const byName = new Map(products.map(({ name, product_id }) => [name, product_id]));
  return { productTypes: [...byName].sort(([a], [b]) => (a < b ? -1 : 1)) };
}

function cancelPendingOrder(rows: Rows, { order_id, reason }: Arguments): Observation {
  const changed = cloneJson(order(rows, order_id!));
  if (changed.status !== 'pending') throw new Refusal('non-pending order cannot be cancelled');
  if (reason !== 'no longer needed' && reason !== 'ordered by mistake') throw new Refusal('invalid reason');
  const refunds = changed.payment_history.map(({ amount, payment_method_id }): Payment => ({ transaction_type: 'refund', amount, payment_method_id }));
  for (const { amount, payment_method_id } of refunds) {
    if (payment_method_id.includes('gift_card')) credit(rows, changed.user_id, payment_method_id, amount);
  }
  changed.status = 'cancelled';
  changed.cancel_reason = reason;
  changed.payment_history.push(...refunds);
  return save(rows, changed);
}

/** Every id as often as it is asked for is among the order's items. Returns the first that is not. */
function absent(asked: Json[], items: { item_id: string }[]): { id: Json } | null {
  for (const id of asked) {
    const count = (list: Json[]) => list.filter((entry) => entry === id).length;
    const wanted = id !== null && typeof id === 'object' ? 1 : count(asked);
    if (wanted > count(items.map((item) => item.item_id))) return { id };
  }
  return null;
}

interface Replacement {
  item_id: string;
  new_item_id: string;
}

/** The checks that exchange and modify share, and the price difference (unrounded, summed in order). */
function replacements(rows: Rows, { items }: Order, args: Arguments): { pairs: Replacement[]; difference: number } {
  const old = sequence(args.item_ids!, 'item_ids');
  const missing = absent(old, items);
  if (missing) throw new Refusal(`${pythonStr(missing.id)} not found`);
  const fresh = sequence(args.new_item_ids!, 'new_item_ids');
  if (old.length !== fresh.length) throw new Refusal('the number of items to be exchanged should match');
  let difference = 0;
  const pairs = old.map((id, i): Replacement => {
    const item = items.find((entry) => entry.item_id === id)!;
    const newId = key(fresh[i]!, 'new_item_ids');
    const variant = variantOf(rows, item.product_id, newId);
    if (!variant?.available) throw new Refusal(`new item ${pythonStr(fresh[i]!)} not found or available`);
    difference += variant.price - item.price;
    return { item_id: item.item_id, new_item_id: newId };
  });
  return { pairs, difference };
}

function variantOf(rows: Rows, productId: string, itemId: string) {
  return (rows.get('products', productId) as unknown as Product).variants.find((variant) => variant.item_id === itemId);
}

function exchangeDeliveredOrderItems(rows: Rows, args: Arguments): Observation {
  const changed = cloneJson(order(rows, args.order_id!));
  if (changed.status !== 'delivered') throw new Refusal('non-delivered order cannot be exchanged');
  const { pairs, difference } = replacements(rows, changed, args);
  const rounded = round2(difference);
  const payment = method(rows, changed, args.payment_method_id!);
  if (payment.source === 'gift_card' && payment.balance < rounded) throw new Refusal('insufficient gift card balance to pay for the price difference');
  changed.status = 'exchange requested';
  changed.exchange_items = pairs.map((pair) => pair.item_id).sort();
  changed.exchange_new_items = pairs.map((pair) => pair.new_item_id).sort();
  changed.exchange_payment_method_id = payment.id;
  changed.exchange_price_difference = rounded;
  return save(rows, changed);
}

function modifyPendingOrderItems(rows: Rows, args: Arguments): Observation {
  const changed = cloneJson(order(rows, args.order_id!));
  if (changed.status !== 'pending') throw new Refusal('non-pending order cannot be modified');
  const { pairs, difference } = replacements(rows, changed, args);
  const payment = method(rows, changed, args.payment_method_id!);
  if (payment.source === 'gift_card' && payment.balance < difference) throw new Refusal('insufficient gift card balance to pay for the new item');
  changed.payment_history.push({ transaction_type: difference > 0 ? 'payment' : 'refund', amount: Math.abs(difference), payment_method_id: payment.id });
  if (payment.source === 'gift_card') credit(rows, changed.user_id, payment.id, -difference);
  for (const { item_id, new_item_id } of pairs) {
    // Sought again for each pair: an earlier replacement may have made or taken away an equal id.
    const item = changed.items.find((entry) => entry.item_id === item_id);
    if (!item) throw new Refusal(`${item_id} not found`);
    const { price, options } = variantOf(rows, item.product_id, new_item_id)!;
    Object.assign(item, { item_id: new_item_id, price, options: cloneJson(options) });
  }
  changed.status = 'pending (item modified)';
  return save(rows, changed);
}

function modifyPendingOrderPayment(rows: Rows, { order_id, payment_method_id }: Arguments): Observation {
  const changed = cloneJson(order(rows, order_id!));
  if (changed.status !== 'pending') throw new Refusal('non-pending order cannot be modified');
  const payment = method(rows, changed, payment_method_id!);
  const [first] = changed.payment_history;
  if (changed.payment_history.length !== 1 || first!.transaction_type !== 'payment') throw new Refusal('there should be exactly one payment for a pending order');
  const { amount, payment_method_id: old } = first!;
  if (old === payment.id) throw new Refusal('the new payment method should be different from the current one');
  if (payment.source === 'gift_card' && payment.balance < amount) throw new Refusal('insufficient gift card balance to pay for the order');
  changed.payment_history.push(
    { transaction_type: 'payment', amount, payment_method_id: payment.id },
    { transaction_type: 'refund', amount, payment_method_id: old },
  );
  if (payment.source === 'gift_card') credit(rows, changed.user_id, payment.id, -amount);
  if (old.includes('gift_card')) credit(rows, changed.user_id, old, amount);
  return save(rows, changed);
}

function addressOf({ address1, address2, city, state, country, zip }: Arguments): Address {
  return { address1, address2, city, state, country, zip } as unknown as Address;
}

function modifyPendingOrderAddress(rows: Rows, args: Arguments): Observation {
  const changed = cloneJson(order(rows, args.order_id!));
  if (changed.status !== 'pending') throw new Refusal('non-pending order cannot be modified');
  changed.address = addressOf(args);
  return save(rows, changed);
}

function modifyUserAddress(rows: Rows, args: Arguments): Observation {
  const user = cloneJson(record<User>(rows, 'users', args.user_id!, 'user'));
  user.address = addressOf(args);
  rows.put('users', args.user_id as string, user as unknown as Json);
  return { user, written: true };
}

function returnDeliveredOrderItems(rows: Rows, args: Arguments): Observation {
  const changed = cloneJson(order(rows, args.order_id!));
  if (changed.status !== 'delivered') throw new Refusal('non-delivered order cannot be returned');
  const { id } = method(rows, changed, args.payment_method_id!);
  if (!id.includes('gift_card') && id !== changed.payment_history[0]?.payment_method_id) {
    throw new Refusal('payment method should be either the original payment method or a gift card');
  }
  const items = sequence(args.item_ids!, 'item_ids');
  if (absent(items, changed.items)) throw new Refusal('some item not found');
  changed.status = 'return requested';
  changed.return_items = (items as string[]).toSorted();
  changed.return_payment_method_id = id;
  return save(rows, changed);
}
