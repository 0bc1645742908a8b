/** @file The words for the tables of worlds and for how many rows they have. */
import type { WorldSummary } from '../../worlds/types.ts';

type Rows = WorldSummary['rows'];

const IRREGULAR: Readonly<Record<string, string>> = { person: 'people', child: 'children', waiting: 'waiting' };

/** The name of a table after a number. Tables are named in the singular or in the plural. */
export function tableWords(n: number, table: string): string {
  const words = table.replaceAll('_', ' ').split(' ');
  const last = words.pop()!;
  const inPlural = /[^s]s$/.test(last);
  const own = n === 1 ? (inPlural ? singular(last) : last) : inPlural ? last : plural(last);
  return [...words, own].join(' ');
}

const plural = (word: string): string =>
  IRREGULAR[word] ?? (/[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`);

const singular = (word: string): string => (word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/(?<=ss|x|ch|sh)es$|s$/, ''));

/** What several worlds hold: for each table the fewest and the most rows, such as `8–40 members, 1 desk`. */
export function holds(worlds: readonly Rows[]): string {
  const tables = [...new Set(worlds.flatMap((rows) => rows.map(({ table }) => table)))];
  return tables
    .map((table) => {
      const counts = worlds.flatMap((rows) => rows.filter((row) => row.table === table).map((row) => row.count));
      const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
      const range = [...new Set([fewest, most])].map((n) => n.toLocaleString('en')).join('–');
      return `${range} ${tableWords(most, table)}`;
    })
    .join(', ');
}
