/** @file What telecom's records need beyond tau2's common readers: no unknown fields, defaults, dates. */
import { Refusal } from '../exact/arguments.ts';
import { object, record, type Reader } from '../exact/model.ts';
import type { Json } from '../types.ts';

/** A record without other fields: telecom's models forbid them, unlike those of the other domains. */
export const strict = (fields: Record<string, Reader>): Reader => {
  const read = record(fields);
  return (value, path) => {
    for (const name of Object.keys(object(value, path))) if (!Object.hasOwn(fields, name)) throw new Refusal(`${path}.${name}: there is no such field`);
    return read(value, path);
  };
};

/** A field that may be missing, but not null. */
export const withDefault = (reader: Reader, missing: Json): Reader => (value, path) => reader(value === undefined ? missing : value, path);

/** Switches are taken leniently: `1` and `"yes"` are true. */
export const switched: Reader = (value, path) => {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  if ([true, 1, '1', 'true', 't', 'yes', 'y', 'on'].includes(word as never)) return true;
  if ([false, 0, '0', 'false', 'f', 'no', 'n', 'off'].includes(word as never)) return false;
  throw new Refusal(`${path} must be true or false`);
};

export const date: Reader = (value, path) => {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)) return value;
  throw new Refusal(`${path} must be a date, YYYY-MM-DD`);
};

/** A date with the time of day, kept as Python's `str` shows it: with a blank between them. */
export const moment: Reader = (value, path) => {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/.test(value)) return value.replace('T', ' ');
  throw new Refusal(`${path} must be a date and time`);
};
