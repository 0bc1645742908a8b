/** @file Shows database rows as text: as one line in a cell of a table, or as a tree with all values. */
import type { Json } from '../records/json.ts';

/** A value without children. */
export type Leaf = null | boolean | number | string;

export const isLeaf = (value: Json): value is Leaf => value === null || typeof value !== 'object' || Object.keys(value).length === 0;

/** The text of a value without children. `none` marks empty values, so that the page can tell null from the text "null". */
export function leafText(value: Json): { text: string; none: boolean } {
  if (value === null) return { text: 'null', none: true };
  if (value === '') return { text: 'empty text', none: true };
  if (typeof value === 'object') return { text: Array.isArray(value) ? 'empty list' : 'empty object', none: true };
  return { text: String(value), none: false };
}

export interface Child {
  name: string;
  value: Json;
}

/** The children of a value, in order. The entries of a list are numbered from 0, as in the paths of errors and diffs. */
export function childrenOf(value: Json): Child[] {
  return value === null || typeof value !== 'object' ? [] : Object.entries(value).map(([name, child]) => ({ name, value: child as Json }));
}

const CELL = 80;
const PARTS = 4;

/** A value as one line. A nested value is shown by its first texts, or by its size. */
export function cellText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return shortened(String(value));
  const children = Object.values(value) as Json[];
  const size = Array.isArray(value)
    ? `${children.length} ${children.length === 1 ? 'item' : 'items'}`
    : `${children.length} ${children.length === 1 ? 'field' : 'fields'}`;
  if (children.length === 0 || !children.every(isLeaf)) return size;
  const texts = children.filter((child) => child !== null && child !== '' && typeof child !== 'object').map(String);
  return texts.length && texts.length <= 2 * PARTS
    ? shortened(texts.slice(0, PARTS).join(', ') + (texts.length > PARTS ? ', …' : ''))
    : size;
}

export const shortened = (text: string, length = CELL) =>
  (text.length > length ? `${text.slice(0, length - 1)}…` : text).replace(/\s+/g, ' ');

/** The names of the first `limit` fields of the rows, without fields that repeat the key. */
export function columnsOf(rows: readonly (readonly [key: string, row: Json])[], limit: number): string[] {
  const names = new Set<string>();
  for (const [, row] of rows)
    if (row !== null && typeof row === 'object' && !Array.isArray(row)) for (const name of Object.keys(row)) names.add(name);
  const repeats = (name: string) => rows.every(([key, row]) => (row as Record<string, Json> | null)?.[name] === key);
  return [...names].filter((name) => !repeats(name)).slice(0, limit);
}

/** Whether a node of the tree is open at first. Nodes near the root with few children are. */
export const opensAtFirst = (value: Json, depth: number) => depth < 2 && childrenOf(value).length <= (depth === 0 ? 30 : 12);
