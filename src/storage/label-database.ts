/** @file The labels that a person gave. They have a database of their own, so that the layout of runs stays as it is. */
import type { EntityTable } from 'dexie';
import { VersionedDatabase } from '../base/versioned-database.ts';
import type { LabelingRow } from '../records/labeling.ts';

export class LabelDatabase extends VersionedDatabase {
  declare labelings: EntityTable<LabelingRow, 'id'>;

  constructor(name = 'mua-labels') {
    super(name, 1, { labelings: 'id, evaluation' }, { chromeTransactionDurability: 'strict' });
  }
}
