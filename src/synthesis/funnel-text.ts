/** @file How a data set was written, for its card. */
import type { SynthesisReport } from './funnel.ts';
import { number, table } from './markdown.ts';

export function writtenText({ places, tried, solved, kept, seconds }: SynthesisReport): string {
  const rows = places.map((own) => [`${own.domain} ${own.level}`, number(own.tried), number(own.solved), number(own.kept)]);
  const all = rows.length > 1 ? [['all', number(tried), number(solved), number(kept)]] : [];
  return [
    table(['task', 'played', 'reward 1', 'written'], [...rows, ...all]),
    `Written in ${seconds.toFixed(0)} seconds.`,
    ...places.flatMap(({ domain, world_sha256: sha256 }) => (sha256 ? [`SHA-256 of the scenario ${domain}: \`${sha256}\`.`] : [])),
  ].join('\n\n');
}
