/** @file The imported reports: shadows and reliability cards. Only their pages load this code. */
import { sha256 } from '../../base/sha256.ts';
import { storageError } from '../../base/storage-error.ts';
import { reportTitle } from '../../exchange/report-file.ts';
import type { ReportKind, ReportRow } from '../../records/report.ts';
import { ReportDatabase } from '../../storage/report-database.ts';

/** A checked report that is not stored yet. */
export interface ReadReport {
  row: ReportRow;
  text: string;
}

/** @throws ImportError if the content is wrong */
export const readReport = (kind: ReportKind, file: string, text: string): ReadReport => ({
  row: { id: sha256(text).slice(0, 16), kind, file, title: reportTitle(kind, file, text), addedAt: Date.now() },
  text,
});

export class Reports {
  readonly #db: ReportDatabase;

  constructor(db = new ReportDatabase()) {
    this.#db = db;
  }

  /** The newest first. */
  list(): Promise<ReportRow[]> {
    return this.#db.reports.orderBy('addedAt').reverse().toArray();
  }

  /** A report's row and text. Undefined if there is none with this id. */
  async get(id: string): Promise<ReadReport | undefined> {
    const { reports, contents } = this.#db;
    const [row, content] = await this.#db.transaction('r', [reports, contents], () => Promise.all([reports.get(id), contents.get(id)]));
    return row && content && { row, text: content.text };
  }

  /** Stores reports together. @throws Error with advice if the disk is full; after an error, none is stored */
  async add(read: readonly ReadReport[]): Promise<void> {
    const { reports, contents } = this.#db;
    try {
      await this.#db.transaction('rw', [reports, contents], async () => {
        await contents.bulkPut(read.map(({ row: { id }, text }) => ({ id, text })));
        await reports.bulkPut(read.map(({ row }) => row));
      });
    } catch (cause) {
      throw storageError(cause, 'this report');
    }
  }

  async delete(id: string): Promise<void> {
    const { reports, contents } = this.#db;
    await this.#db.transaction('rw', [reports, contents], () => Promise.all([reports.delete(id), contents.delete(id)]));
  }
}

let opened: Reports | undefined;
/** The reports of this browser. */
export const reports = (): Reports => (opened ??= new Reports());
