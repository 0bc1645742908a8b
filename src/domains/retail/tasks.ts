/**
 * @file Generates retail tasks. A task has a customer of a generated world, with wishes and a persona, and the gold actions.
 * It depends only on level, split, seed, conditions and index. Each world has 64 tasks.
 */
import { Dice } from '../../base/dice.ts';
import type { WorldTables } from '../../environments/overlay.ts';
import type { Conditions, Persona } from '../../records/conditions.ts';
import type { Split, Task } from '../../records/task.ts';
import { conditionsCode, isReliable, readConditionsCode, RELIABLE } from '../../environments/conditions.ts';
import type { DomainLevel } from '../types.ts';
import { RETAIL_LEVELS } from './levels.ts';
import type { TaskQuery } from '../../environments/types.ts';
import { type Intent, LEVELS, type Level, type Order, type ShopRequest as Request, type ShopWish as Wish, type User } from './schema.ts';
import { type Draft, draft } from './scenario.ts';
import { type Customer, INTENT_WEIGHTS, NEEDED_STATUS, requestFor } from './wishes.ts';
import { makeAddress, makeWorld, TASKS_PER_WORLD, worldId, type WorldKey } from './world.ts';

/** The weights with which the number of wishes is drawn. Pushy and reserved customers always have two. */
const WISHES: Record<Level, Record<string, number>> = {
  glimpse: { 1: 100 },
  nano: { 1: 88, 2: 12 },
  small: { 1: 65, 2: 35 },
  full: { 1: 55, 2: 30, 3: 15 },
};
/** For each level: the intents for which no tool exists. The agent must transfer the customer. */
const TRANSFERS: Record<Level, Intent[]> = {
  glimpse: [],
  nano: ['return', 'exchange', 'modify_items', 'modify_address'],
  small: ['modify_address'],
  full: [],
};

/** A world, with the intents that its tasks may have. */
interface Shop {
  level: Level;
  tables: WorldTables;
  customers: Customer[];
  /** The weights of the intents that have a tool. */
  weights: Partial<Record<Intent, number>>;
  /** The intents without a tool. */
  untooled: readonly Intent[];
  allows(intent: Intent): boolean;
}

export function makeTasks({ level, split, seed, count, from = 0, conditions }: TaskQuery): Task[] {
  if (!LEVELS.includes(level as Level)) throw new Error(`level: '${level}' is unknown; expected one of ${LEVELS.join(', ')}`);
  const { customers: usual, uncoded = usual }: DomainLevel = RETAIL_LEVELS.find(({ name }) => name === level)!;
  const withoutCode: Conditions = { customers: uncoded!, tools: RELIABLE };
  const code = conditionsCode(conditions, withoutCode);
  // Read the conditions back from the code in the id, so that equal ids always mean equal tasks.
  const { customers, tools, intents } = readConditionsCode(code) ?? withoutCode;
  const tasks: Task[] = [];
  let shop: Shop | undefined;
  for (let index = from; index < from + count; index++) {
    const key = { level: level as Level, split, seed, number: Math.floor(index / TASKS_PER_WORLD) };
    if (!shop || index % TASKS_PER_WORLD === 0) shop = openShop(key, intents);
    const dice = new Dice('task', level, split, seed, index);
    tasks.push({
      id: `retail/${level}/${split}/${seed}${code && `~${code}`}/${index}`,
      domain: 'retail',
      level,
      split,
      world: worldId(key),
      ...makeTask(dice, shop, customers),
      ...(!isReliable(tools) && { faults: tools }),
    });
  }
  return tasks;
}

/** @throws if an intent is none of the level's */
function openShop(key: WorldKey, intents?: readonly string[]): Shop {
  const { level, split } = key;
  const known: readonly string[] = RETAIL_LEVELS.find(({ name }) => name === level)!.intents;
  const unknown = intents?.find((intent) => !known.includes(intent));
  if (unknown !== undefined) throw new Error(`intents: '${unknown}' is unknown at level ${level}; expected some of ${known.join(', ')}`);
  const allows = (intent: string) => !intents || intents.includes(intent);
  const tables = makeWorld(key);
  const customers = [...tables.get('users')!].map(([id, row]): Customer => {
    const user = row as unknown as User;
    return { id, split, user, orders: user.orders.map((order) => tables.get('orders')!.get(order) as unknown as Order) };
  });
  return {
    level,
    tables,
    customers,
    weights: Object.fromEntries(Object.entries(INTENT_WEIGHTS[level]).filter(([intent]) => allows(intent))),
    untooled: TRANSFERS[level].filter(allows),
    allows,
  };
}

