/** @file Sets the scroll position and the focus when a page opens: after Back, after a link, or when a lesson opens it. */

/** How long to wait for a page to become long enough, in ms. */
const PATIENCE = 3000;
const INTERRUPTIONS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** How the visitor came to the current page. The router writes this object, and the heading of a page reads it. */
export const arrival = {
  /** False on the first page after loading. */
  moved: false,
  /** The scroll position when the visitor left the page, in pixels. */
  scrolled: 0,
  /** The address that a lesson opened last. On this page, the focus stays in the lesson's panel. */
  led: '',
};

/** Focuses a heading or section that a link opened, unless a lesson opened the page. */
export function takeFocus(element: HTMLElement): void {
  if (location.hash !== arrival.led) element.focus({ preventScroll: true });
}

/** Stores the scroll position in the history after each scroll. @param page returns the address of the page on the screen */
export function rememberScroll(page: () => string): void {
  addEventListener('scrollend', () => {
    // After a click on a link during a scroll, the history is already at the next page, whose position must not be changed.
    if (location.hash === page()) history.replaceState({ y: scrollY }, '');
  });
}

/** The scroll position of the current history entry, in pixels; 0 for a new entry. */
export const rememberedScroll = (): number => (history.state as { y?: number } | null)?.y ?? 0;

/** Scrolls to `y` when the page is long enough, unless the visitor scrolls first. Returns a function that stops this. */
export function scrollWhenLongEnough(y: number): () => void {
  const stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const name of INTERRUPTIONS) removeEventListener(name, stop);
  };
  const observer = new ResizeObserver(() => {
    scrollTo(0, y);
    if (document.documentElement.scrollHeight - innerHeight >= y) stop();
  });
  const timer = setTimeout(stop, PATIENCE);
  for (const name of INTERRUPTIONS) addEventListener(name, stop, { passive: true });
  scrollTo(0, 0);
  observer.observe(document.body);
  return stop;
}

let wanted: Element | null = null;

/**
 * Scrolls an element into view, and keeps it there while the page around it is laid out, unless the visitor scrolls. If the element is
 * taller than the window, its beginning is shown. A later call replaces this one.
 * @param top returns how many pixels at the top of the window are covered, for example by a header
 * @param settling how long the page around the element may be laid out, in ms
 */
export function bringIntoView(element: Element, block: ScrollLogicalPosition, top = () => 0, settling = 500): void {
  const until = performance.now() + settling;
  const stop = () => (wanted = null);
  for (const name of INTERRUPTIONS) addEventListener(name, stop, { passive: true, once: true });
  wanted = element;
  const look = () => {
    const box = element.getBoundingClientRect();
    const covered = parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom) || 0;
    const [from, to] = [top(), innerHeight - covered];
    if (box.top < from || box.bottom > to) element.scrollIntoView({ block: box.height > to - from ? 'start' : block });
    if (performance.now() < until) requestAnimationFrame(() => element === wanted && element.isConnected && look());
    else for (const name of INTERRUPTIONS) removeEventListener(name, stop);
  };
  look();
}
