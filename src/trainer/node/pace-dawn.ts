/**
 * @file While Dawn waits for the GPU, it calls `setImmediate` again and again (dawn/node/binding/AsyncRunner.cpp) and keeps a core
 * busy. If the GPU is the CPU, the work itself misses that core. So the thread sleeps a little before it asks Dawn again.
 */

/** In milliseconds. A decoding step of the smallest models takes about 2. */
const PAUSE = 0.1;
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const { setImmediate } = globalThis;

/** The number of callbacks of other code since Dawn's last one. */
let others = 0;

/** Dawn's callbacks are native functions without a name. The thread does not sleep if other code has something to do. */
function paced(callback: (...values: unknown[]) => void, ...values: unknown[]): NodeJS.Immediate {
  const native = callback.name === '' && Function.prototype.toString.call(callback).includes('[native code]');
  if (!native) {
    others++;
    return setImmediate(callback, ...values);
  }
  return setImmediate(() => {
    if (others === 0) Atomics.wait(sleeper, 0, 0, PAUSE);
    others = 0;
    callback();
  });
}

/** Replaces the global `setImmediate`, because Dawn looks it up there. May be called again. */
export function paceDawn(): void {
  globalThis.setImmediate = Object.assign(paced, { __promisify__: setImmediate.__promisify__ }) as typeof setImmediate;
}
