/** @file The table of `scripts/dpo.sh`: preference optimisation on near-misses beside supervised learning on the chosen answers. */
import { readFileSync } from 'node:fs';
import { analyse } from '../src/experiments/analysis.ts';
import type { ExperimentRun } from '../src/records/experiment.ts';
import { interval, minus } from './experiment-tables.ts';

export const ARMS = ['dpo', 'sft', 'start'] as const;
export type DpoArm = (typeof ARMS)[number];

/** What `scripts/dpo-results.mts` writes. */
export interface DpoFile {
  /** For each trained arm and each learning rate that was tried: the share of tasks solved with the seed for choosing. */
  tried: Partial<Record<DpoArm, Record<string, number>>>;
  /** The learning rate of the runs. */
  chosen: Partial<Record<DpoArm, string>>;
  runs: ExperimentRun[];
}

/** The rows of the table. The first row is the head. Without results, each arm is “not run”. */
export function dpoRows({ tried, chosen, runs } = stored()): string[][] {
  const seeds = [...new Set(runs.map(({ seed }) => seed))];
  const { variants, comparisons } = analyse({ seeds, baseline: 'dpo', variants: ARMS.map((name) => ({ name })) }, runs);
  return [
    ['arm', 'rates: pass^1 of seed 60', `pass^1, ${seeds.length} seeds`, 'minus `dpo`', 'asks'],
    ...ARMS.map((arm, i) => {
      const { held_out, confirmed } = variants[i]!.figures;
      const comparison = comparisons.find(({ variant }) => variant === arm);
      const rates = Object.entries(tried[arm] ?? {}).map(([rate, share]) => {
        const text = `${rate}: ${(100 * share).toFixed(1)}`;
        return rate === chosen[arm] ? `**${text}**` : text;
      });
      return [
        `\`${arm}\``,
        rates.join(', '),
        held_out ? interval(held_out) : 'not run',
        minus(comparison?.difference ?? null, (comparison?.verdict ?? 'not shown') !== 'not shown'),
        confirmed ? interval(confirmed) : '',
      ];
    }),
  ];
}

const stored = () => JSON.parse(readFileSync(new URL('../docs/results/dpo.json', import.meta.url), 'utf8')) as DpoFile;
