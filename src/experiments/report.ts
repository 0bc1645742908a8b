/** @file The results of an experiment as text, for the command line. */
import type { ExperimentContent } from '../records/experiment.ts';
import { analyse, FIGURES, type FigureId } from './analysis.ts';
import type { Estimate } from './estimate.ts';

const FORMATS: Record<(typeof FIGURES)[number]['format'], (value: number) => string> = {
  percent: (value) => `${(100 * value).toFixed(1)} %`,
  points: (value) => `${value < 0 ? '−' : '+'}${Math.abs(100 * value).toFixed(1)} points`,
  number: (value) => String(Number(value.toPrecision(3))),
  seconds: (value) => `${Math.round(value)} s`,
};

/** `mean (low to high)`, or the mean alone where one seed has no interval. */
export function estimateText(estimate: Estimate | null, id: FigureId): string {
  if (!estimate) return '–';
  const format = FORMATS[FIGURES.find((figure) => figure.id === id)!.format];
  const { value, low, high } = estimate;
  return low === value && high === value ? format(value) : `${format(value)} (${format(low)} to ${format(high)})`;
}

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
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return [
    `${experiment.name}: ${experiment.question}`,
    `${finished} of ${total} runs are finished. Means over seeds with 95 % intervals.`,
    '',
    ...rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    ),
    '',
    ...comparisons.map(({ sentence }) => sentence),
  ];
}
