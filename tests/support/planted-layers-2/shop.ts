/** @file A customer of a shop with one order, and the calls that read and change it. */
import { address, person } from '../planted-layers/people.ts';
import { type Call, money, type Talk, type Words } from '../planted-layers/talk.ts';
import { HELLO, WAIT } from './words.ts';

const PRODUCTS: [name: string, option: string, ...values: string[]][] = [
  ['Desk Lamp', 'color', 'white', 'black', 'silver'],
  ['Backpack', 'color', 'navy', 'green', 'grey'],
  ['Coffee Maker', 'capacity', '4 cups', '6 cups', '8 cups'],
  ['Yoga Mat', 'thickness', '4mm', '5mm', '6mm'],
  ['Running Shoes', 'size', '8', '9', '10'],
  ['Wristwatch', 'strap', 'leather', 'metal', 'silicone'],
  ['Bluetooth Speaker', 'color', 'red', 'blue', 'black'],
  ['Luggage Set', 'color', 'olive', 'coral', 'black'],
  ['Garden Hose', 'length', '25ft', '50ft', '100ft'],
];

const ASK: Words = [
  'Sure. Which email is on your account?',
  'Gladly. To find your account I need your email address, or your name and zip code.',
  'May I have the email of the account first?',
  'Of course. First, please verify yourself: email, or full name plus zip.',
  'No problem! What email did you sign up with?',
  'I can look into that. Please give me your email, or name and zip code.',
];
const EMAIL: Words = [
  'My email is {email}.',
  'it is {email}',
  'Sure: {email}',
  'You can find me under {email}.',
  'Use {email} please.',
  'Account mail: {email}.',
  '{email} is the address.',
  'I am registered as {email}.',
];
const NAME: Words = [
  'I am {name}, zip {zip}.',
  'name {name}, zip code {zip}',
  'This is {name} from {zip}.',
  '{name}. My zip code is {zip}.',
  'It is {name}, and I live in {zip}.',
  'You have me as {name}, postcode {zip}.',
];

interface Item {
  name: string;
  product_id: string;
  item_id: string;
  price: number;
  options: Record<string, string>;
}

export class Shop {
  readonly user: string;
  readonly card: string;
  readonly gift: string;
  readonly order: { order_id: string; items: Item[]; status: string; payment_history: unknown[] } & Record<string, unknown>;
  readonly profile: Record<string, unknown>;
  readonly product: { name: string; product_id: string; variants: Record<string, unknown> };
  /** The three variants of the first item: in the order, wanted, and another. */
  readonly variants: Item[];

  constructor(
    private readonly t: Talk,
    status: string,
    paid: 'card' | 'gift' = 'card',
    balance = 900,
  ) {
    const who = person(t);
    this.user = who.user;
    this.card = `credit_card_${t.digits(7)}`;
    this.gift = `gift_card_${t.digits(7)}`;
    const first = t.below(PRODUCTS.length);
    const second = (first + 1 + t.below(PRODUCTS.length - 1)) % PRODUCTS.length;
    const base = 3000 + t.below(20_000);
    const item = ([name, option, ...values]: (typeof PRODUCTS)[number], id: string, value: number, cents: number): Item => ({
      name,
      product_id: id,
      item_id: t.digits(10),
      price: cents / 100,
      options: { [option]: values[value]! },
    });
    const id = t.digits(10);
    this.variants = [0, 1, 2].map((value) => item(PRODUCTS[first]!, id, value, base + value * (431 + t.below(900))));
    const other = item(PRODUCTS[second]!, t.digits(10), t.below(3), 2500 + t.below(9000));
    this.product = {
      name: PRODUCTS[first]![0],
      product_id: id,
      variants: Object.fromEntries(
        this.variants.map(({ item_id, options, price }) => [item_id, { item_id, options, available: true, price }]),
      ),
    };
    const items = [this.variants[0]!, other];
    const total = (Math.round(items[0]!.price * 100) + Math.round(items[1]!.price * 100)) / 100;
    const [order, next, last4, moved, tracking] = [`#W${t.digits(7)}`, `#W${t.digits(7)}`, t.digits(4), address(t), t.digits(12)];
    this.order = {
      order_id: order,
      user_id: this.user,
      address: who.address,
      items,
      fulfillments: status === 'pending' ? [] : [{ tracking_id: [tracking], item_ids: items.map(({ item_id }) => item_id) }],
      status,
      payment_history: [{ transaction_type: 'payment', amount: total, payment_method_id: paid === 'card' ? this.card : this.gift }],
    };
    this.profile = {
      name: { first_name: who.first, last_name: who.last },
      address: who.address,
      email: who.email,
      payment_methods: {
        [this.card]: { source: 'credit_card', brand: 'visa', last_four: last4, id: this.card },
        [this.gift]: { source: 'gift_card', balance, id: this.gift },
      },
      orders: [order, next],
    };
    const value = (n: number) => Object.values(this.variants[n]!.options)[0]!;
    Object.assign(t.facts, {
      name: `${who.first} ${who.last}`,
      first: who.first,
      email: who.email,
      zip: who.address.zip,
      user: this.user,
      order,
      next,
      last4,
      tracking,
      item: items[0]!.name,
      other: other.name,
      old: value(0),
      new: value(1),
      third: value(2),
      price: money(items[0]!.price),
      otherPrice: money(other.price),
      newPrice: money(this.variants[1]!.price),
      diff: money(this.variants[1]!.price - items[0]!.price),
      total: money(total),
      wrong: money(total + 18 + t.below(40)),
      balance: money(balance),
      street: moved.address1,
      suite: moved.address2,
      city: moved.city,
      state: moved.state,
      newZip: moved.zip,
      oldStreet: who.address.address1,
    });
    this.moved = moved;
  }
  readonly moved: ReturnType<typeof address>;

