/** @file The differences between the shop of tau1 and that of tau2. */
import type { Arguments } from '../exact/arguments.ts';
import { record, text } from '../exact/model.ts';
import type { Address } from './schema.ts';

interface ReplacementWords {
  absent(id: string): string;
  counts: string;
  /** The error if an item is replaced by itself. Null if this is allowed. */
  same: string | null;
}

export interface Rules {
  /** The names of the tools in upstream's order. */
  tools: readonly string[];
  /** Converts a text of tau1 to the wording of this benchmark. */
  say(text: string): string;
  exchange: ReplacementWords;
  modify: ReplacementWords;
  /** The error for an unknown item of a product. Null if it is the same error as for an unavailable item. */
  noVariant: string | null;
  wrongRefund: string;
  /** Whether address and payment of an order with this status may be changed. */
  open(status: string): boolean;
  lastVariantForAll: boolean;
  address(args: Arguments): Address;
}

const READS = ['get_order_details', 'get_product_details', 'get_user_details', 'list_all_product_types'];
const WRITES = [
  'modify_pending_order_address',
  'modify_pending_order_items',
  'modify_pending_order_payment',
  'modify_user_address',
  'return_delivered_order_items',
];
const tau1Replacement = {
  absent: (id: string) => `${id} not found`,
  counts: 'the number of items to be exchanged should match',
  same: null,
};

export const TAU1: Rules = {
  tools: [
    'calculate',
    'cancel_pending_order',
    'exchange_delivered_order_items',
    'find_user_id_by_email',
    'find_user_id_by_name_zip',
    ...READS,
    ...WRITES,
    'think',
    'transfer_to_human_agents',
  ],
  say: (text) => text,
  exchange: tau1Replacement,
  modify: tau1Replacement,
  noVariant: null,
  wrongRefund: 'payment method should be either the original payment method or a gift card',
  // Quirk: after the items of an order were modified, its address and payment cannot be changed any more.
  open: (status) => status === 'pending',
  lastVariantForAll: false,
  // Quirk: the tool stores the values of the call without a check, in the order of the parameters.
  address: ({ address1, address2, city, state, country, zip }) => ({ address1, address2, city, state, country, zip }) as unknown as Address,
};

const addressModel = record({ address1: text, address2: text, city: text, country: text, state: text, zip: text });

export const TAU2: Rules = {
  tools: [
    'calculate',
    'cancel_pending_order',
    'exchange_delivered_order_items',
    'find_user_id_by_name_zip',
    'find_user_id_by_email',
    'get_order_details',
    'get_product_details',
    'get_item_details',
    'get_user_details',
    'list_all_product_types',
    ...WRITES,
    'transfer_to_human_agents',
  ],
  say: (text) => text.charAt(0).toUpperCase() + text.slice(1),
  exchange: { absent: (id) => `Number of ${id} not found.`, counts: 'The number of items to be exchanged should match.', same: null },
  // Quirk: `modify` refuses to replace an item by itself, but an exchange allows it.
  modify: {
    absent: (id) => `${id} not found`,
    counts: 'The number of items to be exchanged should match',
    same: 'The new item id should be different from the old item id',
  },
  noVariant: 'Variant not found',
  wrongRefund: 'Payment method should be the original payment method',
  open: (status) => status.includes('pending'),
  // Quirk: every modified item gets the price and options of the last new item.
  lastVariantForAll: true,
  address: (args) => addressModel(args, '') as unknown as Address,
};
