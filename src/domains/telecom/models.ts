/** @file Readers for telecom's records: an unknown field is an error, a missing field gets its default, and dates are texts. */
import { Refusal } from '../exact/arguments.ts';
import { object, record, type Reader } from '../exact/model.ts';
import type { Json } from '../../records/json.ts';

/** A record in which unknown fields are errors. Only telecom's models forbid them; those of the other domains do not. */
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

/** A boolean. Some other values are accepted as booleans: for example, `1` and `"yes"` are true. */
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

/** A date with a time of day, in the format of Python's `str`: a space separates date and time. */
export const dateTime: Reader = (value, path) => {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/.test(value)) return value.replace('T', ' ');
  throw new Refusal(`${path} must be a date and time`);
};
