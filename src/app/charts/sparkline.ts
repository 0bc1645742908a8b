/** @file Positions in a sparkline: a small curve without axes. */

export const SPARK_WIDTH = 96;
export const SPARK_HEIGHT = 24;
/** Pixels at the edges, so that half a stroke and the dot at the end fit. */
const MARGIN = 3;

/** The places of points in pixels. Steps fill the width; values from 0 (bottom) to 1 (top) fill the height. */
export function sparkPlaces(points: readonly { step: number; value: number }[]): { x: number; y: number }[] {
  const [first, last] = [points[0]?.step ?? 0, points.at(-1)?.step ?? 0];
  const across = (step: number) => (last > first ? (step - first) / (last - first) : 1);
  return points.map(({ step, value }) => ({
    x: MARGIN + (SPARK_WIDTH - 2 * MARGIN) * across(step),
    y: MARGIN + (SPARK_HEIGHT - 2 * MARGIN) * (1 - Math.min(1, Math.max(0, value))),
  }));
}
