/** @file Writes the results of an experiment as text, for the command line. */
import type { ExperimentContent } from '../records/experiment.ts';
import { byPart, type PartResult } from './by-part.ts';
import { analyse, FIGURES, type FigureId } from './analysis.ts';
import type { Estimate } from './estimate.ts';

const FORMATS: Record<(typeof FIGURES)[number]['format'], { unit: string; number: (value: number) => string }> = {
  percent: { unit: ' %', number: (value) => (100 * value).toFixed(1) },
  points: { unit: ' points', number: (value) => `${value < 0 ? '−' : '+'}${Math.abs(100 * value).toFixed(1)}` },
  number: { unit: '', number: (value) => String(Number(value.toPrecision(3))) },
  seconds: { unit: ' s', number: (value) => String(Math.round(value)) },
};

/** The mean with its unit, and the interval as `low to high`. The interval is empty if one seed has none. */
export function estimateParts(estimate: Estimate | null, id: FigureId): { mean: string; interval: string } {
  if (!estimate) return { mean: 'not measured', interval: '' };
  const { unit, number } = FORMATS[FIGURES.find((figure) => figure.id === id)!.format];
  const { value, low, high } = estimate;
  return { mean: number(value) + unit, interval: low === value && high === value ? '' : `${number(low)} to ${number(high)}` };
}

function estimateText(estimate: Estimate | null, id: FigureId): string {
  const { mean, interval } = estimateParts(estimate, id);
  return interval === '' ? mean : `${mean} (${interval})`;
}

/** What “shown” means, for the command line and for the page. */
export const SHOWN_MEANS = 'A difference is shown if p is below 0.05 after Holm’s correction for all comparisons of the table.';

/** A table with a line for each variant, then a sentence for each comparison. Figures that no variant has are left out. */
export function reportLines({ experiment, runs }: ExperimentContent): string[] {
  const { variants, comparisons, finished, total } = analyse(experiment, runs);
  const shown = FIGURES.filter(({ id }) => variants.some(({ figures }) => figures[id]));
  const rows = [
    ['variant', 'seeds', ...shown.map(({ label }) => label)],
    ...variants.map(({ name, seeds, figures }) => [
      name === experiment.baseline ? `${name} (baseline)` : name,
      `${seeds.length} of ${experiment.seeds.length}`,
      ...shown.map(({ id }) => estimateText(figures[id], id)),
    ]),
  ];
  return [
    `${experiment.name}: ${experiment.question}`,
    `${finished} of ${total} runs are finished. Means over seeds with 95 % intervals. ${SHOWN_MEANS}`,
    '',
    ...aligned(rows),
    '',
    ...partLines({ experiment, runs }),
    ...comparisons.map(({ sentence }) => sentence),
  ];
}

/** Tables of the success and of the writes with a yes by part; of the differences from the baseline too, if the parts are domains. */
function partLines({ experiment, runs }: ExperimentContent): string[] {
  const split = byPart(experiment, runs);
  if (!split) return [];
  const table = (title: string, cell: (result: PartResult) => string, names = split.variants) => [
    ...aligned([[title, ...split.parts], ...names.map(({ name, results }) => [name, ...results.map(cell)])]),
    '',
  ];
  const others = split.variants.filter(({ name }) => name !== experiment.baseline);
  const minus = ({ difference, shown }: PartResult) => estimateText(difference, 'gain') + (shown ? ', shown' : '');
  return [
    ...table(`success by ${split.kind}`, ({ success }) => estimateText(success, 'held_out')),
    ...(split.kind === 'domain' ? table(`minus ${experiment.baseline}`, minus, others) : []),
    ...table('writes with a yes', ({ asked }) => estimateText(asked, 'confirmed')),
  ];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}
