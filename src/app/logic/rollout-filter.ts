/** @file The rollouts of a run narrowed down by what the address says, with the number that each further choice leaves. */
import type { RolloutSummary } from '../../training/types.ts';
import type { Query } from './routes.ts';

export type RolloutQuery = Query<'rollouts'>;

/** What can be filtered by choosing a value; `step` is one too, but nobody chooses among thousands of steps. */
export const FACETS = ['reward', 'end', 'violation', 'tool', 'intent', 'domain'] as const;
export type Facet = (typeof FACETS)[number];

const NONE: readonly string[] = [];
const VALUES: Record<Facet, (row: RolloutSummary) => string | readonly string[]> = {
  reward: ({ reward }) => (reward === null ? 'null' : reward === 1 ? '1' : '0'),
  end: ({ termination }) => termination,
  violation: ({ rules }) => rules ?? NONE,
  tool: ({ tools }) => tools ?? NONE,
  intent: ({ intent }) => intent,
  domain: ({ domain }) => domain ?? NONE,
};

export interface FilteredRollouts {
  /** In the order of the query; without one the newest step first. */
  rows: RolloutSummary[];
  /** How many rows would remain with each value, everything else as it is. */
  counts: Record<Facet, Map<string, number>>;
}

/** Newest step first, then by group and index: the order a list begins with. Group ids are `step-number`. */
export function listOrder(rows: Iterable<RolloutSummary>): RolloutSummary[] {
  return [...rows].sort((a, b) => b.step - a.step || a.group.length - b.group.length || (a.group < b.group ? -1 : a.group > b.group ? 1 : a.index - b.index));
}

/**
 * One pass over all rows: a row that fails one facet only still counts for the values of that facet.
 * @param rows in list order
 * @param found ids of the rollouts whose text matches, where the text was searched
 */
export function filterRollouts(rows: readonly RolloutSummary[], query: RolloutQuery, found: ReadonlySet<string> | null): FilteredRollouts {
  const kept: RolloutSummary[] = [];
  const counts = Object.fromEntries(FACETS.map((facet) => [facet, new Map<string, number>()])) as FilteredRollouts['counts'];
  const asked = FACETS.filter((facet) => query[facet] !== '');
  for (const row of rows) {
    if ((query.step !== null && row.step !== query.step) || (found && !found.has(row.id))) continue;
    let failed: Facet | null = null;
    let failures = 0;
    for (const facet of asked) {
      const value = VALUES[facet](row);
      if (typeof value === 'string' ? value === query[facet] : value.includes(query[facet])) continue;
      failed = facet;
      if (++failures > 1) break;
    }
    if (failures > 1) continue;
    if (failed) count(counts[failed], VALUES[failed](row));
    else {
      kept.push(row);
      for (const facet of FACETS) count(counts[facet], VALUES[facet](row));
    }
  }
  return { rows: sortRollouts(kept, query.sort), counts };
}

function count(counts: Map<string, number>, values: string | readonly string[]): void {
  if (typeof values === 'string') counts.set(values, (counts.get(values) ?? 0) + 1);
  else for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
}

/** The largest first, unscored rows last; equal ones stay in list order. */
function sortRollouts(rows: RolloutSummary[], sort: RolloutQuery['sort']): RolloutSummary[] {
  if (sort === '') return rows;
  return rows.sort((a, b) => (b[sort] ?? -Infinity) - (a[sort] ?? -Infinity) || 0);
}
