/** @file JSON schemas of the tools for the model. They are short at `glimpse` and `nano`; at `full` they also contain the rules of use. */
import type { Json } from '../../records/json.ts';
import type { ToolSchema } from '../../records/task.ts';
import type { Level } from './schema.ts';
import { tau2Schema } from '../../environments/tool-schema.ts';
import { TAU1, TAU2 } from './rules.ts';
import { TOOLS } from './tools.ts';

/** There are no tools for look-ups, because the customer names everything that these tools need. */
const GLIMPSE = ['cancel_pending_order', 'modify_pending_order_payment'];
const NANO = [
  'find_user_id_by_email',
  'find_user_id_by_name_zip',
  'get_user_details',
  'get_order_details',
  'cancel_pending_order',
  'modify_pending_order_payment',
  'transfer_to_human_agents',
];

export const TOOLS_OF: Record<Level, readonly string[]> = {
  glimpse: GLIMPSE,
  nano: NANO,
  small: [
    ...NANO.slice(0, -1),
    'return_delivered_order_items',
    'exchange_delivered_order_items',
    'modify_pending_order_items',
    'modify_pending_order_address',
    'get_product_details',
    'transfer_to_human_agents',
  ],
  full: TAU1.tools,
};

/** For each tool, one short line, and for `full` also its rules. */
const DESCRIPTIONS: Record<string, [short: string, more?: string]> = {
  calculate: ['Evaluate an arithmetic expression.', 'Numbers, + - * / and parentheses are understood; the result is rounded to cents.'],
  cancel_pending_order: [
    'Cancel a pending order.',
    'Explain what will happen and get an explicit yes from the customer first. Every payment is refunded to where it came from: at once to a gift card, within 5 to 7 business days otherwise.',
  ],
  exchange_delivered_order_items: [
    'Exchange items of a delivered order.',
    'Each new item must be an available item of the same product. An order can be exchanged or returned only once, so collect all items and get an explicit yes first.',
  ],
  find_user_id_by_email: ['Find a customer by email.', 'Returns the user id.'],
  find_user_id_by_name_zip: [
    'Find a customer by name and zip.',
    'For customers who do not know their email or are not found by it. Returns the user id.',
  ],
  get_item_details: ['Show an item.', 'Its options, price and availability.'],
  get_order_details: ['Show an order.', 'Status, items, payments and shipping address.'],
  get_product_details: ['Show the items of a product.', 'Every variant with its options, price and availability.'],
  get_user_details: ['Show a customer.', 'Name, address, email, payment methods and orders.'],
  list_all_product_types: ['List all products.', 'Product names with their product ids.'],
  modify_pending_order_address: ['Change the shipping address of a pending order.', 'Get an explicit yes first.'],
  modify_pending_order_items: [
    'Change items of a pending order.',
    'Each new item must be an available item of the same product. It works once an order, which can then not be changed or cancelled any more: collect all items and get an explicit yes first.',
  ],
  modify_pending_order_payment: [
    'Change how a pending order is paid.',
    'The new method must be another one of the customer; a gift card must cover the whole amount. Get an explicit yes first.',
  ],
  modify_user_address: ["Change a customer's default address.", 'Orders already placed keep theirs. Get an explicit yes first.'],
  return_delivered_order_items: [
    'Return items of a delivered order.',
    'The refund goes to the original payment method or to a gift card of the customer. An order can be returned or exchanged only once, so collect all items and get an explicit yes first.',
  ],
  think: ['Note a thought.', 'It changes nothing and tells you nothing new; use it to reason before a hard step.'],
  transfer_to_human_agents: [
    'Hand over to a human.',
    'Only when the request cannot be handled with the other tools. It ends the conversation.',
  ],
};

const ARGUMENTS: Record<string, string> = {
  expression: "An arithmetic expression, such as '2 * (3 + 4)'.",
  order_id: "The order id, such as '#W1234567', with the '#'.",
  reason: "Why: 'no longer needed' or 'ordered by mistake'.",
  item_ids: "Ids of items of the order, each such as '1234567890'. An id may occur twice if the order holds the item twice.",
  new_item_ids: 'Ids of the items wanted instead, in the order of item_ids.',
  payment_method_id: "A payment method of the customer, such as 'gift_card_1234567'.",
  item_id: "The item id, such as '1234567890'; not a product id.",
  email: "The customer's email.",
  first_name: 'First name.',
  last_name: 'Last name.',
  zip: 'Zip code.',
  product_id: "The product id, such as '1234567890'; not an item id.",
  user_id: "The user id, such as 'ada_brown_1234'.",
  address1: 'First line of the address.',
  address2: 'Second line of the address; may be empty.',
  city: 'City.',
  state: "State, such as 'CA'.",
  country: "Country, such as 'USA'.",
  thought: 'The thought.',
  summary: 'What the customer wants and why it needs a human.',
};

const LISTS = new Set(['item_ids', 'new_item_ids']);
const REASONS = ['no longer needed', 'ordered by mistake'];

export function toolSchemas(level: Level): ToolSchema[] {
  return TOOLS_OF[level].map((name) => {
    const required = [...TOOLS.get(name)!.parameters];
    const [short, more] = DESCRIPTIONS[name]!;
    return {
      type: 'function',
      function: {
        name,
        description: level === 'full' && more ? `${short} ${more}` : short,
        parameters: {
          type: 'object',
          properties: Object.fromEntries(required.map((argument) => [argument, property(argument, level)])),
          required,
        },
      },
    };
  });
}

/** tau2's schemas. They have another list of tools, and the reason may be any text. */
export function tau2ToolSchemas(): ToolSchema[] {
  return TAU2.tools.map((name) =>
    tau2Schema({
      name,
      description: DESCRIPTIONS[name]!.join(' '),
      parameters: TOOLS.get(name)!.parameters.map((argument) => ({
        name: argument,
        type: LISTS.has(argument) ? 'strings' : 'string',
        description: ARGUMENTS[argument]!,
      })),
    }),
  );
}

function property(name: string, level: Level): Json {
  return {
    type: LISTS.has(name) ? 'array' : 'string',
    ...(LISTS.has(name) && { items: { type: 'string' } }),
    ...(name === 'reason' && { enum: REASONS }),
    ...(level === 'full' && { description: ARGUMENTS[name]! }),
  };
}
