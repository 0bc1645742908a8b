/** @file Keeps the screen on while a run trains: a machine that sleeps computes nothing. */

interface Page extends Pick<EventTarget, 'addEventListener'> {
  readonly visibilityState: DocumentVisibilityState;
}

/**
 * The returned function says whether the screen is to stay on. Browsers let go of the lock when the page is hidden, so it
 * is asked for again when it shows. Where there is no such lock, or it is refused (battery saver), the screen may sleep.
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
    if (!wanted) void update(); // no longer wanted when it was granted
  }

  page.addEventListener('visibilitychange', () => void update());
  return (next) => {
    wanted = next;
    void update();
  };
}
