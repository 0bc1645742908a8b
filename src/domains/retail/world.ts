/**
 * @file Generates retail worlds: about twenty customers with their orders, and a catalogue. A world depends only on its id,
 * `retail/<level>/<split>/<seed>/w<number>`. The numbers in ids come from another residue class in `train` than in the other
 * splits, so these share no customer, order, item or payment method with `train`. Worlds of `unseen` also have names and products
 * of their own.
 */
import { Dice } from '../../base/dice.ts';
import type { Json } from '../../records/json.ts';
import type { WorldTables } from '../../environments/overlay.ts';
import { round2 } from '../exact/python.ts';
import { isSplit, type Split } from '../../records/task.ts';
import { CATALOGUE, type Catalogue } from './catalogue.ts';
import { LEVELS, type Address, type Level, type Order, type PaymentMethod, type Product, type User } from './schema.ts';
import { UNSEEN_CATALOGUE } from './unseen-catalogue.ts';

export const TASKS_PER_WORLD = 64;

export interface WorldKey {
  level: Level;
  split: Split;
  seed: number;
  number: number;
}

interface Scale {
  users: number;
  /** The number of products. The catalogue may have fewer. */
  products: number;
  /** The weights with which the number of a customer's orders is drawn. */
  orders: Record<string, number>;
  /** The weights with which the number of items in an order is drawn. */
  items: Record<string, number>;
  variants: [number, number];
}

const SCALE: Record<Level, Scale> = {
  glimpse: { users: 24, products: 3, orders: { 2: 50, 3: 50 }, items: { 1: 100 }, variants: [2, 3] },
  nano: { users: 24, products: 12, orders: { 1: 15, 2: 35, 3: 50 }, items: { 1: 35, 2: 40, 3: 25 }, variants: [2, 3] },
  small: { users: 22, products: 20, orders: { 1: 10, 2: 30, 3: 60 }, items: { 1: 30, 2: 40, 3: 30 }, variants: [3, 5] },
  full: {
    users: 20,
    products: Infinity,
    orders: { 2: 30, 3: 40, 4: 30 },
    items: { 1: 20, 2: 25, 3: 25, 4: 20, 5: 10 },
    variants: [5, 12],
  },
};

export function worldId({ level, split, seed, number }: WorldKey): string {
  // Attacks play in the worlds of `heldout`.
  return `retail/${level}/${split === 'attacks' ? 'heldout' : split}/${seed}/w${number}`;
}

/** Reads an id that `worldId` made. @throws if `id` is not the id of a retail world */
export function parseWorldId(id: string): WorldKey {
  const [, level, split, seed, number] = /^retail\/([a-z]+)\/([a-z]+)\/(\d+)\/w(\d+)$/.exec(id) ?? [];
  if (!LEVELS.includes(level as Level) || !isSplit(split)) throw new Error(`world: '${id}' is not the id of a retail world`);
  return { level: level as Level, split, seed: Number(seed), number: Number(number) };
}

/** Draws numbers for ids in the split's residue class. No number occurs twice in a world. */
class Ids {
  private readonly used = new Set<string>();

  constructor(
    private readonly dice: Dice,
    private readonly training: boolean,
  ) {}

  /** A number with `digits` digits. It has any residue modulo 7 except 3 in training worlds, and 3 in all others. */
  number(digits: number): string {
    for (;;) {
      const text = String(this.dice.int(1, 9)) + Array.from({ length: digits - 1 }, () => this.dice.int(0, 9)).join('');
      if ((Number(text) % 7 === 3) === this.training || this.used.has(text)) continue;
      this.used.add(text);
      return text;
    }
  }
}

