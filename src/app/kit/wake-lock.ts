/** @file Keeps the screen on during training, because a sleeping machine does not compute. */

interface Page extends Pick<EventTarget, 'addEventListener'> {
  readonly visibilityState: DocumentVisibilityState;
}

/**
 * Returns a function that switches the lock on (true) or off (false). While it is on, the screen stays on. Browsers release the lock when
 * the page is hidden, so the lock is requested again when the page becomes visible. If the browser does not support the lock, or refuses it
 * (battery saver), the screen can sleep.
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
    if (!wanted) void update(); // the lock was switched off before the browser granted it
  }

  page.addEventListener('visibilitychange', () => void update());
  return (next) => {
    wanted = next;
    void update();
  };
}
