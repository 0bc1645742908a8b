/** @file Rows of a database as texts: one line for a cell of a table, a tree for reading the whole. */
import type { Json } from '../../environments/types.ts';

/** A value that holds nothing further. */
export type Leaf = null | boolean | number | string;

export const isLeaf = (value: Json): value is Leaf => value === null || typeof value !== 'object' || Object.keys(value).length === 0;

/** What a value without children reads as. `none` is told apart from a text that says the same. */
export function leafText(value: Json): { text: string; none: boolean } {
  if (value === null) return { text: 'null', none: true };
  if (value === '') return { text: 'empty text', none: true };
  if (typeof value === 'object') return { text: Array.isArray(value) ? 'empty list' : 'empty object', none: true };
  return { text: String(value), none: false };
}

export interface Branch {
  name: string;
  value: Json;
}

/** The children in order; those of a list are numbered from 0, as paths in errors and diffs are. */
export function branches(value: Json): Branch[] {
  return value === null || typeof value !== 'object' ? [] : Object.entries(value).map(([name, child]) => ({ name, value: child as Json }));
}

const CELL = 80;
const PARTS = 4;

/** A value in one line: leaves as they are, what is nested by its size or its first texts. */
export function cellText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return shortened(String(value));
  const children = Object.values(value) as Json[];
  const size = Array.isArray(value) ? `${children.length} ${children.length === 1 ? 'item' : 'items'}` : `${children.length} ${children.length === 1 ? 'field' : 'fields'}`;
  if (children.length === 0 || !children.every(isLeaf)) return size;
  const texts = children.filter((child) => child !== null && child !== '' && typeof child !== 'object').map(String);
  return texts.length && texts.length <= 2 * PARTS ? shortened(texts.slice(0, PARTS).join(', ') + (texts.length > PARTS ? ', …' : '')) : size;
}

export const shortened = (text: string, length = CELL) => (text.length > length ? `${text.slice(0, length - 1)}…` : text).replace(/\s+/g, ' ');

/** Fields worth a column: those of the first rows in order, without the one that repeats the key. */
export function columnsOf(rows: readonly (readonly [key: string, row: Json])[], limit: number): string[] {
  const names = new Set<string>();
  for (const [, row] of rows) if (row !== null && typeof row === 'object' && !Array.isArray(row)) for (const name of Object.keys(row)) names.add(name);
  const repeats = (name: string) => rows.every(([key, row]) => (row as Record<string, Json> | null)?.[name] === key);
  return [...names].filter((name) => !repeats(name)).slice(0, limit);
}

/** Whether a branch is open at first: what is near the root and not long. */
export const opensAtFirst = (value: Json, depth: number) => depth < 2 && branches(value).length <= (depth === 0 ? 30 : 12);
