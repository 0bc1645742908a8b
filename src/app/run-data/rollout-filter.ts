/** @file Filters the rollouts of a run by the address's query, and counts the rollouts that each further choice would leave. */
import { recordedEnding } from '../../base/recorded-ending.ts';
import { recordedReward } from '../../base/total-reward.ts';
import type { RolloutSummary } from '../../records/rollout.ts';
import type { Query } from '../routes/routes.ts';

export type RolloutQuery = Query<'rollouts'>;

/** The filters that list their values. `step` is a filter too but lists no values, because a run can have thousands of steps. */
export const FACETS = ['reward', 'end', 'violation', 'tool', 'intent', 'domain', 'column'] as const;
export type Facet = (typeof FACETS)[number];

const NONE: readonly string[] = [];
const VALUES: Record<Facet, (row: RolloutSummary) => string | readonly string[]> = {
  reward: ({ reward }) => (reward === null ? 'null' : reward === 1 ? '1' : '0'),
  end: recordedEnding,
  violation: ({ rules }) => rules ?? NONE,
  tool: ({ tools }) => tools ?? NONE,
  intent: ({ intent }) => intent,
  domain: ({ domain }) => domain ?? NONE,
  // Fractions have too many values to filter by.
  column: ({ foreign }) =>
    Object.entries(foreign?.columns ?? {}).flatMap(([name, value]) =>
      typeof value === 'number' && !Number.isInteger(value) ? [] : [`${name}: ${value}`],
    ),
};

export interface FilteredRollouts {
  /** The rows in the order that the query names. By default, the newest step is first. */
  rows: RolloutSummary[];
  /** For each value of a facet: the number of rows that have this value and pass the filters of all other facets. */
  counts: Record<Facet, Map<string, number>>;
}

/** The rows in the default order of the list: the newest step first, then by group and index. Group ids are `step-number`. */
export function listOrder(rows: Iterable<RolloutSummary>): RolloutSummary[] {
  return [...rows].sort(
    (a, b) => b.step - a.step || a.group.length - b.group.length || (a.group < b.group ? -1 : a.group > b.group ? 1 : a.index - b.index),
  );
}

/** The values of one filter for all rows. Row i has the values from codes[starts[i]] up to, but without, codes[starts[i + 1]]. */
interface Column {
  names: Map<string, number>;
  starts: Uint32Array;
  codes: number[];
}

/** Stores the rows as columns of small numbers, so that counting every value of 100,000 rows takes only milliseconds. */
export class RolloutIndex {
  readonly rows: readonly RolloutSummary[];
  readonly #columns: Record<Facet, Column>;

  /** @param rows in list order */
  constructor(rows: readonly RolloutSummary[]) {
    this.rows = rows;
    this.#columns = Object.fromEntries(FACETS.map((facet) => [facet, columnOf(rows, VALUES[facet])])) as Record<Facet, Column>;
  }

  /**
   * Filters the rows. A row that fails exactly one filter counts for the values of that filter.
   * @param found ids of the rollouts whose text matches, if the text was searched
   */
  filter(query: RolloutQuery, found: ReadonlySet<string> | null): FilteredRollouts {
    const columns = FACETS.map((facet) => this.#columns[facet]);
    const counts = columns.map(({ names }) => new Uint32Array(names.size));
    const asked = FACETS.flatMap((facet, f) => (query[facet] === '' ? [] : [{ f, code: columns[f]!.names.get(query[facet]) ?? -1 }]));
    const kept: RolloutSummary[] = [];
    this.rows.forEach((row, i) => {
      if ((query.step !== null && row.step !== query.step) || (found && !found.has(row.id))) return;
      let failed = -1;
      for (const { f, code } of asked) {
        if (has(columns[f]!, i, code)) continue;
        if (failed >= 0) return;
        failed = f;
      }
      if (failed >= 0) return tally(columns[failed]!, i, counts[failed]!);
      kept.push(row);
      for (let f = 0; f < columns.length; f++) tally(columns[f]!, i, counts[f]!);
    });
    const named = columns.map(
      ({ names }, f) => new Map([...names].map(([name, code]) => [name, counts[f]![code]!] as const).filter(([, n]) => n > 0)),
    );
    return {
      rows: sorted(kept, query.sort),
      counts: Object.fromEntries(FACETS.map((facet, f) => [facet, named[f]!])) as FilteredRollouts['counts'],
    };
  }
}

function columnOf(rows: readonly RolloutSummary[], valuesOf: (row: RolloutSummary) => string | readonly string[]): Column {
  const column: Column = { names: new Map(), starts: new Uint32Array(rows.length + 1), codes: [] };
  const add = (value: string) => {
    let code = column.names.get(value);
    if (code === undefined) column.names.set(value, (code = column.names.size));
    column.codes.push(code);
  };
  rows.forEach((row, i) => {
    const values = valuesOf(row);
    if (typeof values === 'string') add(values);
    else values.forEach(add);
    column.starts[i + 1] = column.codes.length;
  });
  return column;
}

function has({ starts, codes }: Column, row: number, code: number): boolean {
  for (let at = starts[row]!; at < starts[row + 1]!; at++) if (codes[at] === code) return true;
  return false;
}

function tally({ starts, codes }: Column, row: number, counts: Uint32Array): void {
  for (let at = starts[row]!; at < starts[row + 1]!; at++) counts[codes[at]!]! += 1;
}

/**
 * Sorts rows with the largest value first and unscored rows last; equal rows keep their order. Uses a bucket sort: few values are distinct.
 */
function sorted(rows: RolloutSummary[], sort: RolloutQuery['sort']): RolloutSummary[] {
  if (sort === '') return rows;
  const piles = new Map<number, RolloutSummary[]>();
  for (const row of rows) {
    const value = (sort === 'reward' ? recordedReward(row) : row[sort]) ?? -Infinity;
    const pile = piles.get(value);
    if (pile) pile.push(row);
    else piles.set(value, [row]);
  }
  return [...piles.keys()].sort((a, b) => b - a || 0).flatMap((value) => piles.get(value)!);
}
