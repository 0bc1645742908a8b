/** @file How the metric columns of a run become the lines of a chart. */
import type { MetricSeries } from '../run-data/series.ts';
import { smooth } from './smoothing.ts';

export interface Line {
  /** Metric name of verl or MUA-RL. */
  key: string;
  label: string;
  /** The CSS variable with the colour. */
  color: string;
  /** True for a metric that is not measured at every step. Its points are joined by lines, and never smoothed. */
  sparse?: boolean;
  /** Computes the interval of each value. The chart draws the intervals as a band. */
  band?: (series: MetricSeries) => Band;
}

/** The low and the high ends of intervals, with one entry for each row of the series. */
export interface Band {
  low: (number | null)[];
  high: (number | null)[];
}

export interface ChartSpec {
  id: string;
  title: string;
  /** What the chart shows and how to read it. */
  help: string;
  /** `stacked` draws one bar for each step, in which the values of the lines are stacked. */
  kind: 'lines' | 'stacked';
  /** The fixed upper end of the y axis. If absent, the axis fits the values. */
  max?: number;
  format: (value: number) => string;
  /** A shorter format for the ticks of the axis. If absent, they use `format`. */
  tick?: (value: number) => string;
  /** How many lines of text are reserved for the legend. */
  legendLines?: number;
  lines: (series: MetricSeries) => Line[];
}

/** Whether the run has measured a metric of the chart. */
export const hasValues = ({ lines }: Pick<ChartSpec, 'lines'>, series: MetricSeries): boolean =>
  lines(series).some(({ key }) => series.latest(key) !== null);

/** One curve for uPlot. */
export interface Curve extends Line {
  values: (number | null)[];
  /** `high` and `low` are the ends of a band. The curve after a `high` is its `low`. */
  role: 'raw' | 'smooth' | 'bar' | 'high' | 'low';
}

export interface ChartData {
  steps: number[];
  lines: Line[];
  /** The measured values, one array per line, for tables and legends. */
  raw: (number | null)[][];
  /** The intervals of the values, one band per line; null for a line without intervals. */
  bands: (Band | null)[];
  /** The curves in the order in which they are drawn. */
  curves: Curve[];
}

/** The data of a chart: raw and smoothed lines, or stacked bars. A bar reaches from 0 to the sum of its value and all values below it. */
export function chartData(spec: ChartSpec, series: MetricSeries, smoothing: number): ChartData {
  const lines = spec.lines(series);
  const raw = lines.map((line) => series.values(line.key));
  // A chart without a value at a step leaves that step out, such as step 0 (before training), which has only held-out values.
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

/** The header and the rows of a chart's file. A column has the steps, and each line has a column, or three with its interval. */
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

/** The rows whose neighbours have no value. No line reaches such a value, so it needs a dot. */
export function isolatedRows(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values).flatMap((value, row) => (value != null && values[row - 1] == null && values[row + 1] == null ? [row] : []));
}

function curvesOf(line: Line, values: (number | null)[], band: Band | null, smoothing: number): Curve[] {
  const ends = (['high', 'low'] as const).flatMap((role): Curve[] => (band ? [{ ...line, values: band[role], role }] : []));
  if (line.sparse || smoothing === 0) return [...ends, { ...line, values, role: 'smooth' }];
  return [...ends, { ...line, values, role: 'raw' }, { ...line, values: smooth(values, smoothing), role: 'smooth' }];
}

/** The curves of stacked bars. The tallest is the first, because each bar is drawn over the bars before it. */
function bars(lines: readonly Line[], raw: readonly (number | null)[][]): Curve[] {
  const sums = (raw[0] ?? []).map(() => 0);
  const curves = lines.map((line, i): Curve => {
    const values = sums.map((sum, row) => (sums[row] = sum + (raw[i]![row] ?? 0)));
    return { ...line, values, role: 'bar' };
  });
  return curves.reverse();
}
