/** @file Lets the methods of a session that read names of domains wait until this thread knows the visitor's scenarios. */
import type { TrainerSession } from './session.ts';

const NAMING = [
  'start',
  'resume',
  'planRun',
  'planTraining',
  'runExperiment',
  'evaluateAndKeep',
  'evaluate',
  'play',
  'rescore',
  'synthesizeAndKeep',
  'train',
] as const satisfies readonly (keyof TrainerSession)[];

/** @param learn makes the stored scenarios domains of this thread */
export function knowing<Session extends TrainerSession>(session: Session, learn: () => Promise<void>): Session {
  for (const name of NAMING) {
    const method = session[name].bind(session) as (...given: unknown[]) => Promise<unknown>;
    Object.assign(session, {
      [name]: async (...given: unknown[]) => {
        await learn();
        return method(...given);
      },
    });
  }
  return session;
}
