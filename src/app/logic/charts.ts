/** @file Which metrics the page draws, and how a chart's lines come from the columns of a run. */
import { number, percent, seconds, tickSeconds } from './format.ts';
import { heldOutName, type MetricSeries } from './series.ts';
import { smooth } from './smoothing.ts';

export interface Line {
  /** Metric name (verl / MUA-RL). */
  key: string;
  label: string;
  /** CSS variable of its colour. */
  color: string;
  /** Measured now and then: points, joined, never smoothed. */
  sparse?: boolean;
}

export interface ChartSpec {
  id: string;
  title: string;
  /** What it says and how to read it, one sentence. */
  help: string;
  kind: 'lines' | 'stacked';
  /** Fixed bounds of the y axis; without them it starts at 0 and fits. */
  max?: number;
  format: (value: number) => string;
  /** Of the axis, where `format` is too long for it. */
  tick?: (value: number) => string;
  /** Lines to reserve for a legend that grows. */
  legendLines?: number;
  lines: (series: MetricSeries) => Line[];
}

/** The steps to draw; null: from the first, to the newest. */
export interface Zoom {
  from: number | null;
  to: number | null;
}

export const ALL_STEPS: Zoom = { from: null, to: null };
export const isZoomed = ({ from, to }: Zoom) => from !== null || to !== null;

/** Whole steps between two places on the axis; null where they are fewer than two. */
export function zoomOf(a: number, b: number): Zoom | null {
  const [from, to] = [Math.max(0, Math.round(Math.min(a, b))), Math.round(Math.max(a, b))];
  return from < to ? { from, to } : null;
}

/** Ends of the axis of steps, given the first and the last there is. Ends that leave nothing between them count for nothing; no step is below 0. */
export function stepRange({ from, to }: Zoom, first = 0, last = first): [number, number] {
  const [min, max] = [from ?? first, to ?? last];
  if (min < max) return [min, max];
  return first < last ? [first, last] : [Math.max(0, first - 1), last + 1];
}

/** Ends of the axis of values: with 0, and a little room beyond the outermost. */
export function valueRange(min: number | null, max: number | null, fixed?: number): [number, number] {
  const [low, high] = [1.08 * Math.min(0, min ?? 0), fixed ?? 1.08 * Math.max(0, max ?? 0)];
  return low < high ? [low, high] : [0, 1];
}

const one = (key: string, label: string): ChartSpec['lines'] => () => [{ key, label, color: '--accent' }];
const PALETTE = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];

