/** @file The charts of the page, and how the metric columns of a run become a chart's lines. */
import { number, percent, seconds, tickSeconds } from '../kit/format.ts';
import { heldOutName } from '../../records/run.ts';
import { type MetricSeries } from '../run-data/series.ts';
import { smooth } from './smoothing.ts';

export interface Line {
  /** Metric name of verl or MUA-RL. */
  key: string;
  label: string;
  /** The CSS variable with the colour. */
  color: string;
  /** Not measured at every step: drawn as joined points, never smoothed. */
  sparse?: boolean;
  /** The ends of each value's interval, drawn as a band. */
  band?: (series: MetricSeries) => Band;
}

/** One value for each row of the series. */
export interface Band {
  low: (number | null)[];
  high: (number | null)[];
}

export interface ChartSpec {
  id: string;
  title: string;
  /** What the chart shows and how to read it. */
  help: string;
  /** `stacked`: one bar for each step, the lines above each other. */
  kind: 'lines' | 'stacked';
  /** The fixed upper end of the y axis. Without it the axis fits the values. */
  max?: number;
  format: (value: number) => string;
  /** The format of the axis, if `format` is too long. */
  tick?: (value: number) => string;
  /** How many lines are reserved for the legend. */
  legendLines?: number;
  lines: (series: MetricSeries) => Line[];
}

/** The range of steps to draw. null means the first (`from`) or the newest step (`to`). */
export interface Zoom {
  from: number | null;
  to: number | null;
}

export const ALL_STEPS: Zoom = { from: null, to: null };
export const isZoomed = ({ from, to }: Zoom) => from !== null || to !== null;

/** The range of whole steps between two positions on the axis, or null if it has fewer than two steps. */
export function zoomOf(a: number, b: number): Zoom | null {
  const [from, to] = [Math.max(0, Math.round(Math.min(a, b))), Math.round(Math.max(a, b))];
  return from < to ? { from, to } : null;
}

/** The ends of the step axis, given the first and the last step. An empty range is ignored. No end is below 0. */
export function stepRange({ from, to }: Zoom, first = 0, last = first): [number, number] {
  const [min, max] = [from ?? first, to ?? last];
  if (min < max) return [min, max];
  return first < last ? [first, last] : [Math.max(0, first - 1), last + 1];
}

/** Room for half a bar at both ends of the step axis. Below 0.5, so that a drag over the whole axis rounds to its first and last step. */
export const HALF_BAR = 0.49;

/** From this many pixels on, bars have gaps. */
const ROOM_FOR_GAP = 4;
const WIDEST_BAR = 64;

/**
 * The left edge and the width of a bar in whole pixels. Narrow bars touch: gaps would cover the colours of a long run.
 * @param from where the bar's step begins, in pixels
 * @param to where the next step begins
 */
export function barPixels(from: number, to: number): { left: number; width: number } {
  const room = Math.max(1, Math.round(to) - Math.round(from));
  const width = Math.min(WIDEST_BAR, room < ROOM_FOR_GAP ? room : room - Math.max(1, room >> 3));
  return { left: Math.round(from) + ((room - width) >> 1), width };
}

/** The ends of the value axis. The axis includes 0 and has a margin of 8 %. */
export function valueRange(min: number | null, max: number | null, fixed?: number): [number, number] {
  const [low, high] = [1.08 * Math.min(0, min ?? 0), fixed ?? 1.08 * Math.max(0, max ?? 0)];
  return low < high ? [low, high] : [0, 1];
}

const one =
  (key: string, label: string): ChartSpec['lines'] =>
  () => [{ key, label, color: '--accent' }];
const PALETTE = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];

