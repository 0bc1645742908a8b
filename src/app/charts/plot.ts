/** @file Draws one chart with uPlot, in the colours of the page's CSS variables. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { barPixels, HALF_BAR, isZoomed, stepRange, valueRange, type Zoom, zoomOf } from './axes.ts';
import { type ChartData, type Curve, isolatedRows } from './charts.ts';
import { resolveColor } from '../kit/color.ts';

export interface PlotOptions {
  max: number | undefined;
  /** Formats the ticks of the value axis. */
  tick: (value: number) => string;
  /** Called with the row under the cursor, or null. The cursor can be over another chart, because all charts share one cursor. */
  onhover: (row: number | null) => void;
  /** Steps at which an alarm begins. Each gets a vertical line. */
  marks: readonly number[];
  onpick?: (step: number) => void;
  /** Called when the visitor drags over a range of steps; with null after a double click, which shows all steps. */
  onzoom?: (zoom: Zoom | null) => void;
}

export interface Plot {
  /** Draws new values of the same curves, or another range of steps. */
  update(data: ChartData, zoom: Zoom): void;
  destroy(): void;
}

/** If this is equal for old and new data, `update` can draw the new data. Otherwise a new plot is needed. */
export const shapeOf = (data: ChartData) => data.curves.map(({ key, role }) => `${key} ${role}`).join('\n');

/** Two clicks within this time are a double click, which picks no step. */
const DOUBLE_CLICK_MS = 300;

/** Draws a chart into `element` and follows its size. The colours are read once, so a change of theme needs a new plot. */
export function createPlot(element: HTMLElement, data: ChartData, first: Zoom, options: PlotOptions): Plot {
  let zoom = first;
  const css = getComputedStyle(element);
  // The CSS variables are light-dark() pairs, so the browser must resolve them to a colour.
  const color = (name: string) => resolveColor(element, name);
  const axis = { stroke: color('--muted'), font: `11px ${css.fontFamily}`, ticks: { show: false }, gap: 6 };
  const grid = { stroke: color('--line'), width: 1 };
  const margin = data.curves.some(({ role }) => role === 'bar') ? HALF_BAR : 0;
  const plot = new uPlot(
    {
      ...sizeOf(element),
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: {
        y: false,
        // uPlot syncs only the cursor between charts. All charts read their zoom from the address.
        sync: { key: 'steps', scales: ['x', null], filters: { pub: (type) => type === 'mousemove', sub: () => true } },
        drag: { x: options.onzoom !== undefined, y: false, setScale: false, dist: 8, click: () => {} },
        points: { size: 6 },
      },
      scales: {
        // Without this range, uPlot would draw 0 to 100 for a single step, and no axis if there are no steps.
        x: { time: false, range: ({ data: [steps] }) => withMargin(stepRange(zoom, steps[0], steps.at(-1)), margin) },
        y: { range: (_, min, max) => valueRange(min, max, options.max) },
      },
      axes: [
        { ...axis, size: 24, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], space: 44 },
        { ...axis, size: 46, grid, space: 32, values: (_, ticks) => ticks.map(options.tick) },
      ],
      series: [{}, ...data.curves.map((curve) => seriesOf(curve, color(curve.color)))],
      // In uPlot, series 0 is the steps, so curve i is series i + 1.
      bands: data.curves.flatMap(({ role, color: name }, i) =>
        role === 'high' ? [{ series: [i + 1, i + 2] as uPlot.Band.Bounds, fill: withAlpha(color(name), 0.15) }] : [],
      ),
      hooks: {
        draw: [(u) => drawMarks(u, options.marks, color('--bad'))],
        setCursor: [(u) => options.onhover(u.cursor.idx ?? null)],
        setSelect: [
          (u) => {
            const { left, width } = u.select;
            const dragged = zoomOf(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            selected = true;
            if (dragged) options.onzoom?.(dragged);
          },
        ],
      },
    },
    aligned(data),
    element,
  );
  /** True if the next click is the end of a drag. */
  let selected = false;
  let click = 0;
  const pick = (step: number | undefined) => {
    if (step !== undefined) options.onpick?.(step);
  };
  plot.over.addEventListener('mousedown', () => (selected = false));
  plot.over.addEventListener('click', () => {
    clearTimeout(click);
    if (selected) return;
    const step = plot.data[0][plot.cursor.idx ?? -1];
    // While zoomed, wait for a possible second click, because a double click zooms out. A pick at once could scroll the chart away.
    if (isZoomed(zoom)) click = window.setTimeout(() => pick(step), DOUBLE_CLICK_MS);
    else pick(step);
  });
  plot.over.addEventListener('dblclick', () => {
    clearTimeout(click);
    options.onzoom?.(null);
  });
  const observer = new ResizeObserver(() => plot.setSize(sizeOf(element)));
  observer.observe(element);
  return {
    update: (next, steps) => {
      zoom = steps;
      plot.setData(aligned(next));
    },
    destroy: () => {
      clearTimeout(click);
      observer.disconnect();
      plot.destroy();
    },
  };
}

function drawMarks({ ctx, bbox, valToPos }: uPlot, marks: readonly number[], stroke: string): void {
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.setLineDash([4, 4]);
  ctx.lineWidth = devicePixelRatio;
  for (const step of marks) {
    const x = Math.round(valToPos(step, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function seriesOf({ role, sparse }: Curve, stroke: string): uPlot.Series {
  if (role === 'bar') return { fill: stroke, width: 0, paths: barPath, points: { show: false } };
  if (role === 'high' || role === 'low') return { width: 0, spanGaps: sparse, points: { show: false } };
  if (role === 'raw') return { stroke: withAlpha(stroke, 0.35), width: 1, points: { show: false } };
  return { stroke, width: 2, spanGaps: sparse, points: sparse ? { show: true, size: 6, fill: stroke } : dots(stroke) };
}

const withMargin = ([first, last]: [number, number], margin: number): [number, number] => [first - margin, last + margin];

/** Draws one bar for each step. The edges of uPlot's own bars are blurred, which looks like stripes between narrow bars. */
function barPath(u: uPlot, series: number, from: number, to: number): uPlot.Series.Paths {
  const fill = new Path2D();
  const bottom = u.valToPos(0, 'y', true);
  for (let row = from; row <= to; row++) {
    const [step, value] = [u.data[0][row]!, u.data[series]![row]];
    if (value == null) continue;
    const { left, width } = barPixels(u.valToPos(step - 0.5, 'x', true), u.valToPos(step + 0.5, 'x', true));
    const top = u.valToPos(value, 'y', true);
    fill.rect(left, top, width, bottom - top);
  }
  return { fill };
}

/** Dots for the values that no line reaches, such as the first value of a run. */
const dots = (fill: string): uPlot.Series.Points => ({
  show: true,
  size: 6,
  fill,
  filter: (u, series) => isolatedRows(u.data[series]!),
});

const aligned = ({ steps, curves }: ChartData): uPlot.AlignedData => [steps, ...curves.map(({ values }) => values)];
const sizeOf = ({ clientWidth, clientHeight }: HTMLElement) => ({ width: clientWidth, height: clientHeight });

function withAlpha(color: string, alpha: number): string {
  return color.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`);
}
