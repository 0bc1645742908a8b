/** @file What the shop's tools showed, as far as the rules of the policy need it. Later results replace earlier ones. */
import { isObject } from '../../../base/json.ts';
import { didNothing, recordsIn, resultOf, textOf, type ToolEvent } from '../../../agent/layers/readings.ts';
import type { Json } from '../../../records/json.ts';
import { AUDIT } from '../audit.ts';

export interface ShownItem {
  name: string;
  product?: string;
  price?: number;
  /** Undefined: no result showed it. */
  available?: boolean;
}

export interface ShownOrder {
  owner?: string;
  status?: string;
  items: Map<string, ShownItem>;
  /** The first payment method, and the amount paid. */
  payment?: string;
  total?: number;
}

export interface ShownUser {
  orders?: readonly string[];
  /** The payment methods with their balances; null: the method has none, or it was not shown. */
  methods?: Map<string, number | null>;
}

const number = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

export class ShopFacts {
  customer: string | null = null;
  readonly orders = new Map<string, ShownOrder>();
  readonly users = new Map<string, ShownUser>();
  readonly items = new Map<string, ShownItem>();
  /** The orders whose items were changed in this conversation or before it. */
  readonly changed = new Set<string>();

  learn(event: ToolEvent): void {
    if (didNothing(event)) return;
    const { call } = event;
    const result = resultOf(event);
    if (AUDIT.authenticate.includes(call.name)) {
      const id = textOf(isObject(result) ? result.user_id : result);
      // A conversation has one customer: the first one that was found.
      if (id !== '') this.customer ??= id;
      return;
    }
    for (const record of recordsIn(result)) {
      if (typeof record.order_id === 'string') this.#learnOrder(record.order_id, record);
      if (record.payment_methods !== undefined && record.order_id === undefined)
        this.#learnUser(textOf(record.user_id) || textOf(call.arguments.user_id), record);
      if (isObject(record.variants)) this.#learnProduct(textOf(record.product_id) || textOf(call.arguments.product_id), record);
      else if (typeof record.item_id === 'string') this.#learnItem(record.item_id, record);
    }
    const order = textOf(call.arguments.order_id);
    if (call.name === 'modify_pending_order_items' || /pending \(items? modif/.test(this.orders.get(order)?.status ?? ''))
      this.changed.add(order);
  }

  /** The customer to whom an order belongs. Null: nothing says it. */
  ownerOf(order: string): string | null {
    const shown = this.orders.get(order)?.owner;
    return shown ?? [...this.users].find(([, { orders }]) => orders?.includes(order))?.[0] ?? null;
  }

  /** The balance of a gift card of the customer. Undefined: not a gift card, or not known. */
  balance(method: string): number | undefined {
    for (const { methods } of this.users.values()) {
      const found = methods?.get(method);
      if (found !== undefined && found !== null) return found;
    }
    return undefined;
  }

  #learnOrder(id: string, record: Record<string, Json>): void {
    const order: ShownOrder = this.orders.get(id) ?? { items: new Map<string, ShownItem>() };
    this.orders.set(id, order);
    if (typeof record.user_id === 'string') order.owner = record.user_id;
    if (typeof record.status === 'string') order.status = record.status;
    const [first] = Array.isArray(record.payment_history) ? record.payment_history : [];
    const payment = textOf(isObject(first) ? first.payment_method_id : record.payment_method_id);
    if (payment !== '') order.payment ??= payment;
    if (isObject(first)) order.total ??= number(first.amount as Json);
    if (!Array.isArray(record.items)) return;
    order.items = new Map(
      record.items.flatMap((item): [string, ShownItem][] => {
        if (!isObject(item) || typeof item.item_id !== 'string') return [];
        this.#learnItem(item.item_id, item as Record<string, Json>);
        return [[item.item_id, this.items.get(item.item_id)!]];
      }),
    );
  }

  #learnUser(id: string, { orders, payment_methods: methods }: Record<string, Json>): void {
    if (id === '') return;
    const list = isObject(methods)
      ? Object.entries(methods).map(([key, method]): [string, number | null] => [
          key,
          isObject(method) && typeof method.balance === 'number' ? method.balance : null,
        ])
      : Array.isArray(methods)
        ? methods.map((method): [string, null] => [textOf(isObject(method) ? method.id : method), null])
        : null;
    this.users.set(id, {
      ...(Array.isArray(orders) && { orders: orders.map(textOf) }),
      ...(list && { methods: new Map<string, number | null>(list) }),
    });
  }

  #learnProduct(product: string, { name, variants }: Record<string, Json>): void {
    for (const [key, variant] of Object.entries(variants as Record<string, Json>)) {
      // The small levels show only available variants: their ids by their options.
      if (typeof variant === 'string') this.#learnItem(variant, { name: name!, product_id: product, available: true });
      else if (isObject(variant))
        this.#learnItem(textOf(variant.item_id) || key, { name: name!, product_id: product, ...(variant as Record<string, Json>) });
    }
  }

  #learnItem(id: string, { name, product_id, price, available }: Record<string, Json>): void {
    const known = this.items.get(id);
    this.items.set(id, {
      name: textOf(name) || (known?.name ?? id),
      product: textOf(product_id) || known?.product,
      price: number(price) ?? known?.price,
      available: typeof available === 'boolean' ? available : known?.available,
    });
  }
}
