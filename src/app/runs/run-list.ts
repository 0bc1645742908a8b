/** @file Sorts the list of runs, and filters it by tags. */
import type { RunRow } from '../../records/run.ts';
import type { Query, RUN_SORTS } from '../routes/routes.ts';

export type RunSort = (typeof RUN_SORTS)[number];
type Order = 'asc' | 'desc';

/** The order of a column that is chosen for the first time: texts from A to Z, numbers and dates from the largest. */
const firstOrder = (sort: RunSort): Order => (sort === 'name' || sort === 'status' || sort === 'preset' ? 'asc' : 'desc');

/** Reads the column and the order from an address; null means the order of the library. */
export function readOrder({ sort, order }: Pick<Query<'runs'>, 'sort' | 'order'>): { sort: RunSort; order: Order } | null {
  return sort === '' ? null : { sort, order: order || firstOrder(sort) };
}

/** The query after a click on the header of a column. A second click reverses the order. */
export function orderAfterClick(now: ReturnType<typeof readOrder>, sort: RunSort): { sort: RunSort; order: Order | '' } {
  const first = firstOrder(sort);
  const turned = now?.sort === sort && now.order === first;
  return { sort, order: turned ? (first === 'asc' ? 'desc' : 'asc') : '' };
}

/** Sorts rows by value. Rows without a value come last. Rows with equal values keep their order. */
export function sortRows<T>(rows: readonly T[], valueOf: (row: T) => string | number | null | undefined, order: Order): T[] {
  const sign = order === 'asc' ? 1 : -1;
  const valued = rows.map((row) => ({ row, value: valueOf(row) ?? null }));
  return valued
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      if (typeof a.value === 'number' && typeof b.value === 'number') return sign * (a.value - b.value);
      return sign * String(a.value).localeCompare(String(b.value), 'en', { numeric: true });
    })
    .map(({ row }) => row);
}

/** The runs that have all of these tags. */
export const withTags = (rows: readonly RunRow[], tags: readonly string[]) =>
  rows.filter((row) => tags.every((tag) => row.tags?.includes(tag)));

export interface TagChoice {
  tag: string;
  on: boolean;
  /** The number of runs that remain if this tag is chosen too. */
  count: number;
  /** The tags in the address after a click on this tag. */
  next: string[];
}

/** The tags of all runs, sorted by name. Chosen tags are included even if no run has them. */
export function tagChoices(rows: readonly RunRow[], chosen: readonly string[]): TagChoice[] {
  const names = [...new Set([...chosen, ...rows.flatMap(({ tags = [] }) => tags)])].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  return names.map((tag) => {
    const on = chosen.includes(tag);
    const next = on ? chosen.filter((other) => other !== tag) : [...chosen, tag];
    return { tag, on, count: withTags(rows, on ? chosen : next).length, next };
  });
}
