/**
 * @file The retail tools of tau-bench v1 and tau2-bench, with the names, arguments, order of checks, error texts and effects
 * of sierra-research (MIT). A `Rules` value has the differences between the two benchmarks. A tool reads and writes rows. It
 * returns a text, or the record that its observation shows.
 */
import { type Arguments, checkArguments, key, Refusal, sequence } from '../exact/arguments.ts';
import type { Json } from '../../records/json.ts';
import type { ToolCall } from '../../records/task.ts';
import { cloneJson } from '../../base/json.ts';
import type { Rows } from '../../environments/overlay.ts';
import { round2 } from '../exact/python.ts';
import { calculate, expressionText } from './calculate.ts';
import { absent, replacements, variantOf } from './items.ts';
import { TAU1, type Rules } from './rules.ts';
import type { Order, Payment, Product, User, Variant } from './schema.ts';

/** The result of a tool, before it is written as the observation of a level. */
export type Observation =
  | { text: string }
  | { order: Order; written: boolean }
  | { user: User; written: boolean }
  | { product: Product }
  | { variant: Variant }
  | { productTypes: [name: string, productId: string][] };

interface Tool {
  parameters: readonly string[];
  run(rows: Rows, args: Arguments, rules: Rules): Observation;
}

const ADDRESS = ['address1', 'address2', 'city', 'state', 'country', 'zip'] as const;

/**
 * The tools of both benchmarks. `Rules` chooses and orders them. This is a Map, because in an object, `constructor` would be
 * found as a tool.
 */
export const TOOLS: ReadonlyMap<string, Tool> = new Map<string, Tool>(
  Object.entries({
    calculate: { parameters: ['expression'], run: runCalculate },
    cancel_pending_order: { parameters: ['order_id', 'reason'], run: cancelPendingOrder },
    exchange_delivered_order_items: {
      parameters: ['order_id', 'item_ids', 'new_item_ids', 'payment_method_id'],
      run: exchangeDeliveredOrderItems,
    },
    find_user_id_by_email: { parameters: ['email'], run: findUserIdByEmail },
    find_user_id_by_name_zip: { parameters: ['first_name', 'last_name', 'zip'], run: findUserIdByNameZip },
    get_item_details: { parameters: ['item_id'], run: getItemDetails },
    get_order_details: {
      parameters: ['order_id'],
      run: (rows, { order_id }, rules) => ({ order: order(rows, order_id!, rules), written: false }),
    },
    get_product_details: {
      parameters: ['product_id'],
      run: (rows, { product_id }, rules) => ({ product: record<Product>(rows, 'products', product_id!, 'product', rules) }),
    },
    get_user_details: {
      parameters: ['user_id'],
      run: (rows, { user_id }, rules) => ({ user: record<User>(rows, 'users', user_id!, 'user', rules), written: false }),
    },
    list_all_product_types: { parameters: [], run: listAllProductTypes },
    modify_pending_order_address: { parameters: ['order_id', ...ADDRESS], run: modifyPendingOrderAddress },
    modify_pending_order_items: { parameters: ['order_id', 'item_ids', 'new_item_ids', 'payment_method_id'], run: modifyPendingOrderItems },
    modify_pending_order_payment: { parameters: ['order_id', 'payment_method_id'], run: modifyPendingOrderPayment },
    modify_user_address: { parameters: ['user_id', ...ADDRESS], run: modifyUserAddress },
    return_delivered_order_items: { parameters: ['order_id', 'item_ids', 'payment_method_id'], run: returnDeliveredOrderItems },
    think: { parameters: ['thought'], run: () => ({ text: '' }) },
    transfer_to_human_agents: { parameters: ['summary'], run: () => ({ text: 'Transfer successful' }) },
  } satisfies Record<string, Tool>),
);

/** Runs one call by tau1's rules. `available` says whether the level has a tool. Errors are returned as texts, as in upstream. */
export function runTool(rows: Rows, call: ToolCall, available: (name: string) => boolean): Observation & { error: boolean } {
  const tool = TOOLS.get(call.name);
  if (!tool || !available(call.name)) return { text: `Unknown action ${call.name}`, error: true };
  try {
    const args = call.arguments ?? {};
    checkArguments(call.name, args, tool.parameters);
    return { ...tool.run(rows, args, TAU1), error: false };
  } catch (cause) {
    return { text: `Error: ${(cause as Error).message}`, error: true };
  }
}

function record<T>(rows: Rows, table: string, id: Json, what: string, { say }: Rules): T {
  const row = rows.get(table, key(id, `${what}_id`));
  if (row === undefined) throw new Refusal(say(`${what} not found`));
  return row as T;
}

