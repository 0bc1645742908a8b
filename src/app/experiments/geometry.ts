/** @file Computes positions in the plots of an experiment. */
import type { CurvePoint } from '../../experiments/analysis.ts';
import type { Estimate } from '../../experiments/estimate.ts';

/** Half the width of an axis of differences: the interval end that is farthest from 0, rounded up to a multiple of 0.05, at least 0.1. */
export function halfWidth(estimates: readonly (Estimate | null)[]): number {
  const furthest = Math.max(0.1, ...estimates.flatMap((estimate) => (estimate ? [Math.abs(estimate.low), Math.abs(estimate.high)] : [])));
  return Math.ceil(furthest * 20 - 1e-9) / 20;
}

/** The position of a difference on an axis from −half to half, in percent of the axis. */
export const place = (value: number, half: number) => Math.min(100, Math.max(0, 50 + (50 * value) / half));

export interface Scale {
  steps: number;
  low: number;
  high: number;
}

/** A scale that holds all means. The bands of few seeds can be very wide, so the axis ends at twice the largest or smallest mean. */
export function scaleOf(curves: readonly (readonly CurvePoint[])[], range?: readonly [number, number]): Scale {
  const points = curves.flat();
  const steps = Math.max(1, ...points.map(({ step }) => step));
  if (range) return { steps, low: range[0], high: range[1] };
  const values = points.map(({ value }) => value);
  const [min, max] = [Math.min(0, ...values), Math.max(0, ...values)];
  return { steps, low: min < 0 ? 2 * min : 0, high: max > 0 ? 2 * max : 1 };
}

export const WIDTH = 400;
export const HEIGHT = 180;

const x = (step: number, { steps }: Scale) => Number(((WIDTH * step) / steps).toFixed(1));
const y = (value: number, { low, high }: Scale) =>
  Number((HEIGHT * (1 - Math.min(1, Math.max(0, (value - low) / (high - low))))).toFixed(1));

/** The points of a curve as an SVG polyline. */
export const line = (curve: readonly CurvePoint[], scale: Scale) =>
  curve.map(({ step, value }) => `${x(step, scale)},${y(value, scale)}`).join(' ');

/** The points of an SVG polygon around the intervals of a curve. A curve of one seed has no intervals. */
export function band(curve: readonly CurvePoint[], scale: Scale): string {
  const wide = curve.filter(({ seeds }) => seeds > 1);
  const [above, below] = [wide, wide.toReversed()];
  return [
    ...above.map(({ step, high }) => `${x(step, scale)},${y(high, scale)}`),
    ...below.map(({ step, low }) => `${x(step, scale)},${y(low, scale)}`),
  ].join(' ');
}
