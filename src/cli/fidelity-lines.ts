/** @file The table of `mua scenario fidelity`, as Markdown, so that documents can have it. */
import type { Answerer } from '../records/answerer.ts';
import type { Counted, FidelityReport } from '../scenarios/simulated/fidelity.ts';
import { who } from '../scenarios/simulated/who.ts';

const percent = (share: number) => (100 * share).toFixed(1);

/** A share in percent with its interval, and its counts. */
function cell({ count, of, interval }: Counted): string {
  return interval ? `${percent(count / of)} (${percent(interval.low)} to ${percent(interval.high)}), ${count} of ${of}` : '–';
}

export function fidelityLines(report: FidelityReport & { name: string; level: string; answerer: Answerer }): string[] {
  const { name, level, answerer, calls, failed, table, found, false_alarms: alarms, by_check: checks, by_kind: kinds } = report;
  const different = Object.entries(checks).filter(([, { count }]) => count > 0);
  return [
    `${name} ${level}, ${who(answerer)}: ${calls} calls${failed > 0 ? `, ${failed} without an answer` : ''}`,
    '',
    '| rows that the code changes | same text, % | same rows, % | accepted: same text, % | accepted: same rows, % |',
    '|---|---|---|---|---|',
    ...table.map(
      ({ changed, text, rows, accepted }) =>
        `| ${changed === 3 ? '3 or more' : changed} | ${cell(text)} | ${cell(rows)} | ${cell(accepted.text)} | ${cell(accepted.rows)} |`,
    ),
    '',
    `different answers that a check finds: ${cell(found)}`,
    `right answers that a check refuses: ${cell(alarms)}`,
    ...section('check', 'different answers that it finds, %', different),
    ...section('contradiction', 'found, %', Object.entries(kinds)),
  ];
}

function section(first: string, second: string, rows: readonly (readonly [string, Counted])[]): string[] {
  if (rows.length === 0) return [];
  return ['', `| ${first} | ${second} |`, '|---|---|', ...rows.map(([name, own]) => `| ${name} | ${cell(own)} |`)];
}