function order(rows: Rows, id: Json, rules: Rules): Order {
  return record<Order>(rows, 'orders', id, 'order', rules);
}

function lower(value: Json, field: string): string {
  if (typeof value !== 'string') throw new Refusal(`${field} must be a string`);
  return value.toLowerCase();
}

function method(rows: Rows, { user_id }: Order, id: Json, { say }: Rules) {
  const { payment_methods: methods } = rows.get('users', user_id) as unknown as User;
  const name = key(id, 'payment_method_id');
  if (!Object.hasOwn(methods, name)) throw new Refusal(say('payment method not found'));
  return methods[name]!;
}

/** Adds an amount, which may be negative, to a gift card. Rounds like upstream. */
function credit(rows: Rows, userId: string, methodId: string, amount: number): void {
  const user = cloneJson(rows.get('users', userId) as unknown as User);
  const card = user.payment_methods[methodId];
  // Upstream uses any method whose id contains `gift_card` as a gift card, and fails if it has no balance.
  if (card?.source !== 'gift_card') throw new Refusal(`${methodId} is not a gift card of ${userId}`);
  card.balance = round2(card.balance + amount);
  rows.put('users', userId, user as unknown as Json);
}

function save(rows: Rows, order: Order): Observation {
  rows.put('orders', order.order_id, order as unknown as Json);
  return { order, written: true };
}

function runCalculate(_: Rows, { expression }: Arguments, { say }: Rules): Observation {
  const invalid = say('invalid characters in expression');
  return { text: calculate(expressionText(expression!, invalid), invalid) };
}

function findUserIdByEmail(rows: Rows, { email }: Arguments, { say }: Rules): Observation {
  const wanted = lower(email!, 'email');
  for (const id of rows.keys('users')) {
    if ((rows.get('users', id) as unknown as User).email.toLowerCase() === wanted) return { text: id };
  }
  throw new Refusal(say('user not found'));
}

function findUserIdByNameZip(rows: Rows, { first_name, last_name, zip }: Arguments, { say }: Rules): Observation {
  const first = lower(first_name!, 'first_name');
  for (const id of rows.keys('users')) {
    const { name, address } = rows.get('users', id) as unknown as User;
    // As in upstream, the last name is read only if the first name matches. So an invalid last name is not always an error.
    if (name.first_name.toLowerCase() === first && name.last_name.toLowerCase() === lower(last_name!, 'last_name') && address.zip === zip)
      return { text: id };
  }
  throw new Refusal(say('user not found'));
}

function getItemDetails(rows: Rows, { item_id }: Arguments, { say }: Rules): Observation {
  const id = key(item_id!, 'item_id');
  for (const product of rows.keys('products')) {
    const variant = variantOf(rows, product, id);
    if (variant) return { variant };
  }
  throw new Refusal(say('item not found'));
}

function listAllProductTypes(rows: Rows): Observation {
  const products = rows.keys('products').map((id) => rows.get('products', id) as unknown as Product);
  const byName = new Map(products.map(({ name, product_id }) => [name, product_id]));
  return { productTypes: [...byName].sort(([a], [b]) => (a < b ? -1 : 1)) };
}

function cancelPendingOrder(rows: Rows, { order_id, reason }: Arguments, rules: Rules): Observation {
  const changed = cloneJson(order(rows, order_id!, rules));
  if (changed.status !== 'pending') throw new Refusal(rules.say('non-pending order cannot be cancelled'));
  if (reason !== 'no longer needed' && reason !== 'ordered by mistake') throw new Refusal(rules.say('invalid reason'));
  const refunds = changed.payment_history.map(({ amount, payment_method_id }): Payment => ({
    transaction_type: 'refund',
    amount,
    payment_method_id,
  }));
  for (const { amount, payment_method_id } of refunds) {
    if (payment_method_id.includes('gift_card')) credit(rows, changed.user_id, payment_method_id, amount);
  }
  changed.status = 'cancelled';
  changed.cancel_reason = reason;
  changed.payment_history.push(...refunds);
  return save(rows, changed);
}

