/** Whether a process of this computer runs. */
import { readFileSync } from 'node:fs';

/** A process that has ended stays in the list (state Z) until its parent asks how it ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