export const CHARTS: ChartSpec[] = [
  {
    id: 'reward',
    title: 'Reward',
    help: 'Share of rollouts that left the database exactly as the task asks; held-out: on customers never trained on.',
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
    help: 'Only a mixed group tells the agent which of its tries was better: the others carry no gradient.',
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
    title: 'KL to the reference',
    help: 'How far the policy model has moved from where it started, in nats a token (k3 estimate).',
    kind: 'lines',
    format: number,
    lines: one('actor/kl_loss', 'KL'),
  },
  {
    id: 'entropy',
    title: 'Entropy',
    help: 'How undecided the policy model is at its own tokens, in nats. A fall to zero ends exploration.',
    kind: 'lines',
    format: number,
    lines: one('actor/entropy', 'entropy'),
  },
  {
    id: 'turns',
    title: 'Turns',
    help: 'Tool calls and user replies of a rollout, on average.',
    kind: 'lines',
    format: number,
    lines: one('rollout/turns/mean', 'turns'),
  },
  {
    id: 'length',
    title: 'Response length',
    help: 'Tokens the policy model sampled in a rollout, on average; tool results and users are not counted.',
    kind: 'lines',
    format: number,
    lines: one('response_length_only_model/mean', 'tokens'),
  },
  {
    id: 'tools',
    title: 'Tool mix',
    help: 'Calls of each tool in a rollout, on average; the six most used.',
    kind: 'stacked',
    format: number,
    legendLines: 6,
    lines: toolLines,
  },
  {
    id: 'time',
    title: 'Time of a step',
    help: 'Seconds of a step: rolling out conversations, scoring by the reference, updating the weights, scoring one group for the inspector.',
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

/** What tells that training is ill before the reward does. */
export const HEALTH_CHARTS: ChartSpec[] = [
  {
    id: 'grad-norm',
    title: 'Gradient norm',
    help: 'Before it is clipped, on average over the updates of a step. A leap says that a step was too large.',
    kind: 'lines',
    format: number,
    lines: one('actor/grad_norm', 'norm'),
  },
  {
    id: 'clip-fraction',
    title: 'Clipped tokens',
    help: 'Share of trained tokens whose ratio the clip held back. None is clipped with one update a step.',
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
    help: 'How far sampler and trainer differ in the probability of a token. It should be rounding, far below 0.001.',
    kind: 'lines',
    format: number,
    lines: () => [
      { key: 'training/rollout_probs_diff_max', label: 'largest', color: '--series-1' },
      { key: 'training/rollout_probs_diff_mean', label: 'mean', color: '--series-2' },
    ],
  },
];

/** One metric by its name. */
export const metricChart = (name: string): ChartSpec => ({
  id: name.replace(/[^\w.@-]+/g, '-'),
  title: name,
  help: 'As it was logged, under the name that verl or MUA-RL has for it.',
  kind: 'lines',
  format: number,
  lines: () => [{ key: name, label: 'value', color: '--accent', sparse: name.startsWith('val-') }],
});

const TOOL_TIMES = /^tool_call\/(.+)\/times\/mean$/;

function toolLines(series: MetricSeries): Line[] {
  const total = (key: string) => series.values(key).reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const all = series.names.filter((name) => TOOL_TIMES.test(name)).sort();
  const most = new Set(all.toSorted((a, b) => total(b) - total(a)).slice(0, PALETTE.length));
  // By name, so that a tool keeps its colour when the ranking changes.
  return all.filter((key) => most.has(key)).map((key, i) => ({ key, label: TOOL_TIMES.exec(key)![1]!, color: PALETTE[i]! }));
}

/** One curve as uPlot takes it, in drawing order. */
export interface Curve extends Line {
  values: (number | null)[];
  role: 'raw' | 'smooth' | 'area';
}

export interface ChartData {
  steps: number[];
  lines: Line[];
  /** Values as measured, one array a line: for tables and legends. */
  raw: (number | null)[][];
  curves: Curve[];
}

/** Columns of a chart: raw and smoothed lines, or areas that each reach from 0 to the sum up to theirs. */
export function chartData(spec: ChartSpec, series: MetricSeries, smoothing: number): ChartData {
  const lines = spec.lines(series);
  const raw = lines.map((line) => series.values(line.key));
  // A step before training (0) has held-out figures only.
  const kept = series.steps().map((_, row) => raw.some((values) => values[row] !== null));
  const steps = series.steps().filter((_, row) => kept[row]);
  const shown = raw.map((values) => values.filter((_, row) => kept[row]));
  const curves = spec.kind === 'stacked' ? areas(lines, shown) : lines.flatMap((line, i) => curvesOf(line, shown[i]!, smoothing));
  return { steps, lines, raw: shown, curves };
}

function curvesOf(line: Line, values: (number | null)[], smoothing: number): Curve[] {
  if (line.sparse || smoothing === 0) return [{ ...line, values, role: 'smooth' }];
  return [
    { ...line, values, role: 'raw' },
    { ...line, values: smooth(values, smoothing), role: 'smooth' },
  ];
}

/** The tallest first, so that each later area covers its own share. */
function areas(lines: readonly Line[], raw: readonly (number | null)[][]): Curve[] {
  const sums = (raw[0] ?? []).map(() => 0);
  const curves = lines.map((line, i): Curve => {
    const values = sums.map((sum, row) => (sums[row] = sum + (raw[i]![row] ?? 0)));
    return { ...line, values, role: 'area' };
  });
  return curves.reverse();
}
