/** @file The requests of retail customers. For each intent: its slots, the customer's words for the slots, and the gold call. */
import { Dice } from '../../base/dice.ts';
import { round2 } from '../exact/python.ts';
import type { Split, ToolCall } from '../../records/task.ts';
import type { WorldTables } from '../../environments/overlay.ts';
import type { Address, Intent, Level, Order, PaymentMethod, Product, ShopRequest as Request, User, Variant } from './schema.ts';
import { makeAddress } from './world.ts';

export interface Customer {
  id: string;
  /** The split of the customer's world. */
  split: Split;
  user: User;
  orders: Order[];
}

/** For each level: the weights of the intents that have a tool. */
export const INTENT_WEIGHTS: Record<Level, Partial<Record<Intent, number>>> = {
  glimpse: { cancel: 55, modify_payment: 45 },
  nano: { cancel: 55, modify_payment: 45 },
  small: { cancel: 20, return: 20, modify_payment: 15, exchange: 15, modify_items: 15, modify_address: 15 },
  full: { cancel: 18, return: 18, modify_payment: 14, exchange: 18, modify_items: 16, modify_address: 16 },
};

/** The status that an order must have for an intent. */
export const NEEDED_STATUS: Record<Intent, Order['status']> = {
  cancel: 'pending',
  modify_payment: 'pending',
  modify_items: 'pending',
  modify_address: 'pending',
  return: 'delivered',
  exchange: 'delivered',
};

const REASONS = ['no longer needed', 'ordered by mistake'];

/**
 * Makes a request with this intent for this order that the tools can fulfil. Null if there is none, for example because the
 * customer has no other payment method. If `unlike` is given, the slots differ from those of `unlike`.
 */
export function requestFor(
  intent: Intent,
  dice: Dice,
  customer: Customer,
  order: Order,
  tables: WorldTables,
  unlike?: Request,
): Request | null {
  const make = (): Request | null => {
    switch (intent) {
      case 'cancel':
        return { intent, slots: { order_id: order.order_id, reason: dice.pick(REASONS) }, words: {} };
      case 'return':
        return returnRequest(dice, customer, order);
      case 'modify_payment':
        return paymentRequest(dice, customer, order);
      case 'modify_address': {
        const { address1, address2, city, state, country, zip } = makeAddress(dice, customer.split);
        return {
          intent,
          slots: { order_id: order.order_id, address1, address2, city, state, country, zip },
          words: { address: [addressText({ address1, address2, city, state, country, zip })] },
        };
      }
      case 'exchange':
      case 'modify_items':
        return replacementRequest(intent, dice, customer, order, tables);
    }
  };
  for (let attempt = 0; attempt < 12; attempt++) {
    const request = make();
    if (!request) return null;
    if (!unlike || unlike.intent !== intent || !sameSlots(unlike, request)) return request;
  }
  return null;
}

/** An address as a customer writes it: `address1, address2, city, state zip`. */
function addressText({ address1, address2, city, state, zip }: Address): string {
  return [address1, address2, city, `${state} ${zip}`].filter(Boolean).join(', ');
}

/** The customer's words for a payment method: its kind, or the name of the card if the customer has two cards. */
function paymentWords(user: User, id: string): string {
  const method = user.payment_methods[id]!;
  const kin = Object.values(user.payment_methods).filter((other) => other.source === method.source);
  if (method.source === 'credit_card' && kin.length > 1) return `${method.brand} card ending in ${method.last_four}`;
  return { credit_card: 'credit card', paypal: 'PayPal', gift_card: 'gift card' }[method.source];
}

/** The gold call, which fulfils the request. */
export function goldCall({ intent, slots }: Request, userId: string): ToolCall {
  switch (intent) {
    case 'cancel':
      return { name: 'cancel_pending_order', arguments: slots };
    case 'return':
      return { name: 'return_delivered_order_items', arguments: slots };
    case 'exchange':
      return { name: 'exchange_delivered_order_items', arguments: slots };
    case 'modify_items':
      return { name: 'modify_pending_order_items', arguments: slots };
    case 'modify_payment':
      return { name: 'modify_pending_order_payment', arguments: slots };
    case 'modify_address':
      return slots.order_id
        ? { name: 'modify_pending_order_address', arguments: slots }
        : { name: 'modify_user_address', arguments: { user_id: userId, ...slots } };
  }
}

