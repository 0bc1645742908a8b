/**
 * @file Generates retail tasks. A task has a customer of a generated world, with wishes and a persona, and the gold actions.
 * It depends only on level, split, seed, conditions and index. Each world has 64 tasks.
 */
import { Dice } from '../../base/dice.ts';
import type { WorldTables } from '../../environments/overlay.ts';
import type { Conditions, Persona } from '../../records/conditions.ts';
import type { Task, ToolCall } from '../../records/task.ts';
import { conditionsCode, isReliable, readConditionsCode, RELIABLE } from '../../environments/conditions.ts';
import type { DomainLevel } from '../types.ts';
import { RETAIL_LEVELS } from './levels.ts';
import type { TaskQuery } from '../../environments/types.ts';
import {
  type Intent,
  LEVELS,
  type Level,
  type Order,
  type ShopRequest as Request,
  type ShopScenario,
  type ShopWish as Wish,
  type User,
} from './schema.ts';
import { goldCall, INTENT_WEIGHTS, NEEDED_STATUS, requestFor, requestText, type Customer } from './wishes.ts';
import { TOOLS_OF } from './tool-schemas.ts';
import { makeAddress, makeWorld, TASKS_PER_WORLD, worldId } from './world.ts';

/** The weights with which the number of wishes is drawn. Pushy customers always have two. */
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

export function makeTasks({ level, split, seed, count, from = 0, conditions }: TaskQuery): Task[] {
  if (!LEVELS.includes(level as Level)) throw new Error(`level: '${level}' is unknown; expected one of ${LEVELS.join(', ')}`);
  const { customers: usual, uncoded = usual }: DomainLevel = RETAIL_LEVELS.find(({ name }) => name === level)!;
  const withoutCode: Conditions = { customers: uncoded!, tools: RELIABLE };
  const code = conditionsCode(conditions, withoutCode);
  // Read the shares back from the code in the id, so that equal ids always mean equal tasks.
  const { customers, tools } = readConditionsCode(code) ?? withoutCode;
  const tasks: Task[] = [];
  let tables: WorldTables | undefined;
  for (let index = from; index < from + count; index++) {
    const key = { level: level as Level, split, seed, number: Math.floor(index / TASKS_PER_WORLD) };
    if (!tables || index % TASKS_PER_WORLD === 0) tables = makeWorld(key);
    const dice = new Dice('task', level, split, seed, index);
    tasks.push({
      id: `retail/${level}/${split}/${seed}${code && `~${code}`}/${index}`,
      domain: 'retail',
      level,
      split,
      world: worldId(key),
      ...makeTask(dice, key.level, tables, customers),
      ...(!isReliable(tools) && { faults: tools }),
    });
  }
  return tasks;
}

type Draft = Pick<Task, 'scenario' | 'actions' | 'noop'>;

function makeTask(dice: Dice, level: Level, tables: WorldTables, shares: Conditions['customers']): Draft {
  const customers = customersOf(tables);
  // Draw the persona first, then a plan, and then look for a customer for whom the plan is possible. So the shares of the
  // personas are exact.
  const persona = dice.weighted<Persona>(shares);
  for (let plan = 0; plan < 100; plan++) {
    const count = persona === 'pushy' ? 2 : Number(dice.weighted(WISHES[level]));
    const intents = Array.from({ length: count }, () => dice.weighted(INTENT_WEIGHTS[level]));
    const impossible = persona !== 'impossible' ? null : TRANSFERS[level].length && dice.chance(0.5) ? 'transfer' : 'refuse';
    for (const customer of dice.sample(customers, customers.length)) {
      const wishes = makeWishes(dice, level, persona, intents, impossible, customer, customers, tables);
      if (wishes) return draft(dice, level, persona, customer, wishes);
    }
  }
  throw new Error(`no task fits this world, which has ${customers.length} customers`);
}

function customersOf(tables: WorldTables): Customer[] {
  return [...tables.get('users')!].map(([id, row]) => {
    const user = row as unknown as User;
    return { id, user, orders: user.orders.map((order) => tables.get('orders')!.get(order) as unknown as Order) };
  });
}

