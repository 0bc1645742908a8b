/** @file Fields that several schemas of a run bundle use. */
import * as z from 'zod/mini';
import type { Json } from '../records/json.ts';

/** The schema of every field of a type. A field without a schema does not compile. */
export type Fields<T> = { [K in keyof T]-?: z.ZodMiniType<T[K]> };

const MAX_DEPTH = 64;

function isJson(value: unknown, depth = 0): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return depth < MAX_DEPTH && Object.values(value as object).every((child) => isJson(child, depth + 1));
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

// Any JSON. It is returned as it was parsed, because zod's copy of a record would lose keys such as `__proto__`.
export const json = z.custom<Json>((value) => value !== undefined && isJson(value), `JSON of finite numbers, at most ${MAX_DEPTH} deep`);
export const jsonObject = <T extends object>() =>
  z.custom<T>((value) => isRecord(value) && isJson(value), `an object of finite numbers and texts, at most ${MAX_DEPTH} deep`);
/** Returned as it was parsed, for the same reason. */
export const ids = z.custom<Record<string, number>>(
  (value) => isRecord(value) && Object.values(value).every((id) => Number.isSafeInteger(id) && (id as number) >= 0),
  'an object of whole numbers from 0',
);
export const numbers = (what: string, accepts: (value: number) => boolean) =>
  z.custom<number[]>(
    (value) => Array.isArray(value) && value.every((item) => typeof item === 'number' && accepts(item)),
    `a list of ${what}`,
  );
export const sparse = z.custom<(number | null)[]>(
  (value) => Array.isArray(value) && value.every((item) => item === null || (typeof item === 'number' && Number.isFinite(item))),
  'a list of finite numbers and nulls',
);
export const oneOf = <T extends string>(names: Record<T, true>) => z.enum(Object.keys(names) as T[]) as unknown as z.ZodMiniType<T>;

export const text = z.string();
/** A name is part of addresses, and an address cannot hold half of a character. */
export const name = z.string().check(z.maxLength(2000), z.regex(/^\P{Cs}*$/u, 'a text without halves of characters (lone surrogates)'));
export const number = z.number();
export const natural = z.number().check(z.int(), z.minimum(0));
export const time = z.number().check(z.minimum(0), z.maximum(8.64e15)); // the largest date of JavaScript, in milliseconds
/** An id is a key of the storage. It contains no comma, because URLs of the page list ids with commas between them. */
export const ID = /^[^\p{C},]{1,200}$/u;
export const ID_TEXT = '1 to 200 characters without commas and control characters';
export const id = z.string().check(z.regex(ID, ID_TEXT));
export const texts = z.record(z.string(), z.string());
export const counts = z.record(z.string(), natural);
export const scalar = z.union([z.string(), z.number(), z.boolean()]);
