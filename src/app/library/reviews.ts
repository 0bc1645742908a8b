/** @file The reviews of data sets. Each decision is stored as soon as it is made. */
import { storageError } from '../../base/storage-error.ts';
import { readReviewing } from '../../exchange/review-schema.ts';
import type { Review, ReviewingRow } from '../../records/grades.ts';
import { ReviewDatabase } from '../../storage/review-database.ts';

let shared: Reviews | undefined;
/** The reviews of this browser. */
export const ownReviews = (): Reviews => (shared ??= new Reviews());

const same = (a: Review, b: Review) => a.reviewer === b.reviewer && a.sha256 === b.sha256;

export class Reviews {
  readonly #db: ReviewDatabase;

  constructor(db = new ReviewDatabase()) {
    this.#db = db;
  }

  /** @throws ImportError if the stored row is damaged */
  async get(dataset: string): Promise<ReviewingRow | undefined> {
    const row = await this.#db.reviewings.get(dataset);
    return row && readReviewing(row);
  }

  /** Begins to review drawn conversations. Reviews that were made before stay. */
  async begin(begun: Pick<ReviewingRow, 'dataset' | 'reviewer' | 'seed' | 'drawn'>): Promise<void> {
    await this.#change(begun.dataset, (row) => ({ createdAt: Date.now(), reviews: [], ...row, ...begun }));
  }

  /** Stores a decision. An earlier one of the same reviewer about the conversation is replaced. */
  async give(dataset: string, review: Review): Promise<void> {
    await this.#change(dataset, (row) => row && { ...row, reviews: [...row.reviews.filter((one) => !same(one, review)), review] });
  }

  /** Removes the newest decision of the reviewer. */
  async undo(dataset: string): Promise<void> {
    await this.#change(dataset, (row) => {
      const at = row?.reviews.findLastIndex(({ reviewer }) => reviewer === row.reviewer) ?? -1;
      return row && { ...row, reviews: row.reviews.filter((_, i) => i !== at) };
    });
  }

  /**
   * Adds the reviews of a file. What a reviewer decided before stays.
   * @param places of conversations to review beside the drawn ones
   * @returns how many reviews were added
   */
  async add(dataset: string, reviews: readonly Review[], places: readonly number[] = []): Promise<number> {
    let added = 0;
    await this.#change(dataset, (row) => {
      const fresh = reviews.filter((one) => !row?.reviews.some((own) => same(own, one)));
      added = row ? fresh.length : 0;
      return row && { ...row, drawn: [...new Set([...row.drawn, ...places])], reviews: [...row.reviews, ...fresh] };
    });
    return added;
  }

  async delete(dataset: string): Promise<void> {
    await this.#db.reviewings.delete(dataset);
  }

  async #change(dataset: string, change: (row: ReviewingRow | undefined) => ReviewingRow | undefined): Promise<void> {
    const { reviewings } = this.#db;
    try {
      await this.#db.transaction('rw', reviewings, async () => {
        const stored = await reviewings.get(dataset);
        const row = change(stored && readReviewing(stored));
        if (row) await reviewings.put(row);
      });
    } catch (cause) {
      throw storageError(cause, 'this review');
    }
  }
}
