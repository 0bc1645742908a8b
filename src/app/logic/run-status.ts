/** @file What state a stored run is really in: its worker may have died without a word. */
import type { RunStatus } from '../../training/types.ts';

const UNDER_WAY: ReadonlySet<RunStatus> = new Set(['starting', 'running', 'paused']);
const RESUMABLE: ReadonlySet<RunStatus> = new Set(['interrupted', 'stopped', 'failed']);

export const isUnderWay = (status: RunStatus) => UNDER_WAY.has(status);

/**
 * The status to show. A run that says it is under way is so only while a tab holds the trainer's lock: this tab, where
 * `activeRun` names it, or another one.
 */
export function shownStatus(row: { id: string; status: RunStatus }, activeRun: string | null, otherTabTrains: boolean): RunStatus {
  if (!isUnderWay(row.status) || row.id === activeRun || otherTabTrains) return row.status;
  return 'interrupted';
}

/** True when Resume has something to do. */
export function canResume(status: RunStatus, step: number, totalSteps: number): boolean {
  return RESUMABLE.has(status) && step < totalSteps;
}
