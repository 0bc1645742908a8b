/** @file Formats numbers, times and sizes. */

export const percent = (value: number) => `${(100 * value).toFixed(0)} %`;

/** A count with its noun: `1 task`, `2 tasks`, `1,200 tasks`. */
export const count = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

/** Writes a number with three significant digits and a true minus sign (−). Very large and very small numbers have an exponent. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text =
    size < 1e-4 || size >= 1e6
      ? value.toExponential(1)
      : size >= 100
        ? Math.round(value).toLocaleString('en')
        : String(Number(value.toPrecision(3)));
  return text.replaceAll('-', '−');
}

/** A number with its sign and two decimals. */
export function signed(value: number): string {
  const text = Math.abs(value).toFixed(2);
  return Number(text) === 0 ? '0' : `${value < 0 ? '−' : '+'}${text}`;
}

export function seconds(value: number): string {
  if (value > 0 && value < 1) return `${Math.round(1000 * value)} ms`;
  if (value < 60) return `${Number(value.toPrecision(3))} s`;
  const minutes = Math.floor(value / 60);
  return minutes < 60 ? `${minutes} min ${Math.round(value % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Writes an estimated time, rounded: to 10 s, to a minute, from 90 minutes on to an hour or, from two days on, to a day. */
export function roughTime(value: number): string {
  if (value < 90) return `about ${10 * Math.max(1, Math.round(value / 10))} s`;
  if (value < 5400) return `about ${Math.round(value / 60)} min`;
  return value < 48 * 3600 ? `about ${Math.round(value / 3600)} h` : `about ${count(Math.round(value / 86_400), 'day')}`;
}

/** Seconds in a form that is short enough for an axis. */
export const tickSeconds = (value: number) => `${number(value)} s`;

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
export const dateTime = (time: number) => dates.format(time);

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(3, Math.floor(Math.log10(value) / 3));
  return `${(value / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${['B', 'kB', 'MB', 'GB'][power]}`;
}
