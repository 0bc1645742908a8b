/** @file Readers for telecom's records: unknown fields are errors, missing fields have defaults, dates are texts. */
import { Refusal } from '../exact/arguments.ts';
import { object, record, type Reader } from '../exact/model.ts';
import type { Json } from '../../records/json.ts';

/** A record without unknown fields. Telecom's models forbid unknown fields; the models of the other domains do not. */
export const strict = (fields: Record<string, Reader>): Reader => {
  const read = record(fields);
  return (value, path) => {
    for (const name of Object.keys(object(value, path)))
      if (!Object.hasOwn(fields, name)) throw new Refusal(`${path}.${name}: there is no such field`);
    return read(value, path);
  };
};

/** A field that may be missing, but not null. */
export const withDefault =
  (reader: Reader, missing: Json): Reader =>
  (value, path) =>
    reader(value === undefined ? missing : value, path);

/** A boolean. Some other values count as booleans: `1` and `"yes"` are true. */
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

/** A date with a time of day, in the format of Python's `str`: separated by a space. */
export const dateTime: Reader = (value, path) => {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/.test(value)) return value.replace('T', ' ');
  throw new Refusal(`${path} must be a date and time`);
};