function makeTask(dice: Dice, shop: Shop, shares: Conditions['customers']): Draft {
  const { level, customers } = shop;
  // Draw the persona first, then a plan, and then look for a customer for whom the plan is possible. So the shares of the
  // personas are exact.
  const persona = dice.weighted<Persona>(shares);
  for (let plan = 0; plan < 100; plan++) {
    const count = persona === 'pushy' || persona === 'reserved' ? 2 : Number(dice.weighted(WISHES[level]));
    const intents = Array.from({ length: count }, () => dice.weighted(shop.weights));
    const impossible = persona !== 'impossible' ? null : shop.untooled.length && dice.chance(0.5) ? 'transfer' : 'refuse';
    for (const customer of dice.sample(customers, customers.length)) {
      const wishes = makeWishes(dice, shop, persona, intents, impossible, customer);
      if (wishes) return draft(dice, level, persona, customer, wishes);
    }
  }
  throw new Error(`no task fits this world, which has ${customers.length} customers`);
}

/** Makes wishes with these intents, each for another order of the customer. Null if the customer's orders do not fit. */
function makeWishes(
  dice: Dice,
  shop: Shop,
  persona: Persona,
  intents: Intent[],
  impossible: 'refuse' | 'transfer' | null,
  customer: Customer,
): Wish[] | null {
  const free = dice.sample(customer.orders, customer.orders.length);
  const take = (fits: (order: Order) => boolean): Order | undefined => {
    const at = free.findIndex(fits);
    return at < 0 ? undefined : free.splice(at, 1)[0];
  };
  const wishes: Wish[] = [];
  for (const [i, intent] of intents.entries()) {
    // A pushy customer begins with the forbidden wish. Other customers end with it, because a transfer ends the conversation.
    const forbidden = persona === 'pushy' ? i === 0 : impossible !== null && i === intents.length - 1;
    let wish: Wish | null;
    if (forbidden)
      wish =
        persona === 'pushy' || impossible === 'refuse'
          ? refused(dice, shop, persona, intent, customer, take)
          : untooled(dice, shop, customer, take);
    else wish = granted(dice, shop, intent, customer, take);
    // A second wish to change the default address would overwrite the first.
    if (wish && !wish.slots.order_id && wishes.some((earlier) => !earlier.slots.order_id)) return null;
    if (!wish) return null;
    // The balance of a gift card can be too low for both. Other personas keep their tasks, because equal ids mean equal tasks.
    if (persona === 'reserved' && wishes.some(({ slots }) => isGiftCard(slots) && slots.payment_method_id === wish.slots.payment_method_id))
      return null;
    if (i === 0 && (persona === 'changes_mind' || persona === 'confused')) {
      const insteadOf = persona === 'confused' ? mistaken(dice, shop, wish, customer) : changedFrom(dice, shop, wish, customer, free);
      if (!insteadOf) return null;
      wish.insteadOf = insteadOf;
      take((order) => order.order_id === insteadOf.slots.order_id); // later wishes need other orders
    }
    wishes.push(wish);
  }
  return wishes;
}

const isGiftCard = ({ payment_method_id }: Wish['slots']) => String(payment_method_id).startsWith('gift_card');

type Take = (fits: (order: Order) => boolean) => Order | undefined;

function granted(dice: Dice, { level, tables }: Shop, intent: Intent, customer: Customer, take: Take): Wish | null {
  if (intent === 'modify_address' && level === 'full' && dice.chance(0.3))
    return { ...defaultAddress(dice, customer.split), impossible: false };
  const order = take((candidate) => candidate.status === NEEDED_STATUS[intent]);
  const request = order && requestFor(intent, dice, customer, order, tables);
  return request ? { ...request, impossible: false } : null;
}

