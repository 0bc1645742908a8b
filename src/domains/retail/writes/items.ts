/** @file How a text names the items of a return, an exchange or a change, and the new items. */
import type { Detail, Heard } from '../../../agent/audit-rules.ts';
import { sentences } from '../../../agent/sentences.ts';
import type { Json } from '../../../records/json.ts';
import { claimsValue, ITEM_ID, namedItems, saysValue, tellsApart, usualValues } from './item-names.ts';
import { wordPattern } from './patterns.ts';
import type { KnownItem, ShopRecords } from './records.ts';

const ALL =
  /(?<!\b(?:these|those|this|they|that|are|is|'s) )\b(?:all|both|every|each)\b(?: one)?(?: of)?(?: (?:the|these|those|them|your|my|two|three|four|five)){0,3} (?:items?|products?|things?)\b(?! (?:to be|you|that|have|has|are|for))|\b(?:all|both) (?:of )?(?:it|them)\b|\b(?:entire|whole) order\b|\beverything (?:in|from|on|of)\b/i;
/** Sentences that name items which stay as they are. */
const STAYS =
  /\b(remain|remains|remaining|keep|keeps|kept|stay|stays|unaffected|unchanged|(not|\w+n't) (be )?(included|returned|exchanged|changed|affected|touch(ed)?|mov(ed)?)|untouched|other items?|also (contains|includes|has)|except|besides|excluding|leaving|rest of|contains|includes|consists)\b/i;

export const idsOf = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);

/**
 * The items of the order that a call names.
 * @param newItems what the items are exchanged for: their options are no options of other items
 */
export function itemsDetail(orderId: string, items: readonly string[], newItems: readonly string[], records: ShopRecords): Detail {
  const inOrder = records.orders.get(orderId)?.items ?? [];
  const wanted = new Set(items);
  const rest = inOrder.filter((id) => !wanted.has(id));
  const isAll = inOrder.length === 0 || rest.length === 0;
  const said = (id: string, text: string, named: readonly string[]): boolean => {
    if (text.includes(id)) return true;
    const item = records.items.get(id);
    // Nobody can name an item that no result showed, so a text without ids is believed.
    if (!item?.name) return (text.match(ITEM_ID) ?? []).length === 0;
    if (!named.includes(id)) return false;
    const counted = /\b(both|two|all|2|three|3)\b/i.test(text);
    return [...wanted, ...rest].every((other) => {
      const same = records.items.get(other);
      return other === id || same?.name !== item.name || (counted && wanted.has(other)) || tellsApart(text, item, same);
    });
  };
  return {
    name: items.length === 1 ? 'the item' : 'the items',
    heard(text) {
      // What the order contains and what stays is not what the write is about, if another sentence names items.
      const offered = offersOf(text);
      const named = namedItems(namedItems(offered, inOrder, records).length > 0 ? offered : text, [...wanted], records);
      const found = [...wanted].filter((id) => said(id, text, named));
      const others = (text.match(ITEM_ID) ?? []).filter((id) => inOrder.includes(id) && !wanted.has(id) && !newItems.includes(id));
      if (others.length > 0 || addsItems(text, items, rest, newItems, records)) return 'other';
      if (found.length === wanted.size) return 'named';
      if (ALL.test(text)) return isAll ? 'named' : 'other';
      return found.length > 0 || named.length > 0 ? 'other' : 'absent';
    },
    // The sentence with the yes may leave out an item: `Okay for the lamp.` Later sentences may name one: `The lamp was a gift.`
    changed(answer) {
      const partly = (text: string) => {
        const named = namedItems(text, [...wanted], records).length;
        return named > 0 && named < wanted.size;
      };
      return (
        addsItems(answer, items, rest, newItems, records) ||
        partly(sentences(answer)[0] ?? '') ||
        (/\b(only|just)\b/i.test(answer) && partly(answer))
      );
    },
  };
}

/** The sentences that do not say what the order contains or what stays. */
const offersOf = (text: string): string =>
  sentences(text)
    .filter((sentence) => !STAYS.test(sentence))
    .join('\n');

/** Whether a text names an item of the order that the call leaves out. */
function addsItems(
  text: string,
  items: readonly string[],
  rest: readonly string[],
  newItems: readonly string[],
  records: ShopRecords,
): boolean {
  const called = items.flatMap((id) => records.items.get(id) ?? []);
  const known = [...called, ...newItems.flatMap((id) => records.items.get(id) ?? [])];
  const offered = offersOf(text);
  const only = sentences(offered).filter((sentence) => /\bonly\b/i.test(sentence) && namedItems(sentence, items, records).length > 0);
  const proposal = only.length > 0 ? only.join('\n') : offered;
  // A name is looked up among all items, so that a short name of a wanted item is none of another item.
  return namedItems(proposal, [...items, ...rest], records).some((id) => {
    if (!rest.includes(id)) return false;
    const item = records.items.get(id)!;
    const same = called.filter(({ name }) => name === item.name);
    return same.length === 0 || same.every((own) => claimsOther(proposal, item, own, known));
  });
}

/** Whether a text claims an option of an item that no item of the call has. */
const claimsOther = (text: string, item: KnownItem, own: KnownItem, known: readonly KnownItem[]): boolean =>
  Object.entries(item.options).some(
    ([option, value]) =>
      own.options[option] !== value &&
      !known.some(({ options }) => Object.values(options).includes(value)) &&
      claimsValue(text, option, value),
  );

/** The new items, in the order of the old ones. */
export function newItemsDetail(oldIds: readonly string[], newIds: readonly string[], records: ShopRecords): Detail {
  const pairs = newIds.map((id, i) => ({ id, item: records.items.get(id), old: records.items.get(oldIds[i] ?? '') }));
  const involved = pairs.flatMap(({ item, old }) => [item, old].filter((one) => one !== undefined));
  const heardPair = (text: string, { id, item, old }: (typeof pairs)[number]): Heard => {
    if (text.includes(id)) return 'named';
    const ids = (text.match(ITEM_ID) ?? []).filter((said) => !oldIds.includes(said) && !newIds.includes(said));
    if (ids.some((said) => records.items.get(said)?.product === item?.product)) return 'other';
    if (!item || Object.keys(item.options).length === 0) return ids.length > 0 ? 'absent' : 'named';
    const options = Object.entries(item.options);
    if (options.some(([option, value]) => claimsAnother(text, option, value, item, old, involved, records))) return 'other';
    const twice = pairs.filter((pair) => pair.item?.name === item.name).length > 1;
    const fresh = twice ? '' : newPart(text, old?.name ?? item.name, involved);
    if (fresh && options.some(([option, value]) => !saysValue(fresh, option, value) && valuesOf(item, option, value, records).some((other) => other !== value && claimsValue(fresh, option, other)))) return 'other'; // prettier-ignore
    const changes = old && Object.keys(old.options).length > 0 ? options.filter(([option, value]) => old.options[option] !== value) : [];
    const needed = changes.length > 0 ? changes : options;
    const heard = needed.filter(([option, value]) => saysValue(text, option, value)).length;
    // Without the old item, people may name a part of the options.
    if (heard === needed.length || (changes.length === 0 && heard > 0)) return 'named';
    return heard > 0 && !twice && isOnlyOne(text, item, old, records) ? 'named' : 'absent';
  };
  return {
    name: newIds.length === 1 ? 'the new item' : 'the new items',
    heard(text) {
      const all = pairs.map((pair) => heardPair(text, pair));
      return all.includes('other') ? 'other' : all.every((heard) => heard === 'named') ? 'named' : 'absent';
    },
  };
}

/** The values that an option of the item's product can have. */
const valuesOf = (item: KnownItem, option: string, value: string, records: ShopRecords): string[] => [
  ...new Set([...records.variants(item.product).flatMap(({ options }) => options[option] ?? []), ...usualValues(option, value)]),
];

/** Whether the options that a text names tell the new item apart from every other variant of its product. */
function isOnlyOne(text: string, item: KnownItem, old: KnownItem | undefined, records: ShopRecords): boolean {
  if (!records.shown.has(item.product)) return false;
  return records.variants(item.product).every((other) => other === item || other === old || tellsApart(text, item, other));
}

const TO = /→|->|=>|\bnew\b[^:\n]{0,20}:|\b(?:for|to|with|by|into) (?:the|a|an|one|your|its|another)\b/i;

/** The part of a text after `for the …`, `→` or `New:` that is about the item instead of an old one; '' if there is none. */
function newPart(text: string, name: string, involved: readonly KnownItem[]): string {
  const said = text.toLowerCase();
  const from = name === '' ? -1 : said.search(wordPattern(name));
  if (from < 0) return '';
  const rest = text.slice(from + name.length);
  const others = [...new Set(involved.map((item) => item.name))].filter((other) => other !== name && other !== '');
  const ends = others.flatMap((other) => [rest.toLowerCase().search(wordPattern(other))]).filter((at) => at >= 0);
  const own = rest.slice(0, Math.min(rest.length, ...ends));
  const to = TO.exec(own);
  return to ? own.slice(to.index) : '';
}

/** Whether a text claims a value of an option that neither the new nor the old item has, and no other item of the call. */
function claimsAnother(
  text: string,
  option: string,
  value: string,
  item: KnownItem,
  old: KnownItem | undefined,
  involved: readonly KnownItem[],
  records: ShopRecords,
): boolean {
  if (old?.options[option] === undefined && saysValue(text, option, value)) return false;
  const plain = (said: string) => said.toLowerCase().replace('gray', 'grey');
  const explained = new Set(involved.flatMap(({ options }) => Object.values(options).map(plain)));
  return valuesOf(item, option, value, records).some(
    (other) =>
      !explained.has(plain(other)) &&
      other !== value &&
      !/^(yes|no)$/i.test(other) &&
      claimsValue(text, option, other) &&
      !isPartOf(other, explained),
  );
}

/** `gold` is also said by `rose gold`. */
const isPartOf = (value: string, all: ReadonlySet<string>) => [...all].some((other) => other.includes(value.toLowerCase()));
