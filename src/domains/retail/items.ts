/** @file Checks for the tools that exchange, modify or return items of an order. */
import { type Arguments, key, Refusal, sequence } from '../exact/arguments.ts';
import { pythonStr } from '../exact/python.ts';
import type { Rows } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { Rules } from './rules.ts';
import type { Order, Product, Variant } from './schema.ts';

/** The first requested id that is requested more often than it is in the order. Null if there is none. @throws {Refusal} on an object */
export function absent(asked: Json, items: { item_id: string }[]): { id: Json } | null {
  const ids = sequence(asked, 'item_ids');
  // Python's `count` works on lists and strings. For an empty object, upstream never calls it.
  if (ids.length && typeof asked === 'object' && !Array.isArray(asked)) throw new Refusal('item_ids must be a list, not an object');
  for (const id of ids) {
    const count = (list: Json[]) => list.filter((entry) => entry === id).length;
    const wanted = id !== null && typeof id === 'object' ? 1 : count(ids);
    if (wanted > count(items.map((item) => item.item_id))) return { id };
  }
  return null;
}

interface Replacement {
  item_id: string;
  new_item_id: string;
  variant: Variant;
}

/** The checks that exchange and modify share. Returns the price difference, which is summed in order and not rounded. */
export function replacements(
  rows: Rows,
  { items }: Order,
  args: Arguments,
  rules: Rules,
  words: Rules['exchange'],
): { pairs: Replacement[]; difference: number } {
  const missing = absent(args.item_ids!, items);
  if (missing) throw new Refusal(words.absent(pythonStr(missing.id)));
  const old = sequence(args.item_ids!, 'item_ids');
  const fresh = sequence(args.new_item_ids!, 'new_item_ids');
  if (old.length !== fresh.length) throw new Refusal(words.counts);
  let difference = 0;
  const pairs = old.map((id, i): Replacement => {
    if (words.same !== null && id === fresh[i]) throw new Refusal(words.same);
    const item = items.find((entry) => entry.item_id === id)!;
    const newId = key(fresh[i]!, 'new_item_ids');
    const variant = variantOf(rows, item.product_id, newId);
    const unavailable = rules.say(`new item ${pythonStr(fresh[i]!)} not found or available`);
    if (!variant) throw new Refusal(rules.noVariant ?? unavailable);
    if (!variant.available) throw new Refusal(unavailable);
    difference += variant.price - item.price;
    return { item_id: item.item_id, new_item_id: newId, variant };
  });
  return { pairs, difference };
}

export function variantOf(rows: Rows, productId: string, itemId: string) {
  return (rows.get('products', productId) as unknown as Product).variants.find((variant) => variant.item_id === itemId);
}
