/** @file Stores the visitor's progress in lessons. */
import type { LessonRow } from '../../records/lesson.ts';
import type { RunDatabase } from '../../storage/database.ts';

export class LessonProgress {
  readonly #db: RunDatabase;

  constructor(db: RunDatabase) {
    this.#db = db;
  }

  /** The progress in all lessons that the visitor has begun. */
  all(): Promise<LessonRow[]> {
    return this.#db.lessons.toArray();
  }

  get(id: string): Promise<LessonRow | undefined> {
    return this.#db.lessons.get(id);
  }

  /** Stores progress in a lesson. A finished lesson stays finished. */
  async put({ id, step, finished }: LessonRow): Promise<void> {
    const { lessons } = this.#db;
    await this.#db.transaction('rw', lessons, async () =>
      lessons.put({ id, step, finished: finished || ((await lessons.get(id))?.finished ?? false) }),
    );
  }
}
