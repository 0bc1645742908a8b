/** @file How a text names an order, and which parts of a text are about an order. */
import type { Detail } from '../../../agent/audit-rules.ts';
import { isChoice, type Mention } from './patterns.ts';
import type { ShopRecords } from './records.ts';
import { namedItems } from './item-names.ts';

/** `#W1234567`, `W1234567`, `order 1234567`. */
const ORDER = /#?\bW\d{1,10}\b|#\d{4,10}\b|\border(?: (?:number|id|no\.?))?:? #?(\d{6,8})\b/gi;
const ENDING = /\border[^.\n]{0,20}\bending (?:in|with)? ?#?(\d{3,6})\b/gi;

const orderId = (said: string): string => `#W${/\d+/.exec(said)![0]}`;

const mentionsIn = (text: string): Mention<string>[] =>
  [...text.matchAll(ORDER)].map(({ 0: said, index }) => ({ value: orderId(said), from: index, to: index + said.length }));

/** An order by its id, its last digits, or by an item that only this order has. */
export function orderDetail(id: string, records: ShopRecords): Detail {
  const own = /\d/.test(id) ? orderId(id) : id;
  return {
    name: `the order ${id}`,
    heard(text) {
      const mentions = mentionsIn(text);
      const endings = [...text.matchAll(ENDING)].map(([, digits]) => digits!);
      if (mentions.some(({ value }) => value === own) || endings.some((digits) => own.endsWith(digits)))
        return isChoice(text, mentions) ? 'absent' : 'named';
      if (mentions.length > 0 || endings.length > 0) return 'other';
      return hasOnlyItemsOf(id, text, records) ? 'named' : 'absent';
    },
  };
}

/** Whether the text names items of this order, and no other order has an item of these names. */
function hasOnlyItemsOf(id: string, text: string, records: ShopRecords): boolean {
  const inOrder = (order: string) => namedItems(text, records.orders.get(order)?.items ?? [], records);
  const others = [...records.orders.keys()].filter((order) => order !== id);
  return inOrder(id).length > 0 && others.every((order) => inOrder(order).length === 0);
}

/** Ids in a row, such as `#W1 and #W2`, belong together. */
const LIST = /#?\bW\d{1,10}\b(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)(?:order\s+)?#?W\d{1,10}\b)*/gi;
const BLOCKS = /\n\s*\n|\n(?=\s*(?:\d+[.)]\s|#{1,4} ))/;
const CLAUSES = /(?<=[;,])\s+|\s+(?=(?:and|then|but|while)\s)/;

/** The text without the parts that are about other orders. */
export function aboutOrder(id: string, text: string): string {
  const own = /\d/.test(id) ? orderId(id) : id;
  const all = ids(text);
  if (all.size < 2 || !all.has(own)) return text;
  return splitWhile(text, [BLOCKS, /\n/, /(?<=[.?!])\s+/, CLAUSES], own).join('\n');
}

const ids = (text: string): Set<string> => new Set(mentionsIn(text).map(({ value }) => value));

/** Says that a part is about every order. */
const EACH = /\b(both|all|each|every|these)\b/i;
/** Says what happens to every order in one sentence. */
const ALL_ORDERS = /\b(both|all|each) (of )?(these |the |your |my )?(\w+ )?orders?\b/i;

/** Splits a text as finely as needed for pieces with one list of orders, and keeps the pieces that can concern `own`. */
function splitWhile(text: string, [separator, ...finer]: readonly RegExp[], own: string): string[] {
  if (!separator || (text.match(LIST) ?? []).length < 2 || (separator === CLAUSES && ALL_ORDERS.test(text))) return [text];
  const pieces = text.split(separator);
  const named = pieces.map(ids);
  return pieces.flatMap((piece, i) => {
    if (named[i]!.size > 0) return named[i]!.has(own) ? splitWhile(piece, finer, own) : [];
    // A piece without an id is about the order before or after it.
    const before = named.slice(0, i).findLast(({ size }) => size > 0);
    const after = named.slice(i).find(({ size }) => size > 0);
    return !before || before.has(own) || after?.has(own) || EACH.test(piece) ? [piece] : [];
  });
}
