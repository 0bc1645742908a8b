/** Windows of long tables: the drawn rows and their positions, scrolling to a row, and keys. */
import { describe, expect, test } from 'vitest';
import { rowAfterKey, scrollTopFor, type Scroller, windowAt } from '../../../src/app/kit/windowing.ts';

const scroller = (count: number, scrollTop = 0, viewport = 360): Scroller => ({ count, rowHeight: 36, viewport, scrollTop });

/** Rows that are completely visible at the positions of `windowAt`. */
function seen(at: Scroller): [number, number] {
  const { first, last, top } = windowAt(at);
  const rows = Array.from({ length: last - first }, (_, i) => first + i).filter((row) => {
    const y = top + (row - first) * at.rowHeight - at.scrollTop;
    return y >= -0.001 && y + at.rowHeight <= at.viewport + 0.001;
  });
  return [rows[0]!, rows.at(-1)!];
}

describe('the window', () => {
  test('of a short table contains all rows', () => {
    expect(windowAt(scroller(5))).toEqual({ first: 0, last: 5, top: 0, height: 180 });
    expect(windowAt(scroller(0))).toEqual({ first: 0, last: 0, top: 0, height: 0 });
  });

  test('of a long table contains the visible rows and some more, at their positions', () => {
    const { first, last, top, height } = windowAt(scroller(100_000, 36_000));
    expect(height).toBe(3_600_000);
    expect(first).toBeLessThan(1000);
    expect(last).toBeGreaterThan(1010);
    expect(last - first).toBeLessThan(40);
    expect(top).toBe(first * 36);
    expect(seen(scroller(100_000, 36_000))).toEqual([1000, 1009]);
  });

  test('before the box has been measured, and past the end after rows have gone', () => {
    expect(windowAt(scroller(100_000, 0, 0)).last).toBeLessThan(20);
    expect(seen({ ...scroller(20), scrollTop: 360 })).toEqual([10, 19]);
    expect(windowAt({ ...scroller(20), scrollTop: 9000 }).last).toBe(20);
  });

  test.each([1_000_000, 4_000_000])('%d rows: the scroll height is limited, and the first and last row can be reached', (count) => {
    const { height } = windowAt(scroller(count));
    expect(height).toBeLessThan(10_000_000);
    expect(seen(scroller(count))).toEqual([0, 9]);
    expect(seen(scroller(count, height - 360))).toEqual([count - 10, count - 1]);
    // The viewport is full at every scroll position.
    for (const part of [0.000001, 0.00001, 0.3, 0.77777, 0.999999]) {
      const [first, last] = seen(scroller(count, part * (height - 360)));
      expect(last - first).toBeGreaterThanOrEqual(8);
    }
  });
});

describe('scrolling to a row', () => {
  test.each([100_000, 4_000_000])('shows the row, in a table of %d rows', (count) => {
    for (const row of [0, 1, 9, 10, 4711, count - 2, count - 1]) {
      const at = { ...scroller(count), scrollTop: scrollTopFor(row, scroller(count, 1_000_000)) };
      const [first, last] = seen(at);
      expect(first).toBeLessThanOrEqual(row);
      expect(last).toBeGreaterThanOrEqual(row);
    }
  });

  test('does nothing if the row is visible', () => {
    expect(scrollTopFor(1005, scroller(100_000, 36_000))).toBe(36_000);
    expect(scrollTopFor(1010, scroller(100_000, 36_000))).toBe(36_036);
    expect(scrollTopFor(999, scroller(100_000, 36_000))).toBe(35_964);
  });
});

test('keys move by row, page and to the ends, and stay inside', () => {
  const at = scroller(100);
  expect(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End'].map((key) => rowAfterKey(key, 50, at))).toEqual([
    51, 49, 59, 41, 0, 99,
  ]);
  expect([rowAfterKey('ArrowUp', 0, at), rowAfterKey('PageDown', 95, at), rowAfterKey('End', 0, scroller(0))]).toEqual([0, 99, null]);
  expect([rowAfterKey('a', 5, at), rowAfterKey('toString', 5, at)]).toEqual([null, null]);
});
