/** @file The functions that expressions of scenario files have beside those of CEL. */
import type { Native } from './native.ts';

type List = readonly Native[];

const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/;

function minutesOf(time: string): number {
  const [, hours, minutes] = CLOCK.exec(time) ?? [];
  if (hours === undefined) throw new Error(`the time is "${time.slice(0, 20)}": expected HH:MM, from 00:00 to 23:59`);
  return 60 * Number(hours) + Number(minutes);
}

const twoDigits = (n: number) => String(n).padStart(2, '0');

const comparable = (value: Native): value is string | number | bigint => ['string', 'number', 'bigint'].includes(typeof value);

function compare(a: Native, b: Native): number {
  if (!comparable(a) || !comparable(b) || (typeof a === 'string') !== (typeof b === 'string'))
    throw new Error('sort_by: expected only numbers or only texts in the field');
  return a < b ? -1 : a > b ? 1 : 0;
}

const field = (row: Native, name: string): Native => {
  if (typeof row !== 'object' || row === null || !Object.hasOwn(row, name)) throw new Error(`sort_by: no field "${name}"`);
  return (row as Readonly<Record<string, Native>>)[name]!;
};

const numbers = (list: List, name: string): (number | bigint)[] =>
  list.map((value) => {
    if (typeof value !== 'number' && typeof value !== 'bigint') throw new Error(`${name}: expected a list of numbers`);
    return value;
  });

const extreme = (list: List, name: string, better: (a: number | bigint, b: number | bigint) => boolean) => {
  if (list.length === 0) throw new Error(`${name}: the list is empty`);
  return numbers(list, name).reduce((best, value) => (better(value, best) ? value : best));
};

/* eslint-disable @typescript-eslint/no-explicit-any -- cel-js types the handlers of functions so. */
export const FUNCTIONS: Readonly<Record<string, (...args: any[]) => any>> = {
  /** The only entry of a list. */
  'one(list): dyn': (list: List) => {
    if (list.length !== 1) throw new Error(`one: the list has ${list.length} entries: expected 1`);
    return list[0];
  },
  /** Sorts rows by a field, from small to large. Equal rows keep their order. */
  'sort_by(list, string): list': (list: List, name: string) => [...list].sort((a, b) => compare(field(a, name), field(b, name))),
  /** The sum of numbers: whole if all are whole. */
  'sum(list): dyn': (list: List) => {
    const all = numbers(list, 'sum');
    return all.every((value) => typeof value === 'bigint') ? all.reduce((a, b) => a + b, 0n) : all.map(Number).reduce((a, b) => a + b, 0);
  },
  /** The nearest number with so many decimals: `round(3 * 0.1, 2)` is 0.3. */
  'round(dyn, int): dyn': (value: Native, decimals: bigint) => {
    if (decimals < 0n || decimals > 10n) throw new Error(`round: decimals is ${decimals}: expected 0 to 10`);
    if (typeof value === 'bigint') return value;
    if (typeof value !== 'number') throw new Error('round: expected a number');
    // The sum makes -0 a 0.
    return Number(value.toFixed(Number(decimals))) + 0;
  },
  'min(list): dyn': (list: List) => extreme(list, 'min', (a, b) => a < b),
  'max(list): dyn': (list: List) => extreme(list, 'max', (a, b) => a > b),
  /** The entries of all lists of a list, in order. */
  'flat(list): list': (list: List) =>
    list.flatMap((inner) => {
      if (!Array.isArray(inner)) throw new Error('flat: expected a list of lists');
      return inner as Native[];
    }),
  /** A key that no entry of the list has: `next_id(["book_3"], "book")` is `book_4`. */
  'next_id(list, string): string': (list: List, prefix: string) => {
    const used = list.map((id) => (typeof id === 'string' && id.startsWith(`${prefix}_`) ? Number(id.slice(prefix.length + 1)) : 0));
    return `${prefix}_${Math.max(0, ...used.filter(Number.isSafeInteger)) + 1}`;
  },
  'is_time(dyn): bool': (text: Native) => typeof text === 'string' && CLOCK.test(text),
  /** The minutes since midnight of a time such as 09:30. */
  'minutes(string): int': (time: string) => BigInt(minutesOf(time)),
  /** A time of the same day. */
  'add_minutes(string, int): string': (time: string, more: bigint) => {
    const sum = minutesOf(time) + Number(more);
    if (sum < 0 || sum >= 24 * 60) throw new Error(`add_minutes: ${time} and ${more} minutes is not on the same day`);
    return `${twoDigits(Math.floor(sum / 60))}:${twoDigits(sum % 60)}`;
  },
};
