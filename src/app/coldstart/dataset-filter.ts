/** @file Filters the conversations of a dataset by the address's query, and tells what the table shows of each. */
import type { DatasetConversationRow } from '../../records/dataset.ts';
import { VIOLATION_LABELS } from '../labels/labels.ts';
import type { Query } from '../routes/routes.ts';

export type DatasetQuery = Query<'dataset'>;

const FACETS = ['state', 'reward', 'audit', 'persona', 'demonstrator', 'intent'] as const;
type Facet = (typeof FACETS)[number];

/** The value of a fact that is not in an imported file. */
const UNKNOWN = 'unknown';
/** The value of `audit` for a conversation that broke no rule. */
const CLEAN = 'no-rule-broken';

const VALUES: Record<Facet, (row: DatasetConversationRow) => readonly string[]> = {
  state: ({ rejected }) => [rejected ? 'rejected' : 'kept'],
  reward: ({ reward }) => [reward === undefined ? UNKNOWN : reward === 1 ? '1' : '0'],
  audit: ({ violations }) =>
    violations === undefined ? [UNKNOWN] : violations.length === 0 ? [CLEAN] : [...new Set(violations.map(({ rule }) => rule))],
  persona: ({ persona = UNKNOWN }) => [persona],
  demonstrator: ({ demonstrator = UNKNOWN }) => [demonstrator],
  intent: ({ intent = UNKNOWN }) => [intent],
};

export interface Filtered {
  rows: DatasetConversationRow[];
  /** For each value of a facet: the number of rows that have this value and pass the filters of all other facets. */
  counts: Record<Facet, Map<string, number>>;
}

/** The rows that have all values of the query and contain its words. */
export function filterDataset(all: readonly DatasetConversationRow[], query: DatasetQuery): Filtered {
  const counts = Object.fromEntries(FACETS.map((facet) => [facet, new Map<string, number>()])) as Filtered['counts'];
  const words = query.q.trim().toLowerCase();
  const rows: DatasetConversationRow[] = [];
  for (const row of all) {
    if (words !== '' && !contains(row, words)) continue;
    const failed = FACETS.filter((facet) => query[facet] !== '' && !VALUES[facet](row).includes(query[facet]));
    if (failed.length === 0) rows.push(row);
    for (const facet of failed.length === 0 ? FACETS : failed.length === 1 ? failed : [])
      for (const value of VALUES[facet](row)) counts[facet].set(value, (counts[facet].get(value) ?? 0) + 1);
  }
  return { rows, counts };
}

const contains = ({ messages }: DatasetConversationRow, words: string): boolean =>
  messages.some(
    ({ role, content, tool_calls }) =>
      role !== 'system' && `${content} ${tool_calls ? JSON.stringify(tool_calls) : ''}`.toLowerCase().includes(words),
  );

export const isFiltered = (query: DatasetQuery): boolean => query.q.trim() !== '' || FACETS.some((facet) => query[facet] !== '');

/** Messages after the system prompt. */
export const lengthOf = ({ messages }: DatasetConversationRow): number => messages.filter(({ role }) => role !== 'system').length;

/** How many of the writes the customer agreed to, such as `1 of 2`. */
export const askedWrites = ({ writes, unconfirmed_writes }: DatasetConversationRow): string =>
  writes === undefined || unconfirmed_writes === undefined
    ? '–'
    : writes === 0
      ? 'no write'
      : `${writes - unconfirmed_writes} of ${writes}`;

export const FACET_TITLES: Record<Facet, string> = {
  state: 'State',
  reward: 'Database check',
  audit: 'Policy audit',
  persona: 'Customer',
  demonstrator: 'Demonstrator',
  intent: 'Wish',
};

const LABELS: Partial<Record<Facet, Record<string, string>>> = {
  reward: { '1': 'as the task demands', '0': 'not as the task demands' },
  audit: { [CLEAN]: 'no rule broken', ...VIOLATION_LABELS },
};

export const valueLabel = (facet: Facet, value: string): string =>
  LABELS[facet]?.[value] ?? (value === UNKNOWN ? 'not known' : value.replaceAll('_', ' ').replaceAll('+', ' + '));
