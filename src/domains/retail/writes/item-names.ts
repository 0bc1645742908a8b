/** @file How a text names items: by id, by the name of the product, by options that tell two items apart. */
import { escapeRegExp } from '../../../base/escape-reg-exp.ts';
import { wordPattern } from './patterns.ts';
import type { KnownItem, ShopRecords } from './records.ts';

export const ITEM_ID = /\b\d{10}\b/g;

/** A word that many products share. It names one only as `the … set`. */
const SHARED = /^(set|kit|cleaner)$/;

/** The words of a product's name by which people call it: `Desk Lamp` is a lamp, and a `Luggage Set` is luggage or the set. */
function shortNames(name: string): string[] {
  const words = name.toLowerCase().split(/[ -]/);
  const last = words.at(-1)!;
  return SHARED.test(last) ? [words[0]!, last] : [last];
}

const nameSaid = (name: string, said: string): boolean =>
  (SHARED.test(name) ? new RegExp(`\\b(?:the|your|my) (?:[\\w-]+ ){0,2}${name}\\b`) : wordPattern(name)).test(said);

/** The items of a list that a text names by their products. A short name counts if only one product of the list has it. */
export function namedItems(text: string, items: readonly string[], records: ShopRecords): string[] {
  const said = text.toLowerCase();
  const names = [...new Set(items.map((id) => records.items.get(id)?.name ?? ''))].filter((name) => name !== '');
  const short = names.flatMap(shortNames);
  const named = names.filter((name) => nameSaid(name, said) || shortNames(name).some((word) => short.filter((other) => other === word).length === 1 && nameSaid(word, said))); // prettier-ignore
  return items.filter((id) => named.includes(records.items.get(id)?.name ?? ''));
}

/** Letters for sizes, which count only as words of their own: `size M`, `(blue, M)`. */
const SIZES: Record<string, string> = {
  XS: 'x-small|extra small',
  S: 'small',
  M: 'medium',
  L: 'large',
  XL: 'x-large|extra large|extra-large',
  XXL: 'xx-large|2xl|double extra large',
};

/** Values that say whether the item has something. */
const WITH_OR_WITHOUT = /^(yes|no|none)$|^(not|non)\b/i;

const COLORS = ['red', 'blue', 'green', 'black', 'white', 'yellow', 'purple', 'pink', 'gold', 'silver', 'brown', 'grey', 'navy', 'orange'];

/** Values that an option usually has, where no result showed the product. */
export function usualValues(option: string, value: string): string[] {
  if (SIZES[value]) return Object.keys(SIZES);
  return /colou?r/i.test(option) ? COLORS : [];
}

/** For each place of a text in lower case that names an option: whether the item has it. `waterproof: no`, `not water resistant`. */
function saysWith(said: string, option: string): boolean[] {
  const stem = escapeRegExp(option.toLowerCase().replace(/(ance|proof|s)$/, '')).replace(/ /g, '[\\s-]*');
  return [...said.matchAll(new RegExp(`\\b${stem}\\w*`, 'g'))].map(({ 0: name, index }) => {
    const before = said.slice(Math.max(0, index - 24), index);
    return (
      !/\b(no|not|non|none|without|isn't|lacks?)[\s-]+(\w+\s)?$/.test(before) &&
      !/^\W{0,3}(no|none|not)\b/.test(said.slice(index + name.length))
    );
  });
}

/** Whether a text says the value of an option. */
export function saysValue(text: string, option: string, value: string): boolean {
  const said = text.toLowerCase();
  const size = SIZES[value];
  if (size) {
    const bare = said.replace(/\b(?:x{1,2}|extra|double extra)[ -](?=small|large)/g, (own) => (value.startsWith('X') ? own : '_'));
    return (
      new RegExp(`(?<![\\p{L}\\p{N}'-])${value}(?![\\p{L}\\p{N}'-])`, 'u').test(text) ||
      new RegExp(`\\bsize:? ${value.toLowerCase()}\\b|(?<![\\w])(?:${size})\\b`).test(bare)
    );
  }
  if (WITH_OR_WITHOUT.test(value))
    return (value.length > 4 && wordPattern(value).test(said)) || saysWith(said, option).includes(/^yes$/i.test(value));
  if (/^\d{1,2}$/.test(value))
    return new RegExp(`(?<![\\p{L}\\p{N}$.]|\\bto )${value}(?![\\p{L}\\p{N}]|\\s*(?:to \\d|business|days?|items?|hours?|%))`, 'u').test(
      said,
    );
  return wordPattern(value).test(said);
}

/** Values that are also common words. They count as said only beside the name of their option. */
const COMMON =
  /^(light|dark|basic|standard|custom|plain|high|low|fresh|full|half|art|men|women|portable|regular|single|double|long|desk|tower|city|road|natural|\d{1,2})$/i;

/** Whether a text clearly says this value, so that another value is no longer possible. */
export function claimsValue(text: string, option: string, value: string): boolean {
  if (/^(yes|no)$/i.test(value)) return saysValue(text, option, value);
  if (WITH_OR_WITHOUT.test(value)) return false;
  if (!COMMON.test(value)) return saysValue(text, option, value);
  const word = option.toLowerCase().split(' ').at(-1)!;
  const said = text.toLowerCase();
  return [`${word} ${value}`, `${word}: ${value}`, `${value} ${word}`].some((form) => said.includes(form.toLowerCase()));
}

/** Whether a text tells an item apart from another item of the same product. */
export function tellsApart(text: string, item: KnownItem, other: KnownItem): boolean {
  return Object.entries(item.options).some(([option, value]) => other.options[option] !== value && saysValue(text, option, value));
}
