/** @file The results of `mua shadow` and `mua robust` that a visitor imported. The page stores their files as they are. */

export const REPORT_KINDS = ['shadow', 'reliability'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

export interface ReportRow {
  /** The beginning of the content's SHA-256, so the same file is stored once. */
  id: string;
  kind: ReportKind;
  /** The name of the file. */
  file: string;
  /** What was measured, for lists. */
  title: string;
  addedAt: number;
}

/** The text of a report's file. It is stored apart from the row, because lists do not need it. */
export interface ReportContent {
  id: string;
  text: string;
}
