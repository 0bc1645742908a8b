/** @file A customer of the shop with two orders, and the results of the shop's tools. */
import { address, person, type Address, type Person } from './people.ts';
import { MOMENT } from './phrases.ts';
import { money, type Call, type Talk, type Words } from './talk.ts';

interface Item {
  name: string;
  product_id: string;
  item_id: string;
  price: number;
  options: Record<string, string>;
}

export type Status = 'pending' | 'processed' | 'delivered' | 'cancelled';

const GOODS: [name: string, price: number, option: string, values: string[]][] = [
  ['Desk Lamp', 135.24, 'color', ['black', 'white', 'silver']],
  ['Backpack', 193.51, 'size', ['small', 'medium', 'large']],
  ['Tea Kettle', 98.82, 'material', ['glass', 'ceramic', 'stainless steel']],
  ['Wireless Earbuds', 246.13, 'color', ['blue', 'black', 'white']],
  ['Running Shoes', 158.27, 'size', ['8', '9', '10']],
  ['Bookshelf', 437.05, 'material', ['wood', 'metal', 'glass']],
  ['Cycling Helmet', 174.36, 'color', ['red', 'white', 'black']],
  ['Yoga Mat', 88.64, 'thickness', ['4mm', '5mm', '6mm']],
  ['Coffee Maker', 261.92, 'capacity', ['2 cups', '4 cups', '6 cups']],
  ['Skateboard', 196.53, 'design', ['plain', 'custom', 'graphic']],
];

export interface Shop {
  who: Person;
  order: string;
  items: [Item, Item];
  /** A dearer or cheaper variant of the first item. */
  other: Item;
  total: number;
  payId: string;
  payPalId: string;
  giftId: string;
  /** The payment of the order is a gift card. */
  paidByGift: boolean;
  to: Address;
}

/** @param gift whether the order was paid with a gift card */
export function shop(t: Talk, gift = false): Shop {
  const who = person(t);
  const goods = [t.below(5), 5 + t.below(5)].map((g) => GOODS[g]!);
  const item = ([name, price, option, values]: (typeof GOODS)[number], v: number, extra: number): Item => ({
    name,
    product_id: t.digits(10),
    item_id: t.digits(10),
    price: Math.round((price + extra) * 100) / 100,
    options: { [option]: values[v]! },
  });
  const items: [Item, Item] = [item(goods[0]!, 0, t.below(900) / 100), item(goods[1]!, 1, t.below(900) / 100)];
  const other = { ...item(goods[0]!, 2, 0), product_id: items[0].product_id };
  other.price = Math.round((items[0].price + (t.below(2) ? 1 : -1) * (7 + t.below(900) / 100)) * 100) / 100;
  const total = Math.round((items[0].price + items[1].price) * 100) / 100;
  const made: Shop = {
    who,
    order: `#W${t.digits(7)}`,
    items,
    other,
    total,
    payId: '',
    payPalId: `paypal_${t.digits(7)}`,
    giftId: `gift_card_${t.digits(7)}`,
    paidByGift: gift,
    to: address(t),
  };
  const four = t.digits(4);
  made.payId = gift ? made.giftId : `credit_card_${t.digits(7)}`;
  const option = (of: Item) => Object.values(of.options)[0]!;
  const rise = other.price - items[0].price;
  Object.assign(t.facts, {
    first: who.first,
    last: who.last,
    email: who.email,
    zip: who.address.zip,
    user: who.user,
    order: made.order,
    item: items[0].name.toLowerCase(),
    option: option(items[0]),
    item2: items[1].name.toLowerCase(),
    option2: option(items[1]),
    newOption: option(other),
    newId: other.item_id,
    price: money(items[0].price),
    price2: money(items[1].price),
    newPrice: money(other.price),
    diff: money(rise),
    diffText: rise > 0 ? `you pay ${money(rise)} more` : `you get ${money(rise)} back`,
    total: money(total),
    pay: gift ? 'your gift card' : `your Visa card ending in ${four}`,
    payKind: gift ? 'gift card' : 'credit card',
    time: gift ? 'immediately' : 'within 5 to 7 business days',
    to: `${made.to.address1}, ${made.to.address2}, ${made.to.city}, ${made.to.state} ${made.to.zip}`,
    four,
  });
  return made;
}

function profile({ who, order, payId, payPalId, giftId, paidByGift }: Shop, four: string) {
  return {
    name: { first_name: who.first, last_name: who.last },
    address: who.address,
    email: who.email,
    payment_methods: {
      ...(!paidByGift && { [payId]: { source: 'credit_card', brand: 'visa', last_four: four, id: payId } }),
      [payPalId]: { source: 'paypal', id: payPalId },
      [giftId]: { source: 'gift_card', balance: 900, id: giftId },
    },
    orders: [order],
  };
}

export function record({ who, order, items, total, payId }: Shop, status: Status, more: object = {}) {
  return {
    order_id: order,
    user_id: who.user,
    address: who.address,
    items,
    fulfillments: status === 'pending' || status === 'cancelled' ? [] : [{ tracking_id: [`${who.address.zip}0417362`], item_ids: items.map(({ item_id }) => item_id) }], // prettier-ignore
    status,
    payment_history: [{ transaction_type: 'payment', amount: total, payment_method_id: payId }],
    ...more,
  };
}

const ASK_WHO: Words = [
  'Sure. Could I have the email address of your account?',
  'Happy to help! To verify who you are, please send me your email, or your first and last name with your zip code.',
  'Before we start I need to find your account. What is your email address?',
  'Of course. May I have your email, please?',
  'I can look into this. Which email is your account under? Name plus zip code also works.',
  "Let's get you verified first: email, or full name and zip?",
  "I'd be glad to assist. Please provide the email on file so that I can locate your profile.",
  'No problem! What email did you register with?',
];
export const BY_EMAIL: Words = ['{email}', "It's {email}", 'My email is {email}.', 'sure: {email}', 'That would be {email}.', 'Use {email} please', 'email {email}', 'Here you go, {email}']; // prettier-ignore
const BY_NAME: Words = ['{first} {last}, {zip}', "I'm {first} {last} and my zip is {zip}.", 'Name is {first} {last}, zip code {zip}', 'I lost access to that mailbox. {first} {last}, {zip}.']; // prettier-ignore

export const byEmail = ({ who }: Shop): Call => ({ name: 'find_user_id_by_email', args: { email: who.email }, result: who.user });
export const byName = ({ who }: Shop): Call => ({
  name: 'find_user_id_by_name_zip',
  args: { first_name: who.first, last_name: who.last, zip: who.address.zip },
  result: who.user,
});
export const readUser = (t: Talk, s: Shop): Call => ({
  name: 'get_user_details',
  args: { user_id: s.who.user },
  result: profile(s, t.facts.four!),
});
export const readOrder = (s: Shop, status: Status, more?: object): Call => ({
  name: 'get_order_details',
  args: { order_id: s.order },
  result: record(s, status, more),
});

/** The agent asks who the customer is, and finds them. */
export function identify(t: Talk, s: Shop): void {
  t.say(ASK_WHO);
  const email = t.below(3) > 0;
  t.user(email ? BY_EMAIL : BY_NAME);
  t.call(email ? byEmail(s) : byName(s), false, t.loose && t.below(3) === 0 ? t.text(MOMENT) : null);
}

/** The agent reads the profile and the order, in one turn if it may. */
export function look(t: Talk, s: Shop, status: Status, more?: object): void {
  const calls = [readUser(t, s), readOrder(s, status, more)];
  if (t.loose && t.below(2)) t.call(calls);
  else calls.forEach((call) => t.call(call));
}