function exchangeDeliveredOrderItems(rows: Rows, args: Arguments, rules: Rules): Observation {
  const changed = cloneJson(order(rows, args.order_id!, rules));
  if (changed.status !== 'delivered') throw new Refusal(rules.say('non-delivered order cannot be exchanged'));
  const { pairs, difference } = replacements(rows, changed, args, rules, rules.exchange);
  const rounded = round2(difference);
  const payment = method(rows, changed, args.payment_method_id!, rules);
  if (payment.source === 'gift_card' && payment.balance < rounded)
    throw new Refusal(rules.say('insufficient gift card balance to pay for the price difference'));
  changed.status = 'exchange requested';
  changed.exchange_items = pairs.map((pair) => pair.item_id).sort();
  changed.exchange_new_items = pairs.map((pair) => pair.new_item_id).sort();
  changed.exchange_payment_method_id = payment.id;
  changed.exchange_price_difference = rounded;
  return save(rows, changed);
}

function modifyPendingOrderItems(rows: Rows, args: Arguments, rules: Rules): Observation {
  const changed = cloneJson(order(rows, args.order_id!, rules));
  if (changed.status !== 'pending') throw new Refusal(rules.say('non-pending order cannot be modified'));
  const { pairs, difference } = replacements(rows, changed, args, rules, rules.modify);
  const payment = method(rows, changed, args.payment_method_id!, rules);
  if (payment.source === 'gift_card' && payment.balance < difference)
    throw new Refusal(rules.say('insufficient gift card balance to pay for the new item'));
  changed.payment_history.push({
    transaction_type: difference > 0 ? 'payment' : 'refund',
    amount: Math.abs(difference),
    payment_method_id: payment.id,
  });
  if (payment.source === 'gift_card') credit(rows, changed.user_id, payment.id, -difference);
  for (const { item_id, new_item_id, variant } of pairs) {
    // Search again for each pair, because an earlier replacement may have added or removed the same id.
    const item = changed.items.find((entry) => entry.item_id === item_id);
    if (!item) throw new Refusal(`${item_id} not found`);
    const { price, options } = rules.lastVariantForAll ? pairs.at(-1)!.variant : variant;
    Object.assign(item, { item_id: new_item_id, price, options: cloneJson(options) });
  }
  changed.status = 'pending (item modified)';
  return save(rows, changed);
}

function modifyPendingOrderPayment(rows: Rows, { order_id, payment_method_id }: Arguments, rules: Rules): Observation {
  const changed = cloneJson(order(rows, order_id!, rules));
  if (!rules.open(changed.status)) throw new Refusal(rules.say('non-pending order cannot be modified'));
  const payment = method(rows, changed, payment_method_id!, rules);
  const [first] = changed.payment_history;
  if (changed.payment_history.length !== 1 || first!.transaction_type !== 'payment')
    throw new Refusal(rules.say('there should be exactly one payment for a pending order'));
  const { amount, payment_method_id: old } = first!;
  if (old === payment.id) throw new Refusal(rules.say('the new payment method should be different from the current one'));
  if (payment.source === 'gift_card' && payment.balance < amount)
    throw new Refusal(rules.say('insufficient gift card balance to pay for the order'));
  changed.payment_history.push(
    { transaction_type: 'payment', amount, payment_method_id: payment.id },
    { transaction_type: 'refund', amount, payment_method_id: old },
  );
  if (payment.source === 'gift_card') credit(rows, changed.user_id, payment.id, -amount);
  if (old.includes('gift_card')) credit(rows, changed.user_id, old, amount);
  return save(rows, changed);
}

function modifyPendingOrderAddress(rows: Rows, args: Arguments, rules: Rules): Observation {
  const changed = cloneJson(order(rows, args.order_id!, rules));
  if (!rules.open(changed.status)) throw new Refusal(rules.say('non-pending order cannot be modified'));
  changed.address = rules.address(args);
  return save(rows, changed);
}

function modifyUserAddress(rows: Rows, args: Arguments, rules: Rules): Observation {
  const user = cloneJson(record<User>(rows, 'users', args.user_id!, 'user', rules));
  user.address = rules.address(args);
  rows.put('users', args.user_id as string, user as unknown as Json);
  return { user, written: true };
}

function returnDeliveredOrderItems(rows: Rows, args: Arguments, rules: Rules): Observation {
  const changed = cloneJson(order(rows, args.order_id!, rules));
  if (changed.status !== 'delivered') throw new Refusal(rules.say('non-delivered order cannot be returned'));
  const { id } = method(rows, changed, args.payment_method_id!, rules);
  if (!id.includes('gift_card') && id !== changed.payment_history[0]?.payment_method_id) {
    throw new Refusal(rules.wrongRefund);
  }
  if (absent(args.item_ids!, changed.items)) throw new Refusal(rules.say('some item not found'));
  const items = sequence(args.item_ids!, 'item_ids');
  changed.status = 'return requested';
  changed.return_items = (items as string[]).toSorted();
  changed.return_payment_method_id = id;
  return save(rows, changed);
}
