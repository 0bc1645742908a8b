/** @file Shows a progress bar on stderr. If stderr is not a terminal, it prints a line every few seconds instead. */

import { oneLine } from './errors.ts';

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

export class ProgressBar {
  #start = performance.now();
  #last = -Infinity;
  #drawn = false;
  #numbers = '';

  constructor(private readonly stream: { write(text: string): unknown; isTTY?: boolean; columns?: number } = process.stderr) {}

  /** @param seconds those until the end, if they are known better than from `done` and `total` */
  update(done: number, total: number, label: string, metrics?: Record<string, number>, seconds?: number): void {
    if (metrics) this.#remember(metrics);
    const now = performance.now();
    const terminal = this.stream.isTTY === true;
    const due = now - this.#last >= (terminal ? BAR_INTERVAL_MS : LINE_INTERVAL_MS);
    if (!due && !(done === total && terminal)) return;
    this.#last = now;
    const share = total > 0 ? Math.min(1, done / total) : 0;
    const elapsed = (now - this.#start) / 1000;
    const estimated = seconds ?? (share > 0 && share < 1 ? (elapsed / share) * (1 - share) : undefined);
    const left = estimated === undefined ? '' : ` ${clock(estimated)} left`;
    if (terminal) {
      const full = Math.round(share * BAR_WIDTH);
      const line = `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${done}/${total} ${oneLine(label)} ${clock(elapsed)}${left}${this.#numbers}`;
      this.stream.write(`\r\x1b[2K${line.slice(0, (this.stream.columns ?? 100) - 1)}`);
      this.#drawn = true;
    } else this.stream.write(`${done}/${total} ${oneLine(label)} ${clock(elapsed)}${left}${this.#numbers}\n`);
  }

  /** Prints a separate line above the bar. */
  note(text: string): void {
    this.clear();
    this.stream.write(`${oneLine(text)}\n`);
  }

  clear(): void {
    if (this.#drawn) this.stream.write('\r\x1b[2K');
    this.#drawn = false;
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

export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${String(m).padStart(2, '0')}:${String(s).padStart(2, '0')}` : `${m}:${String(s).padStart(2, '0')}`;
}
