// @ts-check
/**
 * @file Says again what a command does while it says nothing itself. It runs in a thread of its own, because a command that computes
 * or reads a large file keeps its own thread busy. The building of the command line uses it too, so it is plain JavaScript.
 */
import { writeSync } from 'node:fs';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

/** Milliseconds that all threads count from one start, also while the clock of the machine is set. */
const now = () => performance.timeOrigin + performance.now();

/** Where the shared numbers are: whether to speak, and the time of the last line in milliseconds since the start. */
const ON = 0;
const LAST = 1;
const STDERR = 2;

/**
 * @typedef {object} Line what to say, without the time
 * @property {string} before
 * @property {string} after
 */
/**
 * @typedef {object} Pace
 * @property {boolean} [terminal] whether stderr is a terminal, on which a line replaces the one before
 * @property {number | undefined} [columns] its width
 * @property {number} [firstMs] how long a command may be quiet at its start
 * @property {number} [everyMs] how long it may be quiet later
 * @property {number} [fd] the file to write to; default: stderr
 */

/** @param {number} seconds @returns {string} m:ss or h:mm:ss */
export function clock(seconds) {
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** @param {Line} line @param {number} seconds @param {Pick<Pace, 'terminal' | 'columns'>} stream @returns {string} the text to write */
export function drawn({ before, after }, seconds, { terminal, columns }) {
  const text = `${before} ${clock(seconds)}${after}`;
  return terminal ? `\r\x1b[2K${text.slice(0, (columns ?? 100) - 1)}` : `${text}\n`;
}

/** A thread that writes the newest line of a command to stderr when the command has written nothing for some seconds. */
export class Beat {
  #start = now();
  #shared = new Int32Array(new SharedArrayBuffer(8));
  #worker;

  /** @param {string} script the path of this file @param {Pace} [pace] */
  constructor(script, pace = {}) {
    this.#worker = new Worker(script, { workerData: { muaBeat: { ...pace, start: this.#start, shared: this.#shared } }, execArgv: [] });
    this.#worker.unref();
    // A command does not fail because nobody can say what it does.
    this.#worker.on('error', () => {});
  }

  /** Sets the line that is written when the command is quiet. @param {Line} line */
  set(line) {
    this.#worker.postMessage(line);
    Atomics.store(this.#shared, ON, 1);
  }

  /** The command has just written a line. */
  wrote() {
    Atomics.store(this.#shared, LAST, Math.max(1, Math.round(now() - this.#start)));
  }

  /** Nothing is written until the next line is set. */
  pause() {
    Atomics.store(this.#shared, ON, 0);
  }

  end() {
    this.pause();
    void this.#worker.terminate();
  }
}

/** @param {Pace & { start: number, shared: Int32Array }} given */
function speak({ start, shared, terminal = false, columns, firstMs = 1000, everyMs = terminal ? 1000 : 5000, fd = STDERR }) {
  /** @type {Line | null} */
  let line = null;
  parentPort?.on('message', (given) => (line = given));
  setInterval(
    () => {
      const elapsed = now() - start;
      const last = Atomics.load(shared, LAST);
      if (!line || Atomics.load(shared, ON) === 0 || elapsed < (last === 0 ? firstMs : last + everyMs)) return;
      Atomics.store(shared, LAST, Math.round(elapsed));
      try {
        writeSync(fd, drawn(line, elapsed / 1000, { terminal, columns }));
      } catch {
        // Nobody reads stderr any more, or its pipe is full: the next line tries again.
      }
    },
    Math.min(250, firstMs / 4),
  ).unref();
}

if (!isMainThread && workerData?.muaBeat) speak(workerData.muaBeat);
