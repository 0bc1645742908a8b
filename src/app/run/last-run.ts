/** @file What "since the last run" is since. */
import type { RunDatabase, RunRow } from '../../storage/database.ts';

/** The newest run that was made in this browser, of those begun before a time where one is given. */
export function lastRun(db: RunDatabase, before = Infinity): Promise<RunRow | undefined> {
  return db.runs.where('createdAt').below(before).filter(({ imported }) => imported === undefined).last();
}
