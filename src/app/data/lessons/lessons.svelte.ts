/** @file The open lesson. It stays open on all pages, and its progress is stored. */
import type { Library } from '../library/library.ts';
import type { Lesson, LessonPage } from './lesson.ts';

export class Lessons {
  #lesson = $state.raw<Lesson | null>(null);
  #page = $state(0);
  readonly #library: Pick<Library, 'putLesson'>;

  constructor(library: Pick<Library, 'putLesson'>) {
    this.#library = library;
  }

  get lesson(): Lesson | null {
    return this.#lesson;
  }

  /** The current page, from 0. */
  get page(): number {
    return this.#page;
  }

  get current(): LessonPage | null {
    return this.#lesson?.pages[this.#page] ?? null;
  }

  /** Names of the parts to highlight now. */
  get focus(): readonly string[] {
    return this.current?.focus ?? [];
  }

  start(lesson: Lesson, page = 0): void {
    this.#lesson = lesson;
    this.#go(Math.min(page, lesson.pages.length - 1));
  }

  back(): void {
    this.#go(Math.max(0, this.#page - 1));
  }

  /** Opens the next page. After the last page the lesson is finished. */
  next(): void {
    if (!this.#lesson) return;
    if (this.#page + 1 < this.#lesson.pages.length) return this.#go(this.#page + 1);
    this.#keep(true);
    this.#lesson = null;
  }

  close(): void {
    this.#lesson = null;
  }

  #go(page: number): void {
    this.#page = page;
    this.#keep(false);
  }

  /** Stores the progress. If the storage fails, a reload loses the progress. */
  #keep(finished: boolean): void {
    const id = this.#lesson!.id;
    const step = finished ? 0 : this.#page;
    void this.#library.putLesson({ id, step, finished }).catch(() => {});
  }
}
