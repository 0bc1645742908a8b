/** @file Stores the scroll position with the history entry, so that Back returns to it. */

/** The longest wait for a page to grow, in ms. */
const PATIENCE = 3000;
const INTERRUPTIONS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** How the visitor came to this page. The router writes it; the heading of a page reads it. */
export const arrival = {
  /** False on the first page. */
  moved: false,
  /** The scroll position when the visitor left the page, in pixels. */
  scrolled: 0,
};

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
