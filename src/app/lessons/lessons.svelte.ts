/** @file The open lesson. It stays open on all pages, and its progress is stored. */
import { arrival } from '../kit/scroll.ts';
import type { LessonProgress } from '../library/lesson-progress.ts';
import type { Lesson, LessonStep, Place, Prediction } from './lesson.ts';

export class Lessons {
  #lesson = $state.raw<Lesson | null>(null);
  #at = $state(0);
  #choice = $state<number | null>(null);
  #ended = $state(false);
  readonly #progress: Pick<LessonProgress, 'put'>;
  readonly #open: (address: string) => void;

  /** @param open opens an address */
  constructor(progress: Pick<LessonProgress, 'put'>, open: (address: string) => void = lead) {
    this.#progress = progress;
    this.#open = open;
  }

  get lesson(): Lesson | null {
    return this.#lesson;
  }

  /** The index of the current step, from 0. */
  get at(): number {
    return this.#at;
  }

  get step(): LessonStep | null {
    return this.#lesson?.steps[this.#at] ?? null;
  }

  /** The index of the visitor's choice at this step; null before a choice. */
  get choice(): number | null {
    return this.#choice;
  }

  /** The question of the step, until the visitor has answered it. */
  get asks(): Prediction | null {
    return this.#choice === null && !this.#ended ? (this.step?.predict ?? null) : null;
  }

  /** True after the last step. The panel then offers the next lesson. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The view that the step shows: its own, or after a choice the view with the answer. */
  get place(): Place | null {
    return (this.#choice !== null && this.step?.predict?.reveal) || this.step;
  }

  /** The names of the spots to which the lesson points at present. */
  get focus(): readonly string[] {
    if (this.asks) return this.asks.show.filter((name) => name !== 'message' && name !== 'messages');
    return this.#ended ? [] : (this.place?.focus ?? []);
  }

  /** The spot to scroll to; undefined if there is none. If the address has a token or message, its page scrolls to that by itself. */
  get lead(): string | undefined {
    return this.place && !/[?&](tok|turn)=/.test(this.place.open) ? this.focus[0] : undefined;
  }

  start(lesson: Lesson, at = 0): void {
    this.#lesson = lesson;
    this.#go(Math.min(at, lesson.steps.length - 1));
  }

  back(): void {
    this.#go(this.#ended ? this.#at : Math.max(0, this.#at - 1));
  }

  /** Opens the next step. After the last step the lesson has ended. */
  next(): void {
    if (!this.#lesson) return;
    if (this.#at + 1 < this.#lesson.steps.length) return this.#go(this.#at + 1);
    this.#ended = true;
    this.#keep(true);
  }

  /** Answers the question of the step, and opens the view that shows the answer. */
  choose(choice: number): void {
    this.#choice = choice;
    const reveal = this.step?.predict?.reveal;
    if (reveal) this.#open(reveal.open);
  }

  close(): void {
    this.#lesson = null;
  }

  #go(at: number): void {
    this.#at = at;
    this.#choice = null;
    this.#ended = false;
    this.#keep(false);
    this.#open(this.step!.open);
  }

  /** Stores the progress. A failure of the storage is ignored: the progress is lost at the next reload. */
  #keep(finished: boolean): void {
    const id = this.#lesson!.id;
    const step = finished ? 0 : this.#at;
    void this.#progress.put({ id, step, finished }).catch(() => {});
  }
}

/** Opens an address, and keeps the focus in the panel of the lesson. */
function lead(address: string): void {
  arrival.led = address;
  location.hash = address;
}
