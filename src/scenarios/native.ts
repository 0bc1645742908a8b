/**
 * @file Values as expressions see them. CEL tells whole numbers (bigints) from others, JSON does not. A field of type `number` is never
 * whole in an expression, so that the result of a division does not depend on its value.
 */
import { isObject } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import type { ScenarioField } from '../records/scenario.ts';

export type Native = null | boolean | string | number | bigint | readonly Native[] | { readonly [key: string]: Native };

const MOST_PARTS = 20_000;
const MOST_TEXT = 20_000;

/** @param type the type of the field or parameter. Default: whole numbers are bigints, other numbers are not */
export function toNative(value: Json, type?: ScenarioField['type']): Native {
  if (typeof value === 'number') return type !== 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((child) => toNative(child));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, toNative(child as Json)]));
}

/** The value as JSON. It must be readable. */
export function fromNative(value: Native): Json {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(fromNative);
  if (!isObject(value)) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, fromNative(child as Native)]));
}

/** Why the value cannot be written as JSON. Undefined if it can be. @param scale how many times the usual size it may have */
export function readable(value: unknown, scale = 1): string | undefined {
  const [mostParts, mostText] = [MOST_PARTS * scale, MOST_TEXT * scale];
  let parts = 0;
  let text = 0;
  const fault = (child: unknown): string | undefined => {
    if (++parts > mostParts) return `the value has more than ${mostParts} parts`;
    if (typeof child === 'string') return (text += child.length) > mostText ? `the value has more than ${mostText} characters` : undefined;
    if (typeof child === 'number') return Number.isFinite(child) ? undefined : `the value is ${child}: expected a finite number`;
    if (typeof child === 'bigint')
      return Number.isSafeInteger(Number(child)) ? undefined : `the value is ${child}: expected a number below 2^53`;
    if (child === null || typeof child === 'boolean') return undefined;
    const children = Array.isArray(child) ? child : isPlain(child) ? Object.values(child) : undefined;
    if (!children) return 'the value is a time, a type or bytes: expected a text, a number, true, false, null, a list or a map';
    for (const one of children) {
      const wrong = fault(one);
      if (wrong) return wrong;
    }
    return undefined;
  };
  return fault(value);
}

const isPlain = (value: unknown): value is object => isObject(value) && Object.getPrototypeOf(value) === Object.prototype;
