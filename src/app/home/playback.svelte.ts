/** @file Plays the steps of a recorded run in about ten seconds. With reduced motion, all steps are shown at once. */
import { MediaQuery } from 'svelte/reactivity';

const PLAYS_MS = 10_000;
const still = new MediaQuery('(prefers-reduced-motion: reduce)');

export class Playback {
  readonly total: number;
  #shown = $state(1);
  #playing = $state(false);
  /** The visitor pressed Play, so the playback runs even with reduced motion. */
  #asked = $state(false);

  /** Starts to play at once. Call this while a component initialises: the playback stops when the component is destroyed. */
  constructor(total: number) {
    this.total = total;
    this.#playing = !still.current;
    $effect(() => {
      if (!this.playing) return;
      const timer = setInterval(() => {
        this.#shown += 1;
        if (this.#shown >= this.total) this.#playing = false;
      }, PLAYS_MS / this.total);
      return () => clearInterval(timer);
    });
  }

  /** The number of steps shown, from 1. */
  get shown(): number {
    return still.current && !this.#asked ? this.total : this.#shown;
  }

  get playing(): boolean {
    return this.#playing && (this.#asked || !still.current);
  }

  get finished(): boolean {
    return this.shown >= this.total;
  }

  /** Pauses or resumes. A finished playback starts again. */
  toggle(): void {
    if (this.playing) {
      this.#playing = false;
      return;
    }
    if (this.finished) this.#shown = 1;
    this.#asked = true;
    this.#playing = true;
  }
}
