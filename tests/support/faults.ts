/** @file Rows of tests/reliability.md. `npm run reliability` collects them; in other test runs nothing is written. */
import { appendFileSync } from 'node:fs';

export interface FaultRow {
  fault: string;
  /** How the test injects the fault. */
  how: string;
  times: number;
  /** What was lost, as the test has found. */
  lost: string;
  /** The test file that makes the row. */
  test: string;
}

/** Call this after the assertions of the test. */
export function reportFaults(row: FaultRow): void {
  const file = process.env.MUA_FAULTS;
  if (file) appendFileSync(file, `${JSON.stringify(row)}\n`);
}
