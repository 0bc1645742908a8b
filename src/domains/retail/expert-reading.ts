/** @file Finds the facts of a request in the customer's messages. A later message overrides an earlier one. */
import { optionText } from './observations.ts';
import type { Customer, Order, Request, Variant } from './expert-notes.ts';
import { escapeRegExp } from '../../base/escape-reg-exp.ts';

function lastFound<T>({ said }: Request, find: (text: string) => T | null | undefined): T | null {
  for (const text of said.toReversed()) {
    const found = find(text);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

export function findOrderId(request: Request): string | null {
  return lastFound(request, (text) => {
    const id = [...text.matchAll(/#?\bW\d{4,7}\b/gi)].at(-1)?.[0];
    return id && `#${id.replace('#', '').toUpperCase()}`;
  });
}

export function findReason(request: Request): 'no longer needed' | 'ordered by mistake' | null {
  return lastFound(request, (text) => {
    if (/\bmistake|\baccident/i.test(text)) return 'ordered by mistake';
    return /\bno longer\b|\b(don't|do not) (need|want) (it|them)\b|\bnot needed\b/i.test(text) ? 'no longer needed' : null;
  });
}

export interface FoundAddress {
  text: string;
  fields: { address1: string; address2: string; city: string; state: string; country: string; zip: string };
}

/** Finds an address such as `12 Oak Street, Suite 3, Denver, CO 80201`. The second part is optional. */
export function findAddress(request: Request): FoundAddress | null {
  return lastFound(request, (text) => {
    const [whole, address1, address2 = '', city, state, zip] =
      /(\d+ \p{Lu}[^,]*), (?:([^,]+), )?([^,]+), ([A-Z]{2}) (\d{5})/u.exec(text) ?? [];
    return whole ? { text: whole, fields: { address1: address1!, address2, city: city!, state: state!, country: 'USA', zip: zip! } } : null;
  });
}

/** Finds the payment method. If the customer is not known, the kind of the method is used as its id. */
export function findPayment(request: Request, customer: Customer | undefined, order: Order | undefined): string | null {
  return lastFound(request, (text) => {
    const said = text.toLowerCase();
    const id = /\b(credit_card|paypal|gift_card)_\d+\b/.exec(said)?.[0];
    if (id) return id;
    if (said.includes('original')) return order?.original;
    const digits = /\bending in (\d{4})\b/.exec(said)?.[1];
    if (digits) return customer?.paymentMethods.find((method) => method.last_four === digits)?.id;
    const kind = said.includes('gift card')
      ? 'gift_card'
      : said.includes('paypal')
        ? 'paypal'
        : /credit card|\bvisa\b|\bmastercard\b/.test(said)
          ? 'credit_card'
          : null;
    return kind && (customer ? customer.paymentMethods.find((method) => method.id.startsWith(kind))?.id : kind);
  });
}

/** The items that the customer names, in the order of the order's list. */
export function findItems(request: Request, { items }: Order): Order['items'] {
  const found = lastFound(request, (text) => {
    const said = text.toLowerCase();
    const named = items.filter((item) => new RegExp(`\\b${escapeRegExp(item.name.toLowerCase())}\\b`).test(said));
    if (named.length) return named;
    return /\b(all|everything|whole order)\b/.test(said) ? items : null;
  });
  return found ?? [];
}

export type FoundVariants =
  | { lookUp: { name: string; item_id: string; product_id: string } }
  | { unavailable: string }
  /** `options` of the variant is a text such as `color red, size large`. */
  | { pairs: { item: Order['items'][number]; variant: { item_id: string; options: string } }[] };

const SWAP = /the ([\w' -]+?) for one with (.+?)(?= and the [\w' -]+? for one with | in (?:[\w' ]+ )?order\b|,|\.(?:\s|$)|$)/gi;

/**
 * Reads texts such as `the lamp for one with color red and light warm`. Finds the available variants that differ in exactly
 * these options.
 */
export function findVariants(request: Request, { items }: Order, products: ReadonlyMap<string, Variant[]>): FoundVariants {
  const swaps = lastFound(request, (text) => {
    const matches = [...text.matchAll(SWAP)];
    return matches.length ? matches : null;
  });
  const pairs: Extract<FoundVariants, { pairs: unknown }>['pairs'] = [];
  for (const [, said, wanted] of swaps ?? []) {
    const item = items.find(({ name }) => name.toLowerCase() === said!.toLowerCase());
    if (!item?.product_id) continue;
    const { name, item_id, product_id } = item;
    const variants = products.get(product_id);
    if (!variants) return { lookUp: { name, item_id, product_id } };
    const options = { ...item.options, ...changedOptions(wanted!, Object.keys(item.options ?? {})) };
    const variant = variants.find((candidate) =>
      Object.entries(options).every(([option, value]) => candidate.options[option]?.toLowerCase() === value.toLowerCase()),
    );
    if (!variant) return { unavailable: name.toLowerCase() };
    pairs.push({ item, variant: { item_id: variant.item_id, options: optionText(variant.options) } });
  }
  return { pairs };
}

/** Reads `color red and size large` into an object with a value for each option. A value may contain the word `and`. */
function changedOptions(text: string, names: string[]): Record<string, string> {
  const any = names.map(escapeRegExp).join('|');
  const found = [...text.matchAll(new RegExp(`(?:^|\\band )(${any}) (.+?)(?= and (?:${any}) |$)`, 'gi'))];
  return Object.fromEntries(found.map(([, option, value]) => [option!.toLowerCase(), value!]));
}
