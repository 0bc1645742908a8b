/** @file How a text names an address: street, second line, city and zip code. */
import type { Detail } from '../../../agent/audit-rules.ts';
import type { Json } from '../../../records/json.ts';
import type { ShopRecords } from './records.ts';

const SHORT: Record<string, string> = { street: 'st', avenue: 'ave', road: 'rd', drive: 'dr', lane: 'ln', boulevard: 'blvd', court: 'ct', place: 'pl', highway: 'hwy', parkway: 'pkwy', suite: 'ste', apartment: 'apt', unit: 'apt', north: 'n', south: 's', east: 'e', west: 'w' }; // prettier-ignore

/** The text in lower case, with short forms and single spaces. */
const plain = (text: string): string =>
  ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim().split(' ').map((word) => SHORT[word] ?? word).join(' ')} `; // prettier-ignore

const STREET =
  /\b\d{1,5} (?:\p{Lu}[\p{L}']+ ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Boulevard|Blvd|Court|Ct|Place|Pl|Way|Highway|Broadway)\b/u;
const ZIP = /(?<![\d#W$.])\b\d{5}\b(?!\d)/g;
/** `to your default address`, instead of its street. */
const TO_HOME =
  /\b(?:to|with|as) (?:your|the) (?:\w+ )?(?:(?:default|profile|account|home|registered|primary)\b[^.\n]{0,20}\baddress|address (?:on file|in your (?:profile|account)))\b/i;

export function addressDetail(args: Record<string, Json>, records: ShopRecords): Detail {
  const [street = '', second = '', city = '', zip = ''] = ['address1', 'address2', 'city', 'zip'].map((part) =>
    String(args[part] ?? '').trim(),
  );
  /** `Apt 4B` and `#4B` name the same second line. */
  const number = plain(second).trim().split(' ').at(-1)!;
  return {
    name: 'the address',
    heard(text) {
      const said = plain(text);
      const zips: readonly string[] = text.match(ZIP) ?? [];
      if (!said.includes(plain(street))) {
        if (records.homes.has(street) && TO_HOME.test(text)) return 'named';
        return zips.some((other) => other !== zip) || STREET.test(text) ? 'other' : 'absent';
      }
      if (zip && zips.length > 0 && !zips.includes(zip)) return 'other';
      if (second && !said.replace(plain(street), ' ').includes(` ${number} `))
        return /\b(?:suite|ste|apt|apartment|unit)\b/i.test(text) ? 'other' : 'absent';
      return said.includes(plain(city)) || zips.includes(zip) ? 'named' : 'absent';
    },
  };
}
