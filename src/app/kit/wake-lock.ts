/** @file Keeps the screen on during training, because a sleeping machine does not compute. */

interface Page extends Pick<EventTarget, 'addEventListener'> {
  readonly visibilityState: DocumentVisibilityState;
}

/**
 * The returned function takes whether the screen must stay on. Browsers release the lock when the page is hidden, so the lock
 * is requested again when the page becomes visible. Without support, or if the browser refuses (battery saver), the screen can sleep.
 */
export function screenLock(wakeLock: Pick<WakeLock, 'request'> | undefined, page: Page): (wanted: boolean) => void {
  let wanted = false;
  let asking = false;
  let held: WakeLockSentinel | null = null;

  async function update(): Promise<void> {
    if (!wanted) {
      void held?.release().catch(() => {});
      held = null;
      return;
    }
    if (asking || page.visibilityState !== 'visible' || held?.released === false) return;
    asking = true;
    held = (await wakeLock?.request('screen').catch(() => null)) ?? null;
    asking = false;
    if (!wanted) void update(); // the wish ended before the browser granted the lock
  }

  page.addEventListener('visibilitychange', () => void update());
  return (next) => {
    wanted = next;
    void update();
  };
}
