/** @file What the methods of `Travel` share: rows, balances, prices and free baggage. */
import { add, dictFor, itemOf, iterate, less, setItem, subtract } from '../../../python/operations.ts';
import { Dict, dict, equal, type Value } from '../../../python/values.ts';
import type { ApiContext } from './api.ts';

/** Whether these fields of a row have these values. */
export const hasFields = (row: Value, fields: Record<string, Value>): boolean =>
  Object.entries(fields).every(([name, value]) => equal(itemOf(row, name), value));

/** The first of the rows whose fields have these values. Null if there is none. */
export const findRow = (rows: Value, fields: Record<string, Value>): Value => iterate(rows).find((row) => hasFields(row, fields)) ?? null;

/** Python's `max(a, b)`. */
export const maximum = (a: Value, b: Value): Value => (less(a, b) ? b : a);

/** The free bags by level of membership and cabin. */
export function baggageAllowance({ text }: ApiContext): Dict {
  const bags = (economy: bigint, business: bigint) =>
    dict({ [text('Economy Class', '经济舱')]: economy, [text('Business Class', '商务舱')]: business });
  return dict({ regular: bags(1n, 2n), silver: bags(2n, 3n), gold: bags(3n, 3n) });
}

/** The free bags, or 0 if the level or the cabin is unknown. */
export function freeBags(context: ApiContext, level: Value, cabin: Value): Value {
  const byCabin = baggageAllowance(context).get(level) ?? new Dict();
  return dictFor('get', byCabin).get(cabin) ?? 0n;
}

/** Changes a balance of the user, and says whether there was enough. Another method of payment changes nothing. */
export function balanceChanged(user: Value, method: Value, amount: Value): boolean {
  const name = ['cash', 'bank'].find((one) => equal(method, one));
  if (name === undefined) return true;
  const balance = add(itemOf(user, `${name}_balance`), amount);
  if (less(balance, 0n)) return false;
  setItem(user, `${name}_balance`, balance);
  return true;
}

export function priceDifference({ text }: ApiContext, flight: Value, from: Value, to: Value): Value {
  const prices = dict({
    [text('Economy Class', '经济舱')]: itemOf(flight, 'economy_price'),
    [text('Business Class', '商务舱')]: itemOf(flight, 'business_price'),
  });
  const before = prices.get(from) ?? 0n;
  return subtract(prices.get(to) ?? 0n, before);
}