/** The request as a clause that follows "want to". */
export function requestText({ intent, slots, words }: Request): string {
  const order = `order ${String(slots.order_id)}`;
  const items = (words.items ?? []).map((item) => `the ${item}`).join(' and ');
  const payment = words.payment?.[0];
  const paid = payment === 'original payment method' ? `the ${payment}` : `your ${payment}`;
  switch (intent) {
    case 'cancel':
      return `cancel ${order} because ${slots.reason === 'ordered by mistake' ? 'you ordered it by mistake' : 'it is no longer needed'}`;
    case 'return':
      return `return ${items} of ${order}, with the refund to ${paid}`;
    case 'modify_payment':
      return `pay ${order} with ${paid} instead`;
    case 'modify_address':
      return `change the ${slots.order_id ? `address of ${order}` : 'default address of your account'} to ${words.address![0]}`;
    case 'exchange':
    case 'modify_items': {
      const swaps = words.items!.map((item, i) => `the ${item} for one with ${words.new_items![i]}`).join(' and ');
      return `${intent === 'exchange' ? 'exchange' : 'change'} ${swaps} in ${order}, with any price difference on ${paid}`;
    }
  }
}

/** The customer's word for an item: the product's name in lower case. */
function itemWord(name: string): string {
  return name.toLowerCase();
}

function returnRequest(dice: Dice, { user }: Customer, order: Order): Request | null {
  const all = dice.chance(0.45);
  // Items in the order of the customer's order. Upstream sorts the ids, so any order is correct.
  const chosen = new Set(all ? order.items : dice.sample(order.items, order.items.length > 3 ? dice.int(1, 2) : 1));
  const items = order.items.filter((item) => chosen.has(item));
  const original = order.payment_history[0]!.payment_method_id;
  const cards = Object.values(user.payment_methods).filter((method) => method.source === 'gift_card' && method.id !== original);
  const method = cards.length && dice.chance(0.5) ? dice.pick(cards).id : original;
  const words = method === original && dice.chance(0.5) ? 'original payment method' : paymentWords(user, method);
  return {
    intent: 'return',
    slots: { order_id: order.order_id, item_ids: items.map((item) => item.item_id), payment_method_id: method },
    words: { items: items.map((item) => itemWord(item.name)), payment: [words] },
  };
}

function affordable(method: PaymentMethod, amount: number): boolean {
  return method.source !== 'gift_card' || method.balance >= amount;
}

function paymentRequest(dice: Dice, { user }: Customer, order: Order): Request | null {
  const { payment_method_id: current, amount } = order.payment_history[0]!;
  const others = Object.values(user.payment_methods).filter((method) => method.id !== current && affordable(method, amount));
  if (!others.length) return null;
  const { id } = dice.pick(others);
  return {
    intent: 'modify_payment',
    slots: { order_id: order.order_id, payment_method_id: id },
    words: { payment: [paymentWords(user, id)] },
  };
}

/** Replaces one or two items by available variants that differ in as few options as possible. */
function replacementRequest(
  intent: 'exchange' | 'modify_items',
  dice: Dice,
  { user }: Customer,
  order: Order,
  tables: WorldTables,
): Request | null {
  const swaps: { item: Order['items'][number]; variant: Variant; words: string }[] = [];
  for (const item of dice.sample(order.items, order.items.length)) {
    const { variants } = tables.get('products')!.get(item.product_id) as unknown as Product;
    const choices = variants
      .filter((variant) => variant.available && variant.item_id !== item.item_id)
      .map((variant) => ({ variant, words: difference(item.options, variant.options) }));
    const closest = Math.min(...choices.map((choice) => choice.words.length));
    const near = choices.filter((choice) => choice.words.length === closest);
    if (near.length) {
      const { variant, words } = dice.pick(near);
      swaps.push({ item, variant, words: words.join(' and ') });
    }
    if (swaps.length === 2 || (swaps.length === 1 && dice.chance(0.7))) break;
  }
  if (!swaps.length) return null;
  const cost = round2(swaps.reduce((sum, { item, variant }) => sum + variant.price - item.price, 0));
  const methods = Object.values(user.payment_methods).filter((method) => affordable(method, cost));
  if (!methods.length) return null;
  const { id } = dice.pick(methods);
  return {
    intent,
    slots: {
      order_id: order.order_id,
      item_ids: swaps.map((swap) => swap.item.item_id),
      new_item_ids: swaps.map((swap) => swap.variant.item_id),
      payment_method_id: id,
    },
    words: {
      items: swaps.map((swap) => itemWord(swap.item.name)),
      new_items: swaps.map((swap) => swap.words),
      payment: [paymentWords(user, id)],
    },
  };
}

/** The options that change, for example `color red`. */
function difference(from: Record<string, string>, to: Record<string, string>): string[] {
  return Object.entries(to)
    .filter(([name, value]) => from[name] !== value)
    .map(([name, value]) => `${name} ${value}`);
}

function sameSlots(a: Request, b: Request): boolean {
  return JSON.stringify(a.slots) === JSON.stringify(b.slots);
}
