/**
 * @file Decides which rows of a long table are drawn. All rows have the same height. Browsers cannot draw elements higher than about
 * ten million pixels, so in a longer table one scrolled pixel stands for more than one pixel of rows.
 */

/** Heights in pixels. `viewport` is the visible height without the header. */
export interface Scroller {
  count: number;
  rowHeight: number;
  viewport: number;
  scrollTop: number;
}

export interface RowWindow {
  /** The rows from `first` up to, but without, `last` are drawn. Some of them are outside the viewport. */
  first: number;
  last: number;
  /** The top of the first drawn row in the scrolled content, in pixels. Can be negative if the table is too high for the browser. */
  top: number;
  /** The height of the scrolled content. */
  height: number;
}

const MAX_HEIGHT = 8_000_000;
const OVERSCAN = 8;

/** `y`: the height of all rows above the viewport. `scale`: how many pixels of rows one scrolled pixel stands for. */
function position({ count, rowHeight, viewport, scrollTop }: Scroller) {
  const full = count * rowHeight;
  const height = Math.min(full, MAX_HEIGHT);
  const range = Math.max(0, height - viewport);
  const scale = range > 0 ? (full - viewport) / range : 1;
  const scrolled = Math.min(Math.max(0, scrollTop), range);
  return { height, range, scale, scrolled, y: scrolled * scale };
}

export function windowAt(scroller: Scroller): RowWindow {
  const { count, rowHeight, viewport } = scroller;
  const { height, scrolled, y } = position(scroller);
  const first = Math.max(0, Math.floor(y / rowHeight) - OVERSCAN);
  const last = Math.min(count, Math.ceil((y + viewport) / rowHeight) + OVERSCAN);
  return { first, last, top: first * rowHeight - y + scrolled, height };
}

/** The scroll position nearest to the current one that shows the row. */
export function scrollTopFor(index: number, scroller: Scroller): number {
  const { rowHeight, viewport } = scroller;
  const { range, scale, scrolled, y } = position(scroller);
  const top = index * rowHeight;
  const wanted = top < y ? top : top + rowHeight > y + viewport ? top + rowHeight - viewport : null;
  return wanted === null ? scrolled : Math.min(range, Math.max(0, wanted / scale));
}

/** The row to which a key moves from row `at`; null if the key moves nowhere. */
export function rowAfterKey(key: string, at: number, { count, rowHeight, viewport }: Scroller): number | null {
  const page = Math.max(1, Math.floor(viewport / rowHeight) - 1);
  const moves: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1,
  };
  const to = Object.hasOwn(moves, key) ? moves[key]! : null;
  return to === null || count === 0 ? null : Math.min(count - 1, Math.max(0, to));
}
