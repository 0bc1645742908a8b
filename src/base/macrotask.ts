/** @file Lets the event loop go on. Work that only awaits promises would keep timers, messages and Ctrl-C waiting. */

/** Waits for the next task of the event loop. It uses a message, because browsers delay nested timers by 4 ms. */
export const macrotask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

/** Work that never waits for the event loop leaves it free this often, in milliseconds. */
const BREATH_MS = 100;

/** Makes a function to call again and again during long work. It lets the event loop go on from time to time. */
export function breather(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < BREATH_MS) return;
    await macrotask();
    last = performance.now();
  };
}
