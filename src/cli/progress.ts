/**
 * @file Says on stderr what a command does and how far it is: as a bar on a terminal, else as a line every few seconds. A command
 * that is busy is never quiet for longer, because a thread repeats its newest line.
 */
import { join } from 'node:path';
import { Beat, clock, drawn } from '../../bin/beat.mjs';
import { ROOT } from './build.ts';
import { oneLine } from './errors.ts';

export { clock };

const LINE_INTERVAL_MS = 5000;
const BAR_INTERVAL_MS = 100;
const BAR_WIDTH = 24;
/** The metrics that the progress line shows, in this order, with their short names. */
const SHOWN = [
  ['loss', 'loss'],
  ['train/loss', 'loss'],
  ['critic/score/mean', 'reward'],
  ['actor/kl_loss', 'kl'],
  ['actor/entropy', 'entropy'],
] as const;

interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number | undefined;
}

/** What a command does now. `total` is 0 if nothing is counted. `left`: the seconds until its end, if they are known better than from the counts. */
interface Now {
  done: number;
  total: number;
  label: string;
  left?: number | undefined;
}

export class ProgressBar {
  #start = performance.now();
  #last = -Infinity;
  #drawn = false;
  #numbers = '';
  #now: Now = { done: 0, total: 0, label: 'starting' };
  /** Where the count began in this process. A resumed command begins above 0. */
  #from: { done: number; at: number } | undefined;
  #activity = '';
  #beat: Beat | undefined;
  /** Whether the command is in a phase, and not waiting for its end by Ctrl-C. */
  #busy = false;
  readonly #speaks: boolean;

  /** @param stream default: stderr; only there a thread repeats the line of a busy command @param options.speaks whether it does */
  constructor(
    private readonly stream: Stream = process.stderr,
    { speaks = stream === process.stderr }: { speaks?: boolean } = {},
  ) {
    this.#speaks = speaks;
  }

  /** What the command begins to do. It is shown if it takes longer than a moment. */
  phase(label: string): void {
    this.#busy = true;
    this.#now = { done: 0, total: 0, label };
    this.#from = undefined;
    this.#tell();
  }

  /** @param total 0 if nothing is counted @param seconds those until the end, if they are known better than from `done` and `total` */
  update(done: number, total: number, label: string, metrics?: Record<string, number>, seconds?: number): void {
    if (metrics) this.#remember(metrics);
    if (total === 0) return this.phase(label);
    this.#busy = true;
    const isOther = total !== this.#now.total || done < this.#now.done;
    if (!this.#from || isOther) this.#from = { done, at: performance.now() };
    this.#now = { done, total, label, left: seconds };
    if (!this.#due(done === total)) return this.#tell();
    this.#write();
  }

  /** What else happens while the phase goes on, such as waiting for a server. '' if it has ended. */
  activity(text: string): void {
    this.#activity = text;
    if (this.#busy) this.#tell();
  }

  /** Prints a separate line above the bar. */
  note(text: string): void {
    const busy = this.#busy;
    this.clear();
    this.stream.write(`${oneLine(text)}\n`);
    this.#beat?.wrote();
    this.#busy = busy;
    if (busy) this.#tell();
  }

  /** Removes the bar. Nothing is said until the next phase. */
  clear(): void {
    this.#busy = false;
    this.#beat?.pause();
    if (this.stream.isTTY && (this.#drawn || this.#beat)) this.stream.write('\r\x1b[2K');
    this.#drawn = false;
  }

  end(): void {
    this.clear();
    this.#beat?.end();
    this.#beat = undefined;
  }

  #due(complete: boolean): boolean {
    const terminal = this.stream.isTTY === true;
    return performance.now() - this.#last >= (terminal ? BAR_INTERVAL_MS : LINE_INTERVAL_MS) || (complete && terminal);
  }

  #write(): void {
    this.#last = performance.now();
    const { isTTY: terminal = false, columns } = this.stream;
    this.stream.write(drawn(this.#line(), (this.#last - this.#start) / 1000, { terminal, columns }));
    this.#drawn = terminal;
    this.#tell();
    this.#beat?.wrote();
  }

  /** Gives the thread the newest line. */
  #tell(): void {
    if (!this.#speaks) return;
    const { isTTY: terminal = false, columns } = this.stream;
    this.#beat ??= new Beat(join(ROOT, 'bin', 'beat.mjs'), { terminal, columns });
    this.#beat.set(this.#line());
  }

  /** The line without the time since the start. */
  #line(): { before: string; after: string } {
    const { done, total, label, left } = this.#now;
    const share = total > 0 ? Math.min(1, done / total) : 0;
    const estimated = left ?? this.#estimated();
    const full = Math.round(share * BAR_WIDTH);
    const bar = this.stream.isTTY && total > 0 ? [`${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`] : [];
    const count = total > 0 ? [`${done}/${total}`] : [];
    const activity = this.#activity && [`(${oneLine(this.#activity)})`];
    return {
      before: [...bar, ...count, oneLine(label), ...activity].join(' '),
      after: `${estimated === undefined ? '' : ` ${clock(estimated)} left`}${this.#numbers}`,
    };
  }

  /** The seconds until the end, from the speed of this process. Undefined before anything is done, and at the end. */
  #estimated(): number | undefined {
    const { done, total } = this.#now;
    const from = this.#from;
    if (!from || done <= from.done || done >= total) return undefined;
    return ((performance.now() - from.at) / 1000 / (done - from.done)) * (total - done);
  }

  #remember(metrics: Record<string, number>): void {
    const heldOut = Object.keys(metrics).find((name) => name.startsWith('val-core/'));
    const shown = heldOut ? [...SHOWN, [heldOut, 'held-out'] as const] : SHOWN;
    const numbers = shown
      .filter(([name]) => metrics[name] !== undefined)
      .map(([name, short]) => ` ${short}=${metrics[name]?.toPrecision(3)}`);
    if (numbers.length > 0) this.#numbers = ` ·${numbers.join('')}`;
  }
}
