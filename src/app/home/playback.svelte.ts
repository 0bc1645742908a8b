/** @file Goes through the steps of something recorded, in about ten seconds; stands complete for who wants no motion. */
import { MediaQuery } from 'svelte/reactivity';

const PLAYS_MS = 10_000;
const still = new MediaQuery('(prefers-reduced-motion: reduce)');

export class Playback {
  readonly total: number;
  #shown = $state(1);
  #playing = $state(false);
  /** Somebody asked for it, whatever the preference is. */
  #asked = $state(false);

  /** Plays at once. Made while a component is: it stops with it. */
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

  /** How many are shown, from 1. */
  get shown(): number {
    return still.current && !this.#asked ? this.total : this.#shown;
  }

  get playing(): boolean {
    return this.#playing && (this.#asked || !still.current);
  }

  get finished(): boolean {
    return this.shown >= this.total;
  }

  /** Pauses, goes on, or begins again. */
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
