/** @file Rows of the retail database, in tau-bench's format and key order. */

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
 * In upstream, `variants` is an object with item ids as keys. The ids look like integers, and JavaScript would reorder such
 * keys. Rows have a list in upstream's order; observations print it as an object.
 */
export interface Product {
  name: string;
  product_id: string;
  variants: Variant[];
}

export type Level = 'glimpse' | 'nano' | 'small' | 'full';
/** The first is shown where no level is named. `glimpse` is the smallest. */
export const LEVELS: readonly Level[] = ['nano', 'small', 'full', 'glimpse'];
