/** @file The imported reports. They have a database of their own, so that the layout of runs stays as it is. */
import type { EntityTable } from 'dexie';
import { VersionedDatabase } from '../base/versioned-database.ts';
import type { ReportContent, ReportRow } from '../records/report.ts';

export class ReportDatabase extends VersionedDatabase {
  declare reports: EntityTable<ReportRow, 'id'>;
  declare contents: EntityTable<ReportContent, 'id'>;

  constructor(name = 'mua-reports') {
    super(name, 1, { reports: 'id, addedAt', contents: 'id' }, { chromeTransactionDurability: 'strict' });
  }
}
