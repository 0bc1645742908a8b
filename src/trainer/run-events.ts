/** @file Sends the page the events of runs, in batches, and what a viewer sees of the active run. */
import { LiveGroup } from './live.ts';
import type { RunEvent } from './messages.ts';

/** Time between two batches. Each batch makes the page draw a frame. With a software GPU, drawing and training use the same cores. */
const INTERVAL_MS = 250;

export class RunEvents {
  /** The episodes of the active run. */
  live = new LiveGroup();
  #listener: ((run: string, events: RunEvent[]) => void) | null = null;
  #run = '';
  #training = false;
  #pending: RunEvent[] = [];
  #flushing = false;
  /** The run that a viewer is looking at. */
  #watched: string | null = null;
  #watching: ReturnType<typeof setInterval> | undefined;

  listen(listener: (run: string, events: RunEvent[]) => void): void {
    this.#listener = listener;
  }

  /** From now on, the events belong to `run`. */
  begin(run: string): void {
    // In an experiment, a run begins right after another run ends, so send the events of the old run first.
    this.#flush();
    this.#run = run;
    this.#training = true;
    this.live = new LiveGroup();
  }

  /** Called when the run has ended: a viewer gets no more live events. */
  end(): void {
    this.#training = false;
  }

  /**
   * Tells whether a viewer looks at `run`. If `on` is false for another run than the watched one, the call has no effect: it
   * comes from a view that was left earlier.
   */
  watch(run: string, on: boolean): void {
    if (!on && this.#watched !== run) return;
    this.#watched = on ? run : null;
    clearInterval(this.#watching);
    if (on) this.#watching = setInterval(() => this.#showLive(), INTERVAL_MS);
    this.live.show();
  }

  emit(event: RunEvent): void {
    // New progress replaces old progress. Only `compile` is kept, because it tells the page the step from which the run starts
    // again.
    if (event.type === 'progress') this.#pending = this.#pending.filter((e) => e.type !== 'progress' || e.phase === 'compile');
    this.#pending.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    setTimeout(() => {
      this.#flushing = false;
      this.#flush();
    }, INTERVAL_MS);
  }

  /** This only reads the episodes, so it cannot change what is sampled. */
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
