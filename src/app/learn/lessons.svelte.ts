/** @file The lesson under way: it stays while the visitor moves about, and how far it is survives a reload. */
import type { RunDatabase } from '../../storage/database.ts';
import type { Lesson, LessonPage } from './lesson.ts';

export class Lessons {
  #lesson = $state.raw<Lesson | null>(null);
  #page = $state(0);
  readonly #db: RunDatabase;

  constructor(db: RunDatabase) {
    this.#db = db;
  }

  get lesson(): Lesson | null {
    return this.#lesson;
  }

  /** The page it is at, from 0. */
  get page(): number {
    return this.#page;
  }

  get current(): LessonPage | null {
    return this.#lesson?.pages[this.#page] ?? null;
  }

  /** Names of the parts to look at now. */
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

  /** To the next page; from the last one the lesson is finished. */
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

  /** A finished lesson stays so when it is read again. Where storage fails, progress lasts as long as the page. */
  #keep(finished: boolean): void {
    const id = this.#lesson!.id;
    const step = finished ? 0 : this.#page;
    const { lessons } = this.#db;
    void this.#db.transaction('rw', lessons, async () => lessons.put({ id, step, finished: finished || ((await lessons.get(id))?.finished ?? false) })).catch(() => {});
  }
}
