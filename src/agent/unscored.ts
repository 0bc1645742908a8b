/** @file Reasons for which an episode ends without a score. */

/**
 * Thrown by a party that should act but cannot act yet. The conversation stops without a score, as if it were aborted between
 * two messages. It can be continued later from its nodes.
 */
export class Rest extends Error {}

/** Thrown after an abort, or after a failure of the simulated user or of the agent's server. */
export class Unscored extends Error {
  constructor(
    readonly termination: 'user_error' | 'agent_error' | 'aborted',
    message: string,
  ) {
    super(message);
  }

  /** The simulated user or the agent's server failed with `cause`. */
  static after(cause: unknown, termination: 'user_error' | 'agent_error'): Unscored {
    return new Unscored(termination, cause instanceof Error ? cause.message : String(cause));
  }
}

/** @throws Unscored if the signal is aborted */
export function checkAbort(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Unscored('aborted', 'aborted');
}