export const CHARTS: ChartSpec[] = [
  {
    id: 'reward',
    title: 'Reward',
    help: 'Share of rollouts that left the database exactly as the task asks. Held-out: on tasks that are never trained on.',
    kind: 'lines',
    max: 1,
    format: percent,
    lines: ({ names }) => [
      { key: 'critic/score/mean', label: 'training', color: '--accent' },
      { key: heldOutName(names) ?? 'val-core', label: 'held-out', color: '--series-2', sparse: true },
    ],
  },
  {
    id: 'groups',
    title: 'Group outcomes',
    help: 'Only a mixed group shows which rollouts were better. The other groups have no gradient.',
    kind: 'stacked',
    max: 1,
    format: percent,
    legendLines: 2,
    lines: () => [
      { key: 'trajectories/all_correct_query_ratio', label: 'all correct', color: '--good' },
      { key: 'trajectories/valid_query_ratio', label: 'mixed', color: '--mixed' },
      { key: 'trajectories/all_wrong_query_ratio', label: 'all wrong', color: '--bad' },
    ],
  },
  {
    id: 'kl',
    title: 'KL to the reference, trained tokens',
    help: 'How far the agent has moved from the reference model, in nats per token, on the tokens of the update. Groups left out of the update are not measured.',
    kind: 'lines',
    format: number,
    lines: one('actor/kl_loss', 'KL'),
  },
  {
    id: 'entropy',
    title: 'Entropy, trained tokens',
    help: 'How undecided the agent is, in nats, on the tokens of the update. At zero, exploration ends. Groups left out of the update are not measured.',
    kind: 'lines',
    format: number,
    lines: one('actor/entropy', 'entropy'),
  },
  {
    id: 'turns',
    title: 'Turns',
    help: 'Tool results and customer replies per rollout, on average.',
    kind: 'lines',
    format: number,
    lines: one('rollout/turns/mean', 'turns'),
  },
  {
    id: 'length',
    title: 'Response length',
    help: 'Tokens that the agent sampled per rollout, on average. Tool results and customer replies do not count.',
    kind: 'lines',
    format: number,
    lines: one('response_length_only_model/mean', 'tokens'),
  },
  {
    id: 'tools',
    title: 'Tool mix',
    help: 'Calls of each tool per rollout, on average. Only the six most used tools.',
    kind: 'stacked',
    format: number,
    legendLines: 6,
    lines: toolLines,
  },
  {
    id: 'time',
    title: 'Time of a step',
    help: 'Seconds per step: sampling rollouts, scoring them by the reference model, updating the weights, scoring one group for the inspector.',
    kind: 'stacked',
    format: seconds,
    tick: tickSeconds,
    legendLines: 2,
    lines: () => [
      { key: 'timing_s/gen', label: 'rollout', color: '--series-1' },
      { key: 'timing_s/ref', label: 'score', color: '--series-2' },
      { key: 'timing_s/update_actor', label: 'update', color: '--series-3' },
      { key: 'timing_s/inspect', label: 'inspect', color: '--series-4' },
    ],
  },
];

/** Charts that can show a training problem before the reward does. */
export const HEALTH_CHARTS: ChartSpec[] = [
  {
    id: 'grad-norm',
    title: 'Gradient norm',
    help: 'The norm before clipping, on average over the updates of a step. A jump means that an update was too large.',
    kind: 'lines',
    format: number,
    lines: one('actor/grad_norm', 'norm'),
  },
  {
    id: 'clip-fraction',
    title: 'Clipped tokens, of those trained',
    help: 'Share of the trained tokens whose probability ratio was clipped. With one update per step, no token is clipped.',
    kind: 'lines',
    format: number,
    lines: () => [
      { key: 'actor/pg_clipfrac', label: 'clip', color: '--series-1' },
      { key: 'actor/pg_clipfrac_lower', label: 'dual clip', color: '--series-2' },
    ],
  },
  {
    id: 'sampler-mismatch',
    title: 'Sampler mismatch',
    help: 'How much sampler and trainer differ in the probability of a token. Rounding alone stays far below 0.001.',
    kind: 'lines',
    format: number,
    lines: () => [
      { key: 'training/rollout_probs_diff_max', label: 'maximum', color: '--series-1' },
      { key: 'training/rollout_probs_diff_mean', label: 'mean', color: '--series-2' },
    ],
  },
];

/** The chart of one metric, by the metric's name. */
export const metricChart = (name: string): ChartSpec => ({
  id: name.replace(/[^\w.@-]+/g, '-'),
  title: name,
  help: 'The logged values, under the metric’s name in verl or MUA-RL.',
  kind: 'lines',
  format: number,
  lines: () => [{ key: name, label: 'value', color: '--accent', sparse: name.startsWith('val-') }],
});

const LOSS: ChartSpec = {
  id: 'loss',
  title: 'Loss',
  help: 'The mean negative log-likelihood of the tokens that a step trains on, in nats, before its update.',
  kind: 'lines',
  format: number,
  lines: one('train/loss', 'loss'),
};

