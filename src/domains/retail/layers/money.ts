/** @file The money of the shop that tools showed: prices, payments, balances, and what a write costs or pays back. */
import { isObject } from '../../../base/json.ts';
import { sumsOf } from '../../../agent/layers/communication-money.ts';
import { recordsIn, textOf } from '../../../agent/layers/readings.ts';
import { type Made, numbersIn, type Talk } from '../../../agent/layers/talk.ts';
import type { Json } from '../../../records/json.ts';

export interface ShownOrder {
  id: string;
  status: string;
  items: { id: string; name: string; product: string; price: number }[];
  /** The amount of the first payment. Undefined: not shown. */
  paid: number | undefined;
  /** The methods that paid: `gift_card_123`. */
  methods: string[];
}

type Row = Record<string, Json>;
const isPrice = (value: unknown): value is number => typeof value === 'number';

export class ShopFacts {
  /** The orders as they were shown first. */
  readonly orders = new Map<string, ShownOrder>();
  /** The last status of each order. */
  readonly statuses = new Map<string, string[]>();
  /** Item id → price. */
  readonly prices = new Map<string, number>();
  /** Item id → product. */
  readonly products = new Map<string, string>();
  readonly #numbers = new Set<number>();
  readonly #balances = new Set<number>();

  /** @param until only results before this place are read */
  constructor(talk: Talk, until = talk.end) {
    for (const call of talk.callsIn(-1, until)) {
      if (call.failed) continue;
      for (const record of recordsIn(call.value)) this.#learn(record, call.write);
      for (const number of numbersIn(call.value)) this.#numbers.add(number);
      if (call.name === 'calculate') this.#numbers.add(Number(call.value));
    }
  }

  /** The amounts that a result names as they are. */
  get numbers(): ReadonlySet<number> {
    return this.#numbers;
  }

  #learn(record: Row, written: boolean): void {
    const { item_id: id, price, product_id, order_id, status } = record;
    if (typeof id === 'string') {
      if (isPrice(price) && !written) this.prices.set(id, price);
      if (typeof product_id === 'string') this.products.set(id, product_id);
    }
    if (isObject(record.variants))
      for (const [variant, shown] of Object.entries(record.variants)) {
        this.products.set(variant, textOf(product_id));
        if (isObject(shown) && isPrice(shown.price)) this.prices.set(variant, shown.price);
      }
    if (isPrice(record.balance)) this.#balances.add(record.balance);
    if (typeof order_id !== 'string') return;
    if (typeof status === 'string') this.statuses.set(order_id, [...(this.statuses.get(order_id) ?? []), status]);
    if (!this.orders.has(order_id) && Array.isArray(record.items)) this.orders.set(order_id, shownOrder(order_id, record));
  }

  /** The price difference of an exchange: what the customer pays more. Undefined: a price was not shown. */
  difference({ args }: Pick<Made, 'args'>): number | undefined {
    const fresh = this.#sum(args.new_item_ids, (id) => this.prices.get(id));
    const old = this.worth(args);
    return fresh === undefined || old === undefined ? undefined : round(fresh - old);
  }

  /** What the items of a write cost in their order. Undefined: a price was not shown. */
  worth({ order_id, item_ids }: Made['args']): number | undefined {
    const items = this.orders.get(textOf(order_id))?.items ?? [];
    return this.#sum(item_ids, (id) => items.find((item) => item.id === id)?.price ?? this.prices.get(id));
  }

  #sum(ids: unknown, priceOf: (id: string) => number | undefined): number | undefined {
    const prices = Array.isArray(ids) ? ids.map((id) => priceOf(String(id))) : [];
    return prices.length > 0 && prices.every(isPrice) ? round(prices.reduce((sum, price) => sum + price, 0)) : undefined;
  }

  total(order: ShownOrder): number | undefined {
    return (
      order.paid ??
      (order.items.length > 0 && order.items.every(({ price }) => isPrice(price))
        ? round(order.items.reduce((sum, { price }) => sum + price, 0))
        : undefined)
    );
  }

  /** Whether what was shown can explain an amount: as it is, as a sum of items, of orders, or as a difference. */
  explains(value: number, rough: boolean): boolean {
    return this.derived().some((known) => Math.abs(Math.abs(known) - value) < (rough ? 1 : 0.0051));
  }

  #derived: number[] | null = null;
  private derived(): number[] {
    this.#derived ??= [...this.#all()];
    return this.#derived;
  }

  *#all(): Generator<number> {
    yield* this.#numbers;
    const orders = [...this.orders.values()];
    const sums = orders.flatMap(({ items }) => sumsOf(items.map(({ price }) => price).filter(isPrice)));
    yield* sums;
    const totals = sumsOf(orders.map((order) => this.total(order)).filter(isPrice));
    yield* totals;
    const steps = orders.map(({ items }) => items.map((item) => this.#steps(item.product, item.price)));
    for (const order of steps) {
      yield* order.flat();
      for (const [i, some] of order.entries())
        for (const others of order.slice(i + 1)) for (const a of some) for (const b of others) yield a + b;
    }
    const money = [...new Set([...totals, ...sums, ...this.#balances])].slice(0, 60);
    for (const a of money) for (const b of money) yield a - b;
    // The total of an order after one of its items was replaced.
    for (const [i, order] of orders.entries()) for (const step of steps[i]!.flat()) yield (this.total(order) ?? NaN) + step;
    for (const a of this.#balances) for (const step of steps.flat(2)) yield a - step;
  }

  /** The differences in price to the other items of a product. */
  #steps(product: string, price: number): number[] {
    return [...this.prices].flatMap(([id, other]) => (this.products.get(id) === product && isPrice(price) ? [other - price] : []));
  }
}

const rows = (value: Json | undefined): Row[] => (Array.isArray(value) ? (value.filter(isObject) as Row[]) : []);

function shownOrder(id: string, record: Row): ShownOrder {
  const payments = rows(record.payment_history).filter(({ transaction_type }) => transaction_type !== 'refund');
  const items = rows(record.items).map((item) => ({
    id: textOf(item.item_id),
    name: textOf(item.name),
    product: textOf(item.product_id),
    price: item.price as number,
  }));
  const amount = payments[0]?.amount;
  const methods = [...payments.map(({ payment_method_id }) => textOf(payment_method_id)), textOf(record.payment_method_id)].filter(Boolean);
  return { id, status: textOf(record.status), items, paid: isPrice(amount) ? amount : undefined, methods };
}

const round = (value: number): number => Math.round(value * 100) / 100;
