/** @file How far down a page was: kept with its entry of the history, so that Back loses nothing. */

/** Longer than this nobody waits for a page to grow. */
const PATIENCE = 3000;
const INTERRUPTIONS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

export function rememberScroll(): void {
  addEventListener('scrollend', () => history.replaceState({ y: scrollY }, ''));
}

/** Where the entry of the history that is now shown was left; 0 for a new one. */
export const rememberedScroll = (): number => (history.state as { y?: number } | null)?.y ?? 0;

/** Scrolls there as soon as the page is long enough, unless the visitor scrolls first. Returns how to give up. */
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