/** The charts of a run: those whose metrics its algorithm has. Runs of earlier versions used GRPO. */
export function chartsOf(algorithm = 'grpo'): { main: ChartSpec[]; health: ChartSpec[] } {
  if (algorithm === 'grpo') return { main: CHARTS, health: HEALTH_CHARTS };
  const shown = algorithm === 'rft' ? (id: string) => id !== 'kl' : (id: string) => ['reward', 'entropy', 'time'].includes(id);
  const [reward, ...others] = CHARTS.filter(({ id }) => shown(id));
  return { main: [reward!, LOSS, ...others], health: HEALTH_CHARTS.filter(({ id }) => id === 'grad-norm') };
}

const TOOL_TIMES = /^tool_call\/(.+)\/times\/mean$/;

function toolLines(series: MetricSeries): Line[] {
  const total = (key: string) => series.values(key).reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const all = series.names.filter((name) => TOOL_TIMES.test(name)).sort();
  const most = new Set(all.toSorted((a, b) => total(b) - total(a)).slice(0, PALETTE.length));
  // Sorted by name, so that a tool keeps its colour when the ranking changes.
  return all.filter((key) => most.has(key)).map((key, i) => ({ key, label: TOOL_TIMES.exec(key)![1]!, color: PALETTE[i]! }));
}

/** One curve for uPlot. */
export interface Curve extends Line {
  values: (number | null)[];
  /** `high` is followed by `low`: the ends of a band. */
  role: 'raw' | 'smooth' | 'bar' | 'high' | 'low';
}

export interface ChartData {
  steps: number[];
  lines: Line[];
  /** The measured values, one array per line, for tables and legends. */
  raw: (number | null)[][];
  /** The intervals of the values, by line; null for a line without. */
  bands: (Band | null)[];
  /** In drawing order. */
  curves: Curve[];
}

/** The columns of a chart: raw and smoothed lines, or bars. Each bar reaches from 0 to the sum of all values up to its own. */
export function chartData(spec: ChartSpec, series: MetricSeries, smoothing: number): ChartData {
  const lines = spec.lines(series);
  const raw = lines.map((line) => series.values(line.key));
  // Step 0, before training, has only held-out values.
  const kept = series.steps().map((_, row) => raw.some((values) => values[row] !== null));
  const steps = series.steps().filter((_, row) => kept[row]);
  const shownOf = (values: (number | null)[]) => values.filter((_, row) => kept[row]);
  const shown = raw.map(shownOf);
  const bands = lines.map(({ band }) => {
    const all = band?.(series);
    return all ? { low: shownOf(all.low), high: shownOf(all.high) } : null;
  });
  const curves = spec.kind === 'stacked' ? bars(lines, shown) : lines.flatMap((line, i) => curvesOf(line, shown[i]!, bands[i]!, smoothing));
  return { steps, lines, raw: shown, bands, curves };
}

/** The header and the rows of a chart's file: a column for the steps, one for each line, and two more for its interval. */
export function chartTable({ steps, lines, raw, bands }: ChartData): { header: string[]; rows: (number | null)[][] } {
  const columns = lines.flatMap(({ label }, i) => {
    const band = bands[i];
    const ends = band
      ? [
          { name: `${label}, low`, values: band.low },
          { name: `${label}, high`, values: band.high },
        ]
      : [];
    return [{ name: label, values: raw[i]! }, ...ends];
  });
  return {
    header: ['step', ...columns.map(({ name }) => name)],
    rows: steps.map((step, row) => [step, ...columns.map(({ values }) => values[row]!)]),
  };
}

/** The rows of values without a neighbour: no line reaches them, so they need a dot. */
export function isolatedRows(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values).flatMap((value, row) => (value != null && values[row - 1] == null && values[row + 1] == null ? [row] : []));
}

function curvesOf(line: Line, values: (number | null)[], band: Band | null, smoothing: number): Curve[] {
  const ends = (['high', 'low'] as const).flatMap((role): Curve[] => (band ? [{ ...line, values: band[role], role }] : []));
  if (line.sparse || smoothing === 0) return [...ends, { ...line, values, role: 'smooth' }];
  return [...ends, { ...line, values, role: 'raw' }, { ...line, values: smooth(values, smoothing), role: 'smooth' }];
}

/** Stacked bars, the tallest first, because later bars are drawn over earlier ones. */
function bars(lines: readonly Line[], raw: readonly (number | null)[][]): Curve[] {
  const sums = (raw[0] ?? []).map(() => 0);
  const curves = lines.map((line, i): Curve => {
    const values = sums.map((sum, row) => (sums[row] = sum + (raw[i]![row] ?? 0)));
    return { ...line, values, role: 'bar' };
  });
  return curves.reverse();
}
