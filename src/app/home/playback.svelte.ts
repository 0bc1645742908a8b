/** @file Plays the moments of a story, one after another. With reduced motion, all moments are shown at once. */
import { MediaQuery } from 'svelte/reactivity';

const MOMENT_MS = 1400;
const still = new MediaQuery('(prefers-reduced-motion: reduce)');

export class Playback {
  readonly total: number;
  /** How many moments are shown, from 1 to `total`. */
  #shown = $state(1);
  #playing = $state(false);

  /** Starts to play at once. Must be called while a component initialises. The playback stops when that component is destroyed. */
  constructor(total: number) {
    this.total = total;
    this.#playing = !still.current;
    this.#shown = still.current ? total : 1;
    $effect(() => {
      if (!this.#playing) return;
      const timer = setInterval(() => {
        this.#shown += 1;
        if (this.finished) this.#playing = false;
      }, MOMENT_MS);
      return () => clearInterval(timer);
    });
  }

  get shown(): number {
    return this.#shown;
  }

  get playing(): boolean {
    return this.#playing;
  }

  get finished(): boolean {
    return this.#shown >= this.total;
  }

  /** Pauses or resumes. A finished playback starts again. */
  toggle(): void {
    if (!this.#playing && this.finished) this.#shown = 1;
    this.#playing = !this.#playing;
  }

  /** Pauses the playback, and goes one moment forward (1) or back (-1). */
  step(by: 1 | -1): void {
    this.#playing = false;
    this.#shown = Math.min(this.total, Math.max(1, this.#shown + by));
  }
}
