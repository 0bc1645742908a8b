/** @file Tables of experiments for docs/results, from the bundled results. A variant without all seeds is “not run”. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { analyse, type Comparison, type FigureId, points, type VariantResult } from '../src/experiments/analysis.ts';
import { byPart, type PartResult } from '../src/experiments/by-part.ts';
import type { Estimate } from '../src/experiments/estimate.ts';
import { readExperiment } from '../src/experiments/file.ts';
import { pendingPairs } from '../src/experiments/plan.ts';
import { readToml } from '../src/experiments/read-toml.ts';

const FOLDER = fileURLToPath(new URL('../public/experiments', import.meta.url));
const NOT_RUN = 'not run';

/**
 * A column: a figure of an experiment, the difference of pass^1 from the experiment's baseline, or one of both in a part of the tasks: those
 * of a domain or of an intent (`byPart`).
 * Figures are in percent.
 */
export type Column = {
  head: string;
  /** The id of the experiment. */
  of: string;
} & ({ figure: FigureId | 'difference' } | { part: string; figure: Exclude<keyof PartResult, 'shown'> });

interface Arm {
  figures: VariantResult['figures'];
  comparison: Comparison | undefined;
  parts: Readonly<Record<string, PartResult>>;
}

/** The finished variants of an experiment. @param folder the folder with the definition and, after the experiment was run, the results */
function finishedArms(id: string, folder: string): Map<string, Arm> {
  const experiment = readToml(readFileSync(`${folder}/${id}.toml`, 'utf8'), `${id}.toml`);
  const file = `${folder}/${id}.mua-experiment.json`;
  const { runs } = existsSync(file) ? readExperiment(readFileSync(file, 'utf8'), file) : { runs: [] };
  const pending = new Set(pendingPairs(experiment, runs).map(({ variant }) => variant));
  const finished = { ...experiment, variants: experiment.variants.filter(({ name }) => !pending.has(name)) };
  const { variants, comparisons } = analyse(finished, runs);
  const split = byPart(finished, runs);
  const partsOf = (name: string) => {
    const results = split?.variants.find((variant) => variant.name === name)!.results ?? [];
    return Object.fromEntries(results.map((result, i) => [split!.parts[i]!, result]));
  };
  return new Map(
    variants.map(({ name, figures }) => [
      name,
      { figures, comparison: comparisons.find(({ variant }) => variant === name), parts: partsOf(name) },
    ]),
  );
}

/** A share that is 0 or 1 in every seed has no interval over seeds. */
export const interval = ({ value, low, high }: Estimate) =>
  low === high ? points(value) : `${points(value)} (${points(low)} to ${points(high)})`;
const signed = (estimate: Estimate) => {
  const text = interval(estimate);
  return (estimate.value > 0 && !text.startsWith('0.0 ') ? '+' : '') + text;
};

export const minus = (difference: Estimate | null, shown: boolean) => (difference ? signed(difference) + (shown ? ', shown' : '') : '');

function cell(arm: Arm | undefined, column: Column): string {
  if (!arm) return column.figure === 'difference' ? '' : NOT_RUN;
  const part = 'part' in column ? arm.parts[column.part] : undefined;
  if (column.figure === 'difference')
    return part
      ? minus(part.difference, part.shown)
      : minus(arm.comparison?.difference ?? null, (arm.comparison?.verdict ?? 'not shown') !== 'not shown');
  const estimate = 'part' in column ? part?.[column.figure] : arm.figures[column.figure];
  return estimate ? interval(estimate) : '–';
}

/** The rows of a table with a row for each arm. The first row is the head. @param meaning name of a variant → what it is */
export function armRows(meaning: Readonly<Record<string, string>>, columns: readonly Column[], folder = FOLDER): string[][] {
  const arms = new Map(columns.map(({ of }) => [of, finishedArms(of, folder)]));
  return [
    ['arm', 'what it is', ...columns.map(({ head }) => head)],
    ...Object.entries(meaning).map(([name, text]) => [
      `\`${name}\``,
      text,
      ...columns.map((column) => cell(arms.get(column.of)!.get(name), column)),
    ]),
  ];
}

/** pass^1 of an experiment and the difference from its baseline. */
export const passColumns = (of: string, at: string): Column[] => [
  { head: `pass^1 ${at}`.trimEnd(), of, figure: 'held_out' },
  { head: 'minus `grpo`', of, figure: 'difference' },
];
