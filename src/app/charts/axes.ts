/** @file Computes the axes of a chart, that is, the range of steps and of values, and the pixels of a bar. */

/** The range of steps to draw. `from` null means from the first step; `to` null means up to the newest step. */
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

/** The ends of the step axis, given the first and the last step of the data. An empty range is ignored. No end is below 0. */
export function stepRange({ from, to }: Zoom, first = 0, last = first): [number, number] {
  const [min, max] = [from ?? first, to ?? last];
  if (min < max) return [min, max];
  return first < last ? [first, last] : [Math.max(0, first - 1), last + 1];
}

/** How many steps the axis extends at both ends, to fit half a bar. Below 0.5: a drag over the axis rounds to the first and last step. */
export const HALF_BAR = 0.49;

/** If a step is at least this many pixels wide, its bar has a gap to the next bar. */
const ROOM_FOR_GAP = 4;
const WIDEST_BAR = 64;

/**
 * The left edge and the width of a bar in whole pixels. Narrow bars have no gaps, because little colour would be left between the gaps.
 * @param from the pixel at which the bar's step begins
 * @param to the pixel at which the next step begins
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
