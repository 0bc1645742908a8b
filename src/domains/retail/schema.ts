/** @file The rows of the retail database, in tau-bench's format and key order, and the wishes of its customers. */
import type { UserScenario, Wish } from '../../records/task.ts';

export interface Address {
  address1: string;
  address2: string;
  city: string;
  country: string;
  state: string;
  zip: string;
}

export interface OrderItem {
  name: string;
  product_id: string;
  item_id: string;
  price: number;
  options: Record<string, string>;
}

export interface Payment {
  transaction_type: 'payment' | 'refund';
  amount: number;
  payment_method_id: string;
}

export interface Order {
  order_id: string;
  user_id: string;
  address: Address;
  items: OrderItem[];
  fulfillments: { tracking_id: string[]; item_ids: string[] }[];
  status: 'pending' | 'processed' | 'delivered' | 'cancelled' | 'pending (item modified)' | 'exchange requested' | 'return requested';
  payment_history: Payment[];
  cancel_reason?: string;
  exchange_items?: string[];
  exchange_new_items?: string[];
  exchange_payment_method_id?: string;
  exchange_price_difference?: number;
  return_items?: string[];
  return_payment_method_id?: string;
}

export type PaymentMethod =
  | { source: 'paypal'; id: string }
  | { source: 'credit_card'; brand: string; last_four: string; id: string }
  | { source: 'gift_card'; balance: number; id: string };

export interface User {
  name: { first_name: string; last_name: string };
  address: Address;
  email: string;
  payment_methods: Record<string, PaymentMethod>;
  orders: string[];
}

export interface Variant {
  item_id: string;
  options: Record<string, string>;
  available: boolean;
  price: number;
}

/**
 * In upstream, `variants` is an object whose keys are item ids. These look like integers, and JavaScript would reorder such
 * keys. So a row has a list in upstream's order, and an observation prints it as an object.
 */
export interface Product {
  name: string;
  product_id: string;
  variants: Variant[];
}

export type Level = 'glimpse' | 'nano' | 'small' | 'full';
/** The first level is used if none is named. `glimpse` is the smallest. */
export const LEVELS: readonly Level[] = ['nano', 'small', 'full', 'glimpse'];

/** What a customer of the shop can want. */
export const INTENTS = ['cancel', 'return', 'exchange', 'modify_items', 'modify_address', 'modify_payment'] as const;
export type Intent = (typeof INTENTS)[number];

/** A wish, but without the information whether it can be fulfilled. A `modify_address` without order_id means the default address. */
export interface ShopRequest extends Pick<Wish, 'slots' | 'words'> {
  intent: Intent;
}

/**
 * A wish of a customer of the shop. `words` has the customer's words for the slots. `items` and `new_items` are in the order
 * of the ids (`['water bottle']`, `['color red']`; all options that are not named stay the same). `payment` is for example
 * `['gift card']` or `['original payment method']`. `address` is the new address. `order` is used if there is no order_id.
 * `owner` (`["my friend's"]`) is used if the order belongs to someone else.
 */
export interface ShopWish extends ShopRequest {
  impossible: boolean;
  insteadOf?: ShopRequest;
}

/** A scenario whose wishes are wishes of the shop. */
export interface ShopScenario extends UserScenario {
  wishes: ShopWish[];
}

/** The facts of a scenario whose scripted customer uses only sentences that customers of other splits never say. */
export const UNSEEN_WORDS = { wording: 'unseen' } as const;

export const withUnseenWords = (scenario: UserScenario): UserScenario => ({ ...scenario, facts: { ...scenario.facts, ...UNSEEN_WORDS } });
