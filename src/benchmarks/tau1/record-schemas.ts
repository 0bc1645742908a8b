/** @file Schemas of tau-bench's records. tau-bench itself checks no records. These schemas check the fields that its tools use. */
import { z } from 'zod';
import { orderedEntries } from '../../domains/exact/ordered-json.ts';
import type { Json } from '../../records/json.ts';

const text = z.string();
const number = z.number();
const list = z.array(z.unknown());
const named = z.looseObject({ first_name: text, last_name: text });
const methods = z.record(text, z.looseObject({ source: text, id: text }));

const retailUser = z.looseObject({
  name: named,
  email: text,
  address: z.looseObject({ zip: text }),
  payment_methods: methods,
  orders: z.array(text),
});
const airlineUser = z.looseObject({ name: named, payment_methods: methods, reservations: z.array(text) });
const order = z.looseObject({
  order_id: text,
  user_id: text,
  status: text,
  items: z.array(z.looseObject({ product_id: text, item_id: text, price: number })),
  payment_history: z.array(z.looseObject({ transaction_type: text, amount: number, payment_method_id: text })),
});
/** The domain's reader checks the variants. Their ids look like integers, so `variants` can be a list of pairs here. */
const product = z.looseObject({
  name: text,
  product_id: text,
  variants: z.custom<Json>((value) => isEntries(value as Json), 'expected an object'),
});
const flight = z.looseObject({
  flight_number: text,
  origin: text,
  destination: text,
  dates: z.record(text, z.looseObject({ status: text })),
});
const reservation = z.looseObject({
  reservation_id: text,
  user_id: text,
  cabin: text,
  flights: z.array(z.looseObject({ flight_number: text, date: text })),
  passengers: list,
  payment_history: z.array(z.looseObject({ payment_id: text, amount: number })),
});

function isEntries(value: Json): boolean {
  try {
    return orderedEntries(value, '').every(([, child]) => child !== null && typeof child === 'object');
  } catch {
    return false;
  }
}

export const TAU1_RECORDS: Record<'airline' | 'retail', Record<string, z.ZodType>> = {
  airline: { flights: flight, reservations: reservation, users: airlineUser },
  retail: { orders: order, products: product, users: retailUser },
};
