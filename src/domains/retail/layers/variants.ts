/** @file The options of an exchanged or changed item, as the agent reports them: they must be those of the new item. */
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import type { Made, Said, Talk } from '../../../agent/layers/talk.ts';
import { sentences } from '../../../agent/sentences.ts';
import { wordPattern } from '../writes/patterns.ts';
import { ShopRecords } from '../writes/records.ts';

/** Says what the customer gets. */
const GETS =
  /\b(?:you(?:'ll| will)? (?:now )?(?:get|receive|have)|new|replac\w+|now|instead(?! of)|becomes?|exchanged for|changed to|switched to|swapped for)\b/i;
const GOES_BACK = /\b(?:old|original|previous|return\w*|send|back|from|was|were|keep|rather than|instead of|no longer)\b/i;
const OPEN = /\?|\b(?:if|unless|could|would|can|other|also available)\b/i;
/** Amounts, ids, digits of cards, and spans of time. */
const NUMBERS =
  /\$\s?[\d,.]+|#?\bW?\d{6,}\b|\b(?:visa|master ?card|paypal|card|ending in|ends in|account)\s*(?:ending )?(?:in |with )?\d{4}\b|\b\d+\s?(?:-|–|to)\s?\d+\b|\b\d+ (?:business|working|days?|hours?|items?)\b/gi;
/** Values that sentences have for other reasons. */
const COMMON = /^(?:yes|no|none|basic|standard|new|with|without|true|false|full)$/i;

/** Whether a text names an option. Amounts, ids and spans of time name none. */
export const namesOption = (text: string, value: string): boolean => names(text.replace(NUMBERS, ' '), value);

const names = (text: string, value: string): boolean =>
  /^\d+(?:\.\d+)?$/.test(value)
    ? new RegExp(String.raw`\b(?:size|in|the|an?|number|for|to) ${value.replace('.', String.raw`\.`)}\b(?![.,]\d| ?%)`, 'i').test(text)
    : wordPattern(value).test(text.toLowerCase());

/** @param after what the agent said after the write */
export function checkVariants({ args, place: written }: Made, after: readonly Said[], talk: Talk, log: RuleLog): void {
  const records = new ShopRecords(talk.callsIn(-1, written).map(({ value }) => value));
  const known = (ids: unknown) => (Array.isArray(ids) ? ids.flatMap((id) => records.items.get(String(id)) ?? []) : []);
  const [old, fresh] = [known(args.item_ids), known(args.new_item_ids)];
  const values = (items: readonly { options: Readonly<Record<string, string>> }[]) =>
    new Set(items.flatMap(({ options }) => Object.values(options)));
  const right = values(fresh);
  const before = values([...old, ...[...records.orders.values()].flatMap(({ items }) => known(items))]);
  const others = [...values(fresh.flatMap(({ product }) => records.variants(product)))].filter(
    (value) => !right.has(value) && !COMMON.test(value),
  );
  if (others.length === 0) return;
  for (const { place, text } of after)
    for (const sentence of sentences(text.replace(NUMBERS, ' ')).filter((part) => !OPEN.test(part))) {
      const named = others.filter((value) => names(sentence, value));
      const isOld = (value: string) =>
        before.has(value) && (!GETS.test(sentence) || GOES_BACK.test(sentence) || [...right].some((own) => names(sentence, own)));
      const wrong = named.find((value) => !isOld(value));
      if (named.length > 0 || [...right].some((value) => names(sentence, value)))
        log.check('wrong_item', place, wrong === undefined ? null : `said “${sentence}”; the new item is ${[...right].join(', ')}`);
    }
}
