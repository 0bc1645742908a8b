/** @file What the tools of the shop showed in a conversation: items, orders, payment methods and addresses, by id. */
import { isObject } from '../../../base/json.ts';
import type { Json } from '../../../records/json.ts';

export interface KnownItem {
  /** The name of the product; '' if no result showed it. */
  name: string;
  options: Readonly<Record<string, string>>;
  product: string;
}
export interface KnownOrder {
  items: readonly string[];
  /** The first payment method; '' if no result showed it. */
  payment: string;
}
export interface KnownMethod {
  brand?: string;
  last_four?: string;
}

export class ShopRecords {
  readonly items = new Map<string, KnownItem>();
  readonly orders = new Map<string, KnownOrder>();
  readonly methods = new Map<string, KnownMethod>();
  /** The products of which a result showed all items. */
  readonly shown = new Set<string>();
  /** The first lines of the customer's own addresses. */
  readonly homes = new Set<string>();

  constructor(results: readonly Json[]) {
    for (const result of results) this.#learn(result);
  }

  /** All known items of a product. */
  variants(product: string): KnownItem[] {
    return [...this.items.values()].filter((item) => item.product === product);
  }

  #learn(value: Json): void {
    if (Array.isArray(value)) return value.forEach((entry) => this.#learn(entry));
    if (!isObject(value)) return;
    const record = value as Record<string, Json>;
    this.#learnItem(record);
    if (isObject(record.variants)) this.#learnProduct(record);
    if (typeof record.order_id === 'string' && Array.isArray(record.items)) this.#learnOrder(record.order_id, record);
    if (isObject(record.payment_methods))
      for (const [id, method] of Object.entries(record.payment_methods)) if (isObject(method)) this.methods.set(id, method as KnownMethod);
    if (record.email !== undefined && isObject(record.address)) this.homes.add(text(record.address.address1));
    for (const entry of Object.values(record)) if (entry !== null && typeof entry === 'object') this.#learn(entry);
  }

  #learnItem({ item_id, name, product_id, options }: Record<string, Json>): void {
    if (typeof item_id !== 'string') return;
    const known = this.items.get(item_id);
    this.items.set(item_id, {
      name: text(name) || (known?.name ?? ''),
      product: text(product_id) || (known?.product ?? ''),
      options: options === undefined || options === null ? (known?.options ?? {}) : optionsOf(options),
    });
  }

  /** A product's variants: by item id, or at the small levels the item ids by their options. */
  #learnProduct({ name, product_id, variants }: Record<string, Json>): void {
    const product = text(product_id) || text(name);
    this.shown.add(product);
    for (const [key, variant] of Object.entries(variants as Record<string, Json>)) {
      const [item_id, options] = isObject(variant) ? [key, (variant as Record<string, Json>).options ?? {}] : [text(variant), key];
      this.#learnItem({ item_id, name: name ?? '', product_id: product, options });
    }
  }

  /** The first record counts: later records show what the writes changed. */
  #learnOrder(id: string, record: Record<string, Json>): void {
    if (this.orders.has(id)) return;
    const [payment] = Array.isArray(record.payment_history) ? record.payment_history : [];
    this.orders.set(id, {
      items: (record.items as Json[]).flatMap((item) => (isObject(item) ? text(item.item_id) || [] : [])),
      payment: text(isObject(payment) ? payment.payment_method_id : record.payment_method_id),
    });
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The options as a record. The small levels show them as a text: `color red, size large`. */
function optionsOf(options: Json): Record<string, string> {
  if (isObject(options)) return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));
  return Object.fromEntries(
    text(options)
      .split(', ')
      .map((option) => [option.split(' ')[0]!, option.split(' ').slice(1).join(' ')]),
  );
}
