/** @file Where the page is scrolled to and what has the focus: after Back, after a link, and when a lesson leads. */

/** The longest wait for a page to grow, in ms. */
const PATIENCE = 3000;
const INTERRUPTIONS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** How the visitor came to this page. The router writes it; the heading of a page reads it. */
export const arrival = {
  /** False on the first page. */
  moved: false,
  /** The scroll position when the visitor left the page, in pixels. */
  scrolled: 0,
  /** The address that a lesson opened last. There the panel of the lesson keeps the focus. */
  led: '',
};

/** Focuses the heading or section that a link led to. */
export function takeFocus(element: HTMLElement): void {
  if (location.hash !== arrival.led) element.focus({ preventScroll: true });
}

/** @param page the address of the page on the screen */
export function rememberScroll(page: () => string): void {
  addEventListener('scrollend', () => {
    // A link that is clicked while the page scrolls: the history is already at the next page, which was not scrolled.
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
 * Scrolls an element into view, and keeps it there while the page around it is laid out, unless the visitor scrolls. Of an element
 * that is taller than the window, the beginning is shown. A later call takes over. @param top the lower end of what covers the top of the window, in pixels @param settling in ms
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
