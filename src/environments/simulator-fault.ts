/** @file The failure of a simulated tool. */

/** The simulator of a tool failed, not the agent. The episode gets no score: it is dropped. */
export class SimulatorFault extends Error {
  override name = 'SimulatorFault';

  /** @param final whether all further episodes would fail too, for example because a budget is spent */
  constructor(
    message: string,
    readonly final = false,
  ) {
    super(message);
  }
}

/** A copy of the error, from another worker, keeps only its name. */
export const isSimulatorFault = (cause: unknown): cause is SimulatorFault => cause instanceof Error && cause.name === 'SimulatorFault';
