/** @file Observations by level: tau-bench's whole records, or only the fields that are named here. */
import { pythonJson, type Printable } from '../exact/python.ts';
import type { Level, Order, Product, User } from './schema.ts';
import type { Observation } from './tools.ts';

export function observe(observation: Observation, level: Level): string {
  if ('text' in observation) return observation.text;
  if (level === 'full') return pythonJson(fullObservation(observation));
  return JSON.stringify(compactRecord(observation, level));
}

/** Upstream's observation, which is a text or a printed record. */
export function fullObservation(observation: Observation): Printable {
  if ('text' in observation) return observation.text;
  if ('product' in observation) {
    const { name, product_id, variants } = observation.product;
    return { name, product_id, variants: new Map(variants.map((variant) => [variant.item_id, variant as unknown as Printable])) };
  }
  if ('variant' in observation) return observation.variant as unknown as Printable;
  if ('productTypes' in observation) return new Map(observation.productTypes);
  return ('order' in observation ? observation.order : observation.user) as unknown as Printable;
}

/** No key of these records looks like an integer, so `JSON.stringify` keeps their order. */
function compactRecord(observation: Exclude<Observation, { text: string }>, level: Level): unknown {
  if ('order' in observation) return observation.written ? writtenOrder(observation.order) : compactOrder(observation.order, level);
  if ('user' in observation) return compactUser(observation.user);
  if ('product' in observation) return compactProduct(observation.product);
  if ('variant' in observation) return observation.variant;
  return observation.productTypes.map(([name, product_id]) => ({ name, product_id }));
}

/** The order's current payment method. */
function currentPayment({ payment_history }: Order): string {
  return payment_history.findLast((entry) => entry.transaction_type === 'payment')?.payment_method_id ?? '';
}

function compactOrder(order: Order, level: Level) {
  const { order_id, user_id, status, items } = order;
  return {
    order_id,
    user_id,
    status,
    items: items.map(({ name, product_id, item_id, options }) =>
      level === 'nano' ? { name, item_id } : { name, item_id, product_id, options: optionText(options) },
    ),
    payment_method_id: currentPayment(order),
  };
}

/** Shows only the changed fields, because after a write the model already knows the order. */
function writtenOrder(order: Order) {
  const { order_id, status } = order;
  return status === 'pending' ? { order_id, status, payment_method_id: currentPayment(order) } : { order_id, status };
}

function compactUser({ name, email, address, payment_methods, orders }: User) {
  return { name: `${name.first_name} ${name.last_name}`, email, zip: address.zip, payment_methods: Object.keys(payment_methods), orders };
}

/** Shows only available variants, because the agent must not offer the others. */
function compactProduct({ name, variants }: Product) {
  const available = variants.filter((variant) => variant.available);
  return { name, variants: Object.fromEntries(available.map(({ item_id, options }) => [optionText(options), item_id])) };
}

/** The options as customers say them: `color red, size large`. */
export function optionText(options: Record<string, string>): string {
  return Object.entries(options)
    .map((option) => option.join(' '))
    .join(', ');
}
