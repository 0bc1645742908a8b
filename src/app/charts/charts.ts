/** @file How the metric columns of a run become the lines of a chart. */
import type { MetricSeries } from '../run-data/series.ts';
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
