/** @file One chart on a canvas: uPlot made from curves, colours from the page's tokens. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartData, Curve } from '../logic/charts.ts';
import { resolveColor } from '../ui/color.ts';

export interface PlotOptions {
  max: number | undefined;
  /** Text at a tick of the value axis. */
  tick: (value: number) => string;
  /** The row under the cursor of any synced chart, or null. */
  onhover: (row: number | null) => void;
  onpick?: (step: number) => void;
}

export interface Plot {
  /** Draws other values in the same curves. */
  update(data: ChartData): void;
  destroy(): void;
}

/** True when `update` is not enough: the curves themselves are others. */
export const shapeOf = (data: ChartData) => data.curves.map(({ key, role }) => `${key} ${role}`).join('\n');

/** Draws into `element` and follows its size. Colours are read once: make a new plot when the theme changes. */
export function createPlot(element: HTMLElement, data: ChartData, options: PlotOptions): Plot {
  const css = getComputedStyle(element);
  // Tokens are light-dark() pairs: only a used colour is resolved to one of them.
  const color = (name: string) => resolveColor(element, name);
  const axis = { stroke: color('--muted'), font: `11px ${css.fontFamily}`, ticks: { show: false }, gap: 6 };
  const grid = { stroke: color('--line'), width: 1 };
  const plot = new uPlot(
    {
      ...sizeOf(element),
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { y: false, sync: { key: 'steps', scales: ['x', null] }, drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        x: { time: false, range: (_, min, max) => (min === max ? [min - 1, max + 1] : [min, max]) },
        y: { range: (_, min, max) => [Math.min(0, min ?? 0), options.max ?? (max > 0 ? 1.08 * max : 1)] },
      },
      axes: [
        { ...axis, size: 24, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], space: 44 },
        { ...axis, size: 46, grid, space: 32, values: (_, ticks) => ticks.map(options.tick) },
      ],
      series: [{}, ...data.curves.map((curve) => seriesOf(curve, color(curve.color)))],
      hooks: { setCursor: [(u) => options.onhover(u.cursor.idx ?? null)] },
    },
    aligned(data),
    element,
  );
  plot.over.addEventListener('click', () => {
    const step = plot.data[0][plot.cursor.idx ?? -1];
    if (step !== undefined) options.onpick?.(step);
  });
  const observer = new ResizeObserver(() => plot.setSize(sizeOf(element)));
  observer.observe(element);
  return {
    update: (next) => plot.setData(aligned(next)),
    destroy: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function seriesOf({ role, sparse }: Curve, stroke: string): uPlot.Series {
  if (role === 'area') return { stroke, fill: stroke, width: 1, points: { show: false } };
  if (role === 'raw') return { stroke: withAlpha(stroke, 0.35), width: 1, points: { show: false } };
  return { stroke, width: 2, spanGaps: sparse, points: { show: sparse ? true : undefined, size: 6, fill: stroke } };
}

const aligned = ({ steps, curves }: ChartData): uPlot.AlignedData => [steps, ...curves.map(({ values }) => values)];
const sizeOf = ({ clientWidth, clientHeight }: HTMLElement) => ({ width: clientWidth, height: clientHeight });

function withAlpha(color: string, alpha: number): string {
  return color.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`);
}
