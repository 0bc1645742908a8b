/** @file Finds the real status of a stored run, because its worker may have died without writing a status. */
import type { RunStatus } from '../../records/run.ts';

const UNDER_WAY: ReadonlySet<RunStatus> = new Set(['starting', 'running', 'paused']);
const RESUMABLE: ReadonlySet<RunStatus> = new Set(['interrupted', 'stopped', 'failed']);

export const isUnderWay = (status: RunStatus) => UNDER_WAY.has(status);

/**
 * The status to show. A run with a status like `running` is interrupted unless a tab trains it: this tab (`activeRun`) or
 * another tab (`trainsElsewhere`).
 */
export function shownStatus(row: { id: string; status: RunStatus }, activeRun: string | null, trainsElsewhere: boolean): RunStatus {
  if (!isUnderWay(row.status) || row.id === activeRun || trainsElsewhere) return row.status;
  return 'interrupted';
}

/** True if the run can be resumed, also after its last step: the tab may have died before the end of the run was stored. */
export function canResume(status: RunStatus, step: number, totalSteps: number): boolean {
  return RESUMABLE.has(status) && (step < totalSteps || status === 'interrupted');
}
