/** @file What a server must write to its audit files. While this fails, nothing is lost, and no new episode begins. */
import { ProtocolError } from './protocol.ts';

export class Kept {
  /** What could not be written yet, the oldest first. Open sessions bound their number, because no episode begins. */
  readonly #waiting: (() => void)[] = [];

  /** Writes now, or as soon as the disk allows it. Returns the reason why it cannot be written now, or ''. */
  keep(write: () => void): string {
    this.#waiting.push(write);
    return this.fault();
  }

  /** Tries to write what waits. Returns the reason why this is impossible, or ''. */
  fault(): string {
    try {
      for (; this.#waiting.length > 0; this.#waiting.shift()) this.#waiting[0]!();
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Writes the beginning of an episode. @throws ProtocolError if this or something before it cannot be written */
  check(write: () => void): void {
    let reason = this.fault();
    if (!reason)
      try {
        write();
      } catch (error) {
        reason = (error as Error).message;
      }
    if (reason) throw new ProtocolError('EXECUTION_ERROR', `no episode begins, as the audit log cannot be written: ${reason}`);
  }
}