  get itemIds(): string[] {
    return this.order.items.map(({ item_id }) => item_id);
  }

  /** The customer says what is wanted and who asks, and the agent finds the account. */
  start(wish: Words): void {
    const { t } = this;
    if (t.below(3) === 0) t.say(HELLO);
    const byMail = t.below(2) === 0;
    const identity = byMail ? EMAIL : NAME;
    if (t.below(2)) {
      t.user(wish);
      t.say(ASK);
      t.user(identity);
    } else t.messages.push({ role: 'user', content: `${t.text(wish)}\n${t.text(identity)}` });
    t.call(byMail ? this.byEmail() : this.byName(), false, this.beside());
  }

  beside(): string | null {
    return this.t.loose && this.t.below(2) ? this.t.text(WAIT) : null;
  }

  byEmail(email = this.t.facts.email!, result: string = this.user): Call {
    return { name: 'find_user_id_by_email', args: { email }, result };
  }
  byName(result: string = this.user): Call {
    const [first_name, last_name] = this.t.facts.name!.split(' ');
    return { name: 'find_user_id_by_name_zip', args: { first_name, last_name, zip: this.t.facts.zip }, result };
  }
  readUser(): Call {
    return { name: 'get_user_details', args: { user_id: this.user }, result: this.profile };
  }
  readOrder(order_id = this.order.order_id, result: unknown = this.order): Call {
    return { name: 'get_order_details', args: { order_id }, result };
  }
  readProduct(): Call {
    return { name: 'get_product_details', args: { product_id: this.product.product_id }, result: this.product };
  }
  /** Reads the profile, the order and, if asked for, the product. */
  read(product = false): void {
    const calls = [this.readUser(), this.readOrder(), ...(product ? [this.readProduct()] : [])];
    if (this.t.loose) this.t.call(calls, false, this.beside());
    else for (const call of calls) this.t.call(call);
  }

  private result(change: Record<string, unknown>, error?: string): unknown {
    return error ? `Error: ${error}` : { ...this.order, ...change };
  }
  cancel(error?: string, order_id = this.order.order_id): Call {
    const [payment] = this.order.payment_history as Record<string, unknown>[];
    const change = {
      status: 'cancelled',
      cancel_reason: 'no longer needed',
      payment_history: [payment, { ...payment, transaction_type: 'refund' }],
    };
    return {
      name: 'cancel_pending_order',
      args: { order_id, reason: 'no longer needed' },
      result: this.result({ ...change, order_id }, error),
    };
  }
  returns(item_ids: string[], payment_method_id = this.card, error?: string): Call {
    return {
      name: 'return_delivered_order_items',
      args: { order_id: this.order.order_id, item_ids, payment_method_id },
      result: this.result({ status: 'return requested', return_items: item_ids, return_payment_method_id: payment_method_id }, error),
    };
  }
  private swap(name: string, change: Record<string, unknown>, to: number, payment_method_id: string, error?: string): Call {
    const [old, wanted] = [this.variants[0]!.item_id, this.variants[to]!.item_id];
    return {
      name,
      args: { order_id: this.order.order_id, item_ids: [old], new_item_ids: [wanted], payment_method_id },
      result: this.result(change, error),
    };
  }
  /** @param to the variant: 1 is the wanted one, 2 is another */
  exchange(to = 1, payment = this.card, error?: string): Call {
    const [old, wanted] = [this.variants[0]!, this.variants[to]!];
    const difference = Math.round((wanted.price - old.price) * 100) / 100;
    const change = {
      status: 'exchange requested',
      exchange_items: [old.item_id],
      exchange_new_items: [wanted.item_id],
      exchange_payment_method_id: payment,
      exchange_price_difference: difference,
    };
    return this.swap('exchange_delivered_order_items', change, to, payment, error);
  }
  modify(to = 1, payment = this.card, error?: string): Call {
    const [old, wanted] = [this.variants[0]!, this.variants[to]!];
    const paid = { transaction_type: 'payment', amount: Math.round((wanted.price - old.price) * 100) / 100, payment_method_id: payment };
    const change = {
      status: 'pending (items modified)',
      items: [wanted, this.order.items[1]],
      payment_history: [...this.order.payment_history, paid],
    };
    return this.swap('modify_pending_order_items', change, to, payment, error);
  }
  pay(payment_method_id = this.gift, error?: string): Call {
    const [payment] = this.order.payment_history as Record<string, unknown>[];
    const history = [payment, { ...payment, payment_method_id }, { ...payment, transaction_type: 'refund' }];
    return {
      name: 'modify_pending_order_payment',
      args: { order_id: this.order.order_id, payment_method_id },
      result: this.result({ payment_history: history }, error),
    };
  }
  move(moved = this.moved, error?: string): Call {
    return {
      name: 'modify_pending_order_address',
      args: { order_id: this.order.order_id, ...moved },
      result: this.result({ address: moved }, error),
    };
  }
  moveHome(): Call {
    return { name: 'modify_user_address', args: { user_id: this.user, ...this.moved }, result: { ...this.profile, address: this.moved } };
  }
}