/** Makes wishes with these intents, each for another order of the customer. Null if the customer's orders do not fit. */
function makeWishes(
  dice: Dice,
  level: Level,
  persona: Persona,
  intents: Intent[],
  impossible: 'refuse' | 'transfer' | null,
  customer: Customer,
  customers: Customer[],
  tables: WorldTables,
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
          ? refused(dice, level, persona, intent, customer, customers, tables, take)
          : untooled(dice, level, customer, tables, take);
    else wish = granted(dice, level, intent, customer, tables, take);
    // A second wish to change the default address would overwrite the first.
    if (wish && !wish.slots.order_id && wishes.some((earlier) => !earlier.slots.order_id)) return null;
    if (!wish) return null;
    if (i === 0 && (persona === 'changes_mind' || persona === 'confused')) {
      const insteadOf =
        persona === 'confused' ? mistaken(dice, level, wish, customer, tables) : changedFrom(dice, wish, customer, tables, free);
      if (!insteadOf) return null;
      wish.insteadOf = insteadOf;
      take((order) => order.order_id === insteadOf.slots.order_id); // later wishes need other orders
    }
    wishes.push(wish);
  }
  return wishes;
}

type Take = (fits: (order: Order) => boolean) => Order | undefined;

function granted(dice: Dice, level: Level, intent: Intent, customer: Customer, tables: WorldTables, take: Take): Wish | null {
  if (intent === 'modify_address' && level === 'full' && dice.chance(0.3)) return { ...defaultAddress(dice), impossible: false };
  const order = take((candidate) => candidate.status === NEEDED_STATUS[intent]);
  const request = order && requestFor(intent, dice, customer, order, tables);
  return request ? { ...request, impossible: false } : null;
}

/** A request for a new default address of the account. It has no `order_id`. */
function defaultAddress(dice: Dice): Request {
  const { address1, address2, city, state, country, zip } = makeAddress(dice);
  return {
    intent: 'modify_address',
    slots: { address1, address2, city, state, country, zip },
    words: { order: ['my default address'], address: [[address1, address2, city, `${state} ${zip}`].filter(Boolean).join(', ')] },
  };
}

