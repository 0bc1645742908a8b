/** @file Texts of scenario files with `{name}` for a value. */
import { isObject } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import type { Template } from '../records/scenario.ts';

/** A name, or a field of a row: `{day}`, `{booking.room}`. */
const PLACE = /\{([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)\}/g;

/** The names in a template, as they are written. */
export const placesIn = (template: Template): string[] => [...template.matchAll(PLACE)].map(([, name]) => name!);

/** Whether a brace of the template belongs to no name. */
export const hasLooseBrace = (template: Template): boolean => /[{}]/.test(template.replace(PLACE, ''));

/** How people say a value: a list with commas, true and false as yes and no. */
export function inWords(value: Json): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === null) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The text with the values of its names. The names must be known. */
export const fill = (template: Template, values: Readonly<Record<string, Json>>): string =>
  template.replace(PLACE, (_, place: string) => {
    const [name = '', field] = place.split('.');
    const value = values[name] ?? null;
    return inWords(field === undefined ? value : isObject(value) ? ((value[field] as Json | undefined) ?? null) : null);
  });
