/** @file The reviews of data sets. They have a database of their own, so that the layout of runs stays as it is. */
import type { EntityTable } from 'dexie';
import { VersionedDatabase } from '../base/versioned-database.ts';
import type { ReviewingRow } from '../records/grades.ts';

export class ReviewDatabase extends VersionedDatabase {
  declare reviewings: EntityTable<ReviewingRow, 'dataset'>;

  constructor(name = 'mua-reviews') {
    super(name, 1, { reviewings: 'dataset' }, { chromeTransactionDurability: 'strict' });
  }
}
