/** @file Events of runs for the page, in batches, and what a viewer sees of the run that is trained. */
import { LiveGroup } from './live.ts';
import type { RunEvent } from './messages.ts';

/** Time between two batches. Each batch costs a frame. On a software GPU, the cores that train also draw the frame. */
const INTERVAL_MS = 250;

export class RunEvents {
  /** The episodes of the run that is trained. */
  live = new LiveGroup();
  #listener: ((run: string, events: RunEvent[]) => void) | null = null;
  #run = '';
  #training = false;
  #pending: RunEvent[] = [];
  #flushing = false;
  /** The run that a viewer looks at. */
  #watched: string | null = null;
  #watching: ReturnType<typeof setInterval> | undefined;

  listen(listener: (run: string, events: RunEvent[]) => void): void {
    this.#listener = listener;
  }

  /** The next events are those of `run`. */
  begin(run: string): void {
    // In an experiment, a run begins right after the end of another.
    this.#flush();
    this.#run = run;
    this.#training = true;
    this.live = new LiveGroup();
  }

  /** The run has ended: a viewer gets nothing more. */
  end(): void {
    this.#training = false;
  }

  /** Whether a viewer looks at `run`. An old page's “off” does not end the view of another run. */
  watch(run: string, on: boolean): void {
    if (!on && this.#watched !== run) return;
    this.#watched = on ? run : null;
    clearInterval(this.#watching);
    if (on) this.#watching = setInterval(() => this.#showLive(), INTERVAL_MS);
    this.live.show();
  }

  emit(event: RunEvent): void {
    // New progress replaces old progress, except `compile`: it tells the page from which step on the run starts again.
    if (event.type === 'progress') this.#pending = this.#pending.filter((e) => e.type !== 'progress' || e.phase === 'compile');
    this.#pending.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    setTimeout(() => {
      this.#flushing = false;
      this.#flush();
    }, INTERVAL_MS);
  }

  /** It only reads, so it changes nothing that is sampled. */
  #showLive(): void {
    if (!this.#training || this.#watched !== this.#run) return;
    const news = this.live.news();
    if (news) this.emit(news);
  }

  #flush(): void {
    const events = this.#pending;
    this.#pending = [];
    if (events.length > 0) this.#listener?.(this.#run, events);
  }
}
