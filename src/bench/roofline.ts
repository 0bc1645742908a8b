/** @file Draws the workloads of a bench under the roofline of the device (Williams et al. 2009). Both axes are logarithmic. */
import type { Measured } from './report.ts';

export interface Roofline {
  width: number;
  height: number;
  /** The edges of the frame around the points. */
  frame: { left: number; right: number; top: number; bottom: number };
  /** The corners of the roof, as the attribute `points` of an SVG polyline. */
  roof: string;
  /** The workloads, numbered from 1 in the order of the report. */
  points: { x: number; y: number; number: number; name: string }[];
  x: { at: number; text: string }[];
  y: { at: number; text: string }[];
}

const SIZE = { width: 640, height: 340 };
const FRAME = { left: 64, right: 624, top: 16, bottom: 288 };
export const X_TITLE = 'operations for each byte that must move';
export const Y_TITLE = 'GFLOP/s';

export function roofline({ ceilings, workloads }: Measured): Roofline {
  const places = workloads.map(({ flops, bytes, gflops }) => [flops / bytes, gflops] as const);
  const ridge = ceilings.gflops / ceilings.gb_per_s;
  const xs = [...places.map(([x]) => x), ridge];
  const [left, right] = [powerBelow(Math.min(...xs)), 10 * powerBelow(Math.max(...xs))];
  const ys = [...places.map(([, y]) => y), left * ceilings.gb_per_s, ceilings.gflops];
  const [low, high] = [powerBelow(Math.min(...ys)), 10 * powerBelow(Math.max(...ys))];
  const along = (value: number, from: number, to: number, start: number, end: number) =>
    Math.round(10 * (start + (end - start) * (Math.log(value / from) / Math.log(to / from)))) / 10;
  const x = (value: number) => along(value, left, right, FRAME.left, FRAME.right);
  const y = (value: number) => along(value, low, high, FRAME.bottom, FRAME.top);
  const corners = [
    [left, left * ceilings.gb_per_s],
    [ridge, ceilings.gflops],
    [right, ceilings.gflops],
  ] as const;
  const powers = (from: number, to: number) =>
    Array.from({ length: Math.round(Math.log10(to / from)) + 1 }, (_, i) => Number((from * 10 ** i).toPrecision(1)));
  return {
    ...SIZE,
    frame: FRAME,
    roof: corners.map(([a, b]) => `${x(a)},${y(b)}`).join(' '),
    points: places.map(([a, b], i) => ({ x: x(a), y: y(b), number: i + 1, name: workloads[i]!.name })),
    x: powers(left, right).map((value) => ({ at: x(value), text: String(value) })),
    y: powers(low, high).map((value) => ({ at: y(value), text: String(value) })),
  };
}

const powerBelow = (value: number) => 10 ** Math.floor(Math.log10(value));

/** The picture as an SVG file, with the names of the points. */
export function rooflineSvg(report: Measured): string {
  const { width, height, frame, roof, points, x, y } = roofline(report);
  const text = (at: string, words: string, more = '') => `<text ${at} ${more}>${words}</text>`;
  const { left, right, top, bottom } = frame;
  const rows = points.map(({ number, name }, i) => text(`x="${left}" y="${height + 16 + 16 * i}"`, `${number}  ${name}`));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + 24 + 16 * points.length}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...x.flatMap(({ at, text: words }) => [
      `<path d="M${at} ${top}V${bottom}" stroke="#ddd"/>`,
      text(`x="${at}" y="${bottom + 16}"`, words, 'text-anchor="middle"'),
    ]),
    ...y.flatMap(({ at, text: words }) => [
      `<path d="M${left} ${at}H${right}" stroke="#ddd"/>`,
      text(`x="${left - 6}" y="${at + 4}"`, words, 'text-anchor="end"'),
    ]),
    text(`x="${(left + right) / 2}" y="${bottom + 36}"`, X_TITLE, 'text-anchor="middle"'),
    text(`x="14" y="${(top + bottom) / 2}"`, Y_TITLE, `text-anchor="middle" transform="rotate(-90 14 ${(top + bottom) / 2})"`),
    `<polyline points="${roof}" fill="none" stroke="#555" stroke-width="2"/>`,
    ...points.flatMap(({ x: cx, y: cy, number }) => [
      `<circle cx="${cx}" cy="${cy}" r="9" fill="#2457b3"/>`,
      text(`x="${cx}" y="${cy + 4}"`, String(number), 'fill="#fff" text-anchor="middle"'),
    ]),
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}