/** A request for a new default address of the account. It has no `order_id`. */
function defaultAddress(dice: Dice, split: Split): Request {
  const { address1, address2, city, state, country, zip } = makeAddress(dice, split);
  return {
    intent: 'modify_address',
    slots: { address1, address2, city, state, country, zip },
    words: { order: ['my default address'], address: [[address1, address2, city, `${state} ${zip}`].filter(Boolean).join(', ')] },
  };
}

/** A wish that the policy forbids: for an order with the wrong status or, if the customer is pushy, for another customer's order. */
function refused(
  dice: Dice,
  { level, tables, customers }: Shop,
  persona: Persona,
  intent: Intent,
  customer: Customer,
  take: Take,
): Wish | null {
  // At level `glimpse` nobody says who they are, so the agent cannot know that an order is someone else's.
  if (persona === 'pushy' && level !== 'glimpse' && dice.chance(0.5)) {
    const other = dice.pick(customers.filter((candidate) => candidate.id !== customer.id));
    const order = other.orders.find((candidate) => candidate.status === NEEDED_STATUS[intent]);
    const request = order && requestFor(intent, dice, other, order, tables);
    return request ? { ...request, words: { ...request.words, owner: ["my friend's"] }, impossible: true } : null;
  }
  const order = take((candidate) => candidate.status !== NEEDED_STATUS[intent]);
  const request = order && requestFor(intent, dice, customer, order, tables);
  return request ? { ...request, impossible: true } : null;
}

/** A wish that no tool of the level can fulfil. */
function untooled(dice: Dice, { level, tables, untooled: intents }: Shop, customer: Customer, take: Take): Wish | null {
  const intent = dice.pick(intents);
  if (level !== 'nano') return { ...defaultAddress(dice, customer.split), impossible: true };
  const order = take((candidate) => candidate.status === NEEDED_STATUS[intent]);
  const request = order && requestFor(intent, dice, customer, order, tables);
  return request ? { ...request, impossible: true } : null;
}

/**
 * The customer's first request before a change of mind. It is another possible request for the same order, or a request for an
 * unused order.
 */
function changedFrom(dice: Dice, { tables, allows }: Shop, wish: Wish, customer: Customer, free: Order[]): Request | null {
  const order = customer.orders.find((candidate) => candidate.order_id === wish.slots.order_id);
  if (!order) return null;
  const kin: Record<Intent, Intent[]> = {
    cancel: ['modify_payment'],
    modify_payment: ['modify_payment', 'cancel'],
    return: ['return'],
    exchange: ['exchange', 'return'],
    modify_items: ['modify_items', 'cancel'],
    modify_address: ['modify_address', 'cancel'],
  };
  const candidates = kin[wish.intent].filter(allows).map((intent) => requestFor(intent, dice, customer, order, tables, wish));
  for (const other of free)
    if (other.status === order.status) candidates.push(requestFor(wish.intent, dice, customer, other, tables, wish));
  const possible = candidates.filter((candidate) => candidate !== null);
  return possible.length ? dice.pick(possible) : null;
}

/**
 * The wish with one wrong detail: the number of another order of the customer, or a number that no order has. The agent can
 * notice the first when it repeats the order to the customer, and the second when no tool finds the order.
 */
function mistaken(dice: Dice, { level, tables }: Shop, wish: Wish, customer: Customer): Request | null {
  const { order_id } = wish.slots;
  if (order_id === undefined) return null;
  const others = customer.orders.filter((order) => order.order_id !== order_id && order.status === NEEDED_STATUS[wish.intent]);
  const other = dice.chance(0.5) && others.length ? dice.pick(others).order_id : unusedOrderId(dice, level, tables);
  return { intent: wish.intent, slots: { ...wish.slots, order_id: other }, words: wish.words };
}

function unusedOrderId(dice: Dice, level: Level, tables: WorldTables): string {
  for (;;) {
    const id = `#W${level === 'glimpse' ? dice.int(1000, 9999) : dice.int(1_000_000, 9_999_999)}`;
    if (!tables.get('orders')!.has(id)) return id;
  }
}
