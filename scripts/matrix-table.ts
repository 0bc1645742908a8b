/**
 * @file The tables of `scripts/matrix.sh` and `scripts/cross-domain.sh`: bundled models by domain beside the figures of MUA-RL's paper, and models
 * that were trained on one of two domains.
 */
import { readFileSync } from 'node:fs';
import { points } from '../src/experiments/analysis.ts';
import type { Interval } from '../src/records/evaluation.ts';

/** The columns: the folder of a place, and what the paper calls it. */
export const PLACES = [
  { place: 'retail', head: 'retail' },
  { place: 'telecom', head: 'telecom' },
  { place: 'tau2-retail', head: 'TAU2 retail' },
  { place: 'tau2-airline', head: 'TAU2 airline' },
  { place: 'tau2-telecom', head: 'TAU2 telecom' },
  { place: 'bfcl', head: 'BFCL-V3' },
  { place: 'acebench', head: 'ACEBench' },
] as const;
type Place = (typeof PLACES)[number]['place'];

/** pass^1, or the tokens of a prompt that does not fit, or nothing. */
export type Cell = (Interval & { tasks: number }) | { prompt: number; cut?: true; context: number } | { not_run: true };
export type Matrix = Record<string, Record<Place, Cell>>;

/** arXiv 2508.18669, in the order of the last five columns, without intervals. All models are without thinking. */
const PAPER = {
  'Qwen3-8B': [41.0, 12.5, 19.1, 11.8, 39.2],
  'MUA-RL-8B': [49.8, 19.0, 21.8, 14.6, 53.3],
  'Qwen3-14B': [43.1, 14.8, 29.9, 17.6, 60.0],
  'MUA-RL-14B': [66.0, 38.0, 33.4, 25.3, 78.3],
  'Qwen3-32B': [50.2, 23.5, 24.8, 19.6, 72.5],
  'MUA-RL-32B': [67.3, 45.4, 28.3, 28.4, 82.5],
};

/** What `scripts/cross-domain.sh` trains, and on which domains it tests. */
export const ARMS = ['start', 'grpo-retail', 'grpo-telecom', 'sft-retail', 'sft-telecom'] as const;
export const CROSSED = ['retail', 'telecom'] as const;
/** Means over seeds: pass^1, its gain from the start, and the share of writes with a yes. */
export type CrossFigures = Partial<Record<'pass' | 'gain' | 'asks', Interval>>;
export type CrossDomain = Record<(typeof ARMS)[number], Record<(typeof CROSSED)[number], CrossFigures>>;

const stored = <T>(name: string) => JSON.parse(readFileSync(new URL(`../docs/results/${name}.json`, import.meta.url), 'utf8')) as T;

const interval = ({ value, low, high }: Interval) => `${points(value)} (${points(low)} to ${points(high)})`;

function shown(cell: Cell): string {
  if ('not_run' in cell) return 'not run';
  return 'prompt' in cell ? `N/A: ${cell.prompt.toLocaleString('en-US')}${cell.cut ? '+' : ''}` : interval(cell);
}

/** The head and the rows of the table of models by domain. */
export function matrixRows(): [heads: string[], rows: string[][]] {
  const own = Object.entries(stored<Matrix>('matrix')).map(([model, cells]) => [
    `\`${model}\``,
    ...PLACES.map(({ place }) => shown(cells[place])),
  ]);
  const paper = Object.entries(PAPER).map(([model, figures]) => [`${model}, paper`, '', '', ...figures.map((figure) => figure.toFixed(1))]);
  return [
    ['model', ...PLACES.map(({ head }) => head)],
    [...own, ...paper],
  ];
}

/** The head and the rows of the table of training on one domain. */
export function crossRows(): [heads: string[], rows: string[][]] {
  const figure = (value: Interval | undefined, sign = '') => (value ? (value.value > 0 ? sign : '') + interval(value) : '');
  const rows = Object.entries(stored<CrossDomain>('cross-domain')).map(([arm, { retail, telecom }]) => [
    `\`${arm}\``,
    ...[figure(retail.pass), figure(retail.gain, '+'), figure(telecom.pass), figure(telecom.gain, '+'), figure(telecom.asks)],
  ]);
  return [['arm', 'pass^1, retail', 'minus start', 'pass^1, telecom', 'minus start', 'asks, telecom'], rows];
}
