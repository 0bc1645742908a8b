/** The result of one comparison of a self-test. */

export interface Check {
  name: string;
  /** The largest difference from the expected values. NaN if a result is not a number. */
  error: number;
  /** The check passes if `error` is at most this. */
  most: number;
}

export const passed = ({ error, most }: Check): boolean => error <= most;

/** One line about the first check that failed; null if all passed. */
export function firstFailure(checks: readonly Check[]): string | null {
  const failed = checks.find((check) => !passed(check));
  return failed ? `${failed.name} is off by ${failed.error}: expected at most ${failed.most}` : null;
}