/** The world's tables `users`, `orders` and `products`, with rows in tau-bench's format. */
export function makeWorld(key: WorldKey): WorldTables {
  const dice = new Dice('world', key.level, key.split, key.seed, key.number);
  const ids = new Ids(dice, key.split === 'train');
  const { firstNames, lastNames, ...catalogue } = catalogueOf(key.split);
  const scale = SCALE[key.level];
  const products = catalogue.products.slice(0, scale.products).map((type): Product => {
    const product_id = ids.number(10);
    const all = combinations(type.options);
    const count = Math.min(all.length, dice.int(...scale.variants));
    return {
      name: type.name,
      product_id,
      variants: dice.sample(all, count).map((options, i) => ({
        item_id: ids.number(10),
        options,
        // The first two variants are always available, so that every product can be exchanged.
        available: i < 2 || dice.chance(0.75),
        price: cents(type.price * (0.85 + 0.3 * dice.unit())),
      })),
    };
  });
  const orders: Order[] = [];
  const users = new Map<string, User>();
  // Names are unique within a world, so that name and zip code identify one customer.
  const names = dice.sample(
    firstNames.flatMap((first) => lastNames.map((last) => [first, last] as const)),
    scale.users,
  );
  for (const [first_name, last_name] of names) {
    const user_id = `${first_name}_${last_name}_${ids.number(4)}`.toLowerCase();
    const email = `${first_name}.${last_name}${ids.number(4)}@example.com`.toLowerCase();
    const address = makeAddress(dice, key.split);
    const payment_methods = makePaymentMethods(dice, ids, key.level);
    const user: User = { name: { first_name, last_name }, address, email, payment_methods, orders: [] };
    const methods = Object.values(payment_methods);
    for (let n = Number(dice.weighted(scale.orders)); n > 0; n--) {
      // Ids are short at level `glimpse`, because each token of an id costs a decoding step.
      const order_id = `#W${ids.number(key.level === 'glimpse' ? 4 : 7)}`;
      // The items of an order are different products, so that "the mug" is unambiguous.
      const items = dice.sample(products, Number(dice.weighted(scale.items))).map(({ name, product_id, variants }) => {
        const { item_id, price, options } = dice.pick(variants);
        return { name, product_id, item_id, price, options };
      });
      const status = dice.weighted<Order['status']>(
        key.level === 'glimpse'
          ? { pending: 80, delivered: 20 }
          : { pending: 44, delivered: 42, processed: 10, cancelled: key.level === 'full' ? 4 : 0 },
      );
      const payment: Order['payment_history'][number] = {
        transaction_type: 'payment',
        amount: round2(items.reduce((sum, item) => sum + item.price, 0)),
        payment_method_id: dice.pick(methods).id,
      };
      const shipped = status === 'delivered' || status === 'processed';
      orders.push({
        order_id,
        user_id,
        address,
        items,
        fulfillments: shipped ? [{ tracking_id: [ids.number(12)], item_ids: items.map((item) => item.item_id) }] : [],
        status,
        payment_history: status === 'cancelled' ? [payment, { ...payment, transaction_type: 'refund' }] : [payment],
        ...(status === 'cancelled' && { cancel_reason: dice.pick(['no longer needed', 'ordered by mistake']) }),
      });
      user.orders.push(order_id);
    }
    users.set(user_id, user);
  }
  const table = <T>(entries: Iterable<[string, T]>) => new Map(entries) as unknown as Map<string, Json>;
  return new Map([
    ['users', table(users)],
    ['orders', table(orders.map((order) => [order.order_id, order] as [string, Order]))],
    ['products', table(products.map((product) => [product.product_id, product] as [string, Product]))],
  ]);
}

const catalogueOf = (split: Split): Catalogue => (split === 'unseen' ? UNSEEN_CATALOGUE : CATALOGUE);

export function makeAddress(dice: Dice, split: Split): Address {
  const { cities, streets } = catalogueOf(split);
  const { city, state, zip } = dice.pick(cities);
  return {
    address1: `${dice.int(1, 999)} ${dice.pick(streets)}`,
    address2: dice.chance(0.5) ? `Suite ${dice.int(100, 999)}` : '',
    city,
    country: 'USA',
    state,
    zip: `${zip}${dice.int(10, 99)}`,
  };
}

/**
 * Makes two or three payment methods of different kinds. At level `glimpse` the id is the kind. At level `full` a customer can
 * also have a second credit card.
 */
function makePaymentMethods(dice: Dice, ids: Ids, level: Level): Record<string, PaymentMethod> {
  const kinds = dice.sample(['credit_card', 'paypal', 'gift_card'] as const, dice.int(2, 3)) as PaymentMethod['source'][];
  if (level === 'full' && kinds.includes('credit_card') && dice.chance(0.25)) kinds.push('credit_card');
  const methods = kinds.map((source): PaymentMethod => {
    const id = level === 'glimpse' ? source : `${source}_${ids.number(7)}`;
    if (source === 'paypal') return { source, id };
    if (source === 'gift_card') return { source, balance: dice.int(0, level === 'full' ? 900 : 99), id };
    return { source, brand: dice.pick(['visa', 'mastercard']), last_four: String(dice.int(1000, 9999)), id };
  });
  return Object.fromEntries(methods.map((entry) => [entry.id, entry]));
}

function combinations(options: Record<string, string[]>): Record<string, string>[] {
  return Object.entries(options).reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}
