/** @file The card of a data set that a command has just written, and the command as its card shows it. */
import { basename } from 'node:path';
import { cardText } from '../synthesis/card-text.ts';
import { dataCard } from '../synthesis/data-card.ts';
import type { SynthesisReport } from '../synthesis/funnel.ts';
import { readGradedRow } from '../synthesis/rows.ts';
import { kebabCase } from './args.ts';
import { UsageError } from './errors.ts';
import { sha256 } from './out-folder.ts';

interface Written {
  /** The path of the data file, its text and its rows. */
  out: string;
  jsonl: string;
  rows: readonly unknown[];
  report: SynthesisReport;
  /** The command that wrote it. */
  command: string;
  name?: string | undefined;
  licence?: string | undefined;
}

export function writtenCard({ out, jsonl, rows, report, command, name, licence }: Written): string {
  const card = dataCard(rows.map((row, i) => readGradedRow(row, `line ${i + 1}`)), [], null); // prettier-ignore
  return cardText(card, {
    name: name ?? nameOf(out),
    file: basename(out),
    sha256: sha256(jsonl),
    licence,
    commands: [command],
    made: report,
  });
}

export const nameOf = (path: string): string => basename(path).replace(/\.jsonl?$/, '');

/** @throws UsageError if the licence is no name of the Hub */
export function checkLicence(licence: string | undefined): void {
  if (licence !== undefined && !/^[a-z0-9][a-z0-9.+-]*$/.test(licence))
    throw new UsageError(`--licence is ${JSON.stringify(licence)}: expected a name of the Hub, such as apache-2.0 or cc-by-4.0`);
}

/**
 * A command as a person would write it in a shell.
 * @param flags by their names, also in camelCase; true is a flag without a value
 */
export function commandOf(words: readonly string[], flags: Readonly<Record<string, unknown>>): string {
  const quoted = (word: string) => (/^[\w./:=@+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  const given = Object.entries(flags).flatMap(([own, value]) => {
    const name = kebabCase(own);
    return value === true
      ? [`--${name}`]
      : [value ?? []]
          .flat()
          .flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [`--${name}`, quoted(String(one))] : []));
  });
  return ['./mua', ...words.map(quoted), ...given].join(' ');
}