/** A wish that the policy forbids: for an order with the wrong status or, if the customer is pushy, for another customer's order. */
function refused(
  dice: Dice,
  level: Level,
  persona: Persona,
  intent: Intent,
  customer: Customer,
  customers: Customer[],
  tables: WorldTables,
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
function untooled(dice: Dice, level: Level, customer: Customer, tables: WorldTables, take: Take): Wish | null {
  const intent = dice.pick(TRANSFERS[level]);
  if (level !== 'nano') return { ...defaultAddress(dice), impossible: true };
  const order = take((candidate) => candidate.status === NEEDED_STATUS[intent]);
  const request = order && requestFor(intent, dice, customer, order, tables);
  return request ? { ...request, impossible: true } : null;
}

/**
 * The customer's first request before a change of mind. It is another possible request for the same order, or a request for an
 * unused order.
 */
function changedFrom(dice: Dice, wish: Wish, customer: Customer, tables: WorldTables, free: Order[]): Request | null {
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
  const candidates = kin[wish.intent].map((intent) => requestFor(intent, dice, customer, order, tables, wish));
  for (const other of free)
    if (other.status === order.status) candidates.push(requestFor(wish.intent, dice, customer, other, tables, wish));
  const possible = candidates.filter((candidate) => candidate !== null);
  return possible.length ? dice.pick(possible) : null;
}

/**
 * The wish with one wrong detail: the number of another order of the customer, or a number that no order has. The agent can
 * notice the first when it repeats the order to the customer, and the second when no tool finds the order.
 */
function mistaken(dice: Dice, level: Level, wish: Wish, customer: Customer, tables: WorldTables): Request | null {
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

function draft(dice: Dice, level: Level, persona: Persona, { id, user }: Customer, wishes: Wish[]): Draft {
  const { first_name, last_name } = user.name;
  const { zip } = user.address;
  const byEmail = dice.chance(0.75);
  // At level `glimpse` no tool finds customers. So they have only a name, and they tell all facts at once.
  const identified = TOOLS_OF[level].includes('get_user_details');
  const identity = { ...(identified && byEmail && { email: user.email }), first_name, last_name, ...(identified && { zip }) };
  const told: Omit<ShopScenario, 'instruction'> = {
    persona,
    identity,
    wishes,
    ...(!identified && persona !== 'on_request' && { tellsAll: true }),
  };
  const find: ToolCall = byEmail
    ? { name: 'find_user_id_by_email', arguments: { email: user.email } }
    : { name: 'find_user_id_by_name_zip', arguments: { first_name, last_name, zip } };
  const actions: ToolCall[] = [find, { name: 'get_user_details', arguments: { user_id: id } }];
  for (const wish of wishes) {
    const own = user.orders.includes(String(wish.slots.order_id));
    if (own) actions.push({ name: 'get_order_details', arguments: { order_id: wish.slots.order_id! } });
    if (!wish.impossible) actions.push(goldCall(wish, id));
    else if (needsTransfer(level, wish))
      actions.push({
        name: 'transfer_to_human_agents',
        arguments: { summary: `The customer wants to ${requestText(wish).replace(/\byour?\b/g, 'their')}.` },
      });
  }
  return {
    scenario: { ...told, instruction: instruction(told) },
    actions: actions.filter(({ name }) => TOOLS_OF[level].includes(name)),
    noop: wishes.every((wish) => wish.impossible),
  };
}

/** Whether no tool of the level can fulfil the wish. */
function needsTransfer(level: Level, wish: Request): boolean {
  return (
    INTENT_WEIGHTS[level][wish.intent] === undefined ||
    (level === 'small' && wish.intent === 'modify_address' && wish.slots.order_id === undefined)
  );
}

/** The scenario as instructions for a language model that plays the customer. */
function instruction({ persona, identity, wishes, tellsAll }: Omit<ShopScenario, 'instruction'>): string {
  const { email, first_name, last_name, zip } = identity;
  const lines = zip
    ? [
        `You are ${first_name} ${last_name} and live in zip code ${zip}.`,
        email ? `Your email is ${email}.` : 'You do not remember your email.',
      ]
    : [`You are ${first_name} ${last_name}.`];
  for (const [i, wish] of wishes.entries()) {
    const text = requestText(wish);
    const also = i === 0 ? 'You want to' : 'When that is settled, you also want to';
    if (wish.words.owner)
      lines.push(
        `${also} ${text}. It is ${wish.words.owner[0]!.replace('my', 'your')} order, not yours; say so. If the agent refuses, insist once, then accept it and go on.`,
      );
    else if (wish.impossible && persona === 'pushy')
      lines.push(`${also} ${text}. If the agent refuses, insist once, then accept it and go on.`);
    else if (wish.insteadOf && persona === 'confused')
      lines.push(
        `You mix up your order numbers: at first you ask to ${requestText(wish.insteadOf)}. When the agent repeats this number or finds no such order, you correct yourself: you want to ${text}.`,
      );
    else if (wish.insteadOf)
      lines.push(
        `At first you ask to ${requestText(wish.insteadOf)}. When the agent asks you to confirm, you change your mind: you want to ${text}.`,
      );
    else lines.push(`${also} ${text}.${wish.impossible ? ' If that cannot be done, you accept it.' : ''}`);
  }
  if (wishes.some(({ words, insteadOf }) => words.new_items ?? insteadOf?.words.new_items))
    lines.push('All other options of these items stay the same.');
  if (tellsAll) lines.push('You say everything you want in your first message.');
  else if (persona === 'upfront') lines.push('You say who you are and everything you want in your first message.');
  if (persona === 'on_request') lines.push('You are brief and give a piece of information only when the agent asks for it.');
  return lines.join(' ');
}
