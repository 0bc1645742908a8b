/** @file Days and names of passengers in the words of customers and agents. */
import { recordsIn, textOf } from '../../../agent/layers/readings.ts';
import type { Made, Talk } from '../../../agent/layers/talk.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = String.raw`(${MONTHS.join('|')})[a-z]*\.?`;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?\b`;
const DAYS = new RegExp(String.raw`\b${MONTH} ${DAY}|\b${DAY} (?:of )?${MONTH}|\b\d{4}-(\d{2})-(\d{2})\b`, 'gi');
const two = (value: number | string): string => String(value).padStart(2, '0');

/** The date of birth of a passenger. */
const BORN = /\b(?:dob|born|birth\w*)\b[^,;)\n]{0,40}/gi;

/** The days that a text names, as `05-20`. */
export const daysIn = (text: string): string[] =>
  [...text.replace(BORN, ' ').matchAll(DAYS)].map(([, month, day, day2, month2, mm, dd]) =>
    mm ? `${mm}-${dd}` : `${two(MONTHS.indexOf((month ?? month2)!.toLowerCase()) + 1)}-${two((day ?? day2)!)}`,
  );

const namesOf = (value: Made['value']): string[] =>
  [...recordsIn(value)].flatMap(({ first_name, last_name }) =>
    [textOf(first_name), textOf(last_name)].filter(Boolean).map((name) => name.toLowerCase()),
  );

/** Whether two names differ in one place only: `Ana` and `Anna`, `Smith` and `Smyth`. */
function isNear(a: string, b: string): boolean {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < most - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return a !== b && start + end >= 2 && Math.max(a.length, b.length) - start - end <= 2;
}

/** A new name in a text: `it must be Anna`, `Mina becomes Anna`, `to Anna`. */
const GIVEN = /\b(?:becomes?|to|is|be|it's|as|named?|with|called|reads?|spelled|spelt) (\p{Lu}\p{Ll}+)\b/gu;

/** Whether a change of passengers has the new name that a text gives. Undefined: the text gives none. */
export function namesMatch({ args, place }: Made, text: string, talk: Talk): boolean | undefined {
  const known = new Set(talk.callsIn(-1, place).flatMap(({ value }) => namesOf(value)));
  const own = namesOf(args);
  const fresh = own.filter((name) => !known.has(name));
  if (fresh.length === 0) return undefined;
  const words = [...text.matchAll(/\p{Lu}\p{Ll}+/gu)].map(([word]) => word.toLowerCase());
  if (words.some((word) => fresh.includes(word))) return true;
  const given = [...text.matchAll(GIVEN)]
    .map(([, name]) => name!.toLowerCase())
    .filter((name) => !known.has(name) && !MONTHS.includes(name.slice(0, 3)));
  return given.length > 0 || words.some((word) => !known.has(word) && fresh.some((name) => isNear(word, name))) ? false : undefined;
}
